"""SQL for texts that the pass over memories does not read: snapshots of earlier versions, and texts
of agents, people, chats and runs."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Column, ColumnElement, Table, select, update

from recollect.db.engines.expressions import InTextList
from recollect.db.statements import Query, param
from recollect.db.tables.memories import memory_versions
from recollect.db.tables.people import (
    agents,
    named_chats,
    people,
    person_aliases,
    person_relationships,
    person_versions,
    runs,
)
from recollect.db.transaction import Tx
from recollect.doctor.rows import StoredTexts, TextSource, VersionSnapshot
from recollect.kernel import strict_json
from recollect.memories.store.rows import MemoryRows

_v = memory_versions.c


def version_snapshots(
    tx: Tx, rows: MemoryRows, memory_ids: Sequence[str]
) -> dict[str, list[VersionSnapshot]]:
    """Decrypted snapshots by memory id, without unreadable ones. The present version has none: its
    row is the state."""
    found: defaultdict[str, list[VersionSnapshot]] = defaultdict(list)
    for id_, memory_id, sealed in tx.fetch(_SNAPSHOTS, {"ids": strict_json.dump(list(memory_ids))}):
        fields = rows.open_snapshot(sealed, id_).fields
        if fields is not None:
            found[memory_id].append(VersionSnapshot(id_, fields))
    return dict(found)


def rewrite_snapshot(tx: Tx, rows: MemoryRows, kept: VersionSnapshot) -> None:
    """Encrypt and overwrite a snapshot."""
    tx.run(
        _REWRITE_SNAPSHOT, {"id": kept.id, "snapshot": rows.seal_snapshot(kept.members, kept.id)}
    )


def texts_page(tx: Tx, source: TextSource, *, after: str, limit: int) -> list[StoredTexts]:
    """A page of texts from one source."""
    columns = _COLUMNS[source]
    rows = tx.fetch(_page_query(source), {"after": after, "limit": limit})
    return [StoredTexts(row[0], row[1], columns.values(row[2:])) for row in rows]


@dataclass(frozen=True, slots=True)
class _TextColumns:
    """The text columns of a table. `belongs_to` is the id to report."""

    table: Table
    belongs_to: Column[Any]
    texts: tuple[Column[Any], ...]
    json: Column[Any] | None = None
    where: ColumnElement[bool] | None = None

    @property
    def selected_columns(self) -> tuple[Column[Any], ...]:
        """The text columns, then the JSON column."""
        return self.texts if self.json is None else (*self.texts, self.json)

    def values(self, row: Sequence[Any]) -> tuple[Any, ...]:
        """The values that are not NULL, with the JSON parsed."""
        if self.json is not None:
            row = [*row[:-1], strict_json.load(row[-1] or "{}")]
        return tuple(value for value in row if value is not None)


@cache
def _page_query(source: TextSource) -> Query:
    columns = _COLUMNS[source]
    place = columns.table.c.id
    query = select(place, columns.belongs_to, *columns.selected_columns).where(
        place > param("after", place)
    )
    if columns.where is not None:
        query = query.where(columns.where)
    return Query(query.order_by(place).limit(param("limit")))


_g, _p, _a, _w, _c, _u = (
    table.c for table in (agents, people, person_aliases, person_relationships, named_chats, runs)
)
_n = person_versions.c
_COLUMNS: Mapping[TextSource, _TextColumns] = {
    TextSource.AGENTS: _TextColumns(agents, _g.id, (_g.name, _g.description), _g.metadata),
    # People who are being erased are left to the erasure job.
    TextSource.PEOPLE: _TextColumns(
        people, _p.id, (_p.name,), _p.metadata, _p.erasure_id.is_(None)
    ),
    TextSource.PERSON_VERSIONS: _TextColumns(
        person_versions, _n.person_id, (_n.name,), _n.metadata
    ),
    TextSource.ALIASES: _TextColumns(person_aliases, _a.person_id, (_a.value, _a.provider)),
    TextSource.RELATIONSHIPS: _TextColumns(person_relationships, _w.person_id, (_w.relationship,)),
    TextSource.CHATS: _TextColumns(named_chats, _c.id, (_c.title, _c.provider)),
    TextSource.RUNS: _TextColumns(runs, _u.id, (_u.error,), _u.metadata),
}
_SNAPSHOTS = Query(
    select(_v.id, _v.memory_id, _v.snapshot)
    .where(InTextList(_v.memory_id, param("ids")), _v.snapshot.is_not(None))
    .order_by(_v.memory_id, _v.version)
)
_REWRITE_SNAPSHOT = Query(
    update(memory_versions)
    .where(_v.id == param("id", _v.id), _v.snapshot.is_not(None))
    .values(snapshot=param("snapshot", _v.snapshot))
)
