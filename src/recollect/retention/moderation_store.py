"""Quarantined memories, memories by their source, and rollbacks."""

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Text, and_, cast, insert, or_, select, tuple_, update

from recollect.db.engines.expressions import InTextList
from recollect.db.statements import Query, Row, literal_word, param
from recollect.db.tables.conversations import entries
from recollect.db.tables.memories import memories, memory_sources, rollbacks
from recollect.db.transaction import Tx
from recollect.kernel import strict_json
from recollect.kernel.ids import MemoryId
from recollect.kernel.owner import Owner, OwnerKind
from recollect.kernel.runtime import Cipher
from recollect.kernel.space import SpaceKind
from recollect.memories.model import MemoryFilter, StoredMemory
from recollect.memories.store import relations
from recollect.memories.store.filters_sql import (
    FilterShape,
    filter_clause,
    filter_params,
)
from recollect.memories.store.rows import (
    MEMORY_COLUMNS,
    NO_RELATED_ROWS,
    MemoryRows,
)
from recollect.retention.moderation_ports import (
    Rollback,
    RollbackSource,
    SourceKind,
)
from recollect.visibility.spaces_sql import all_can_write
from recollect.visibility.sql import ViewerShape, disclosed_clause, viewer_params
from recollect.visibility.viewer import Viewer

_m, _s, _b = memories.c, memory_sources.c, rollbacks.c


def writable_clause(shape: ViewerShape) -> ColumnElement[bool]:
    """May every caller write the row's space? A system viewer may write all."""
    if shape.system:
        return _m.erasure_id.is_(None)
    return and_(_m.erasure_id.is_(None), all_can_write(shape.callers))


class SqlModeration:
    """The port's ModerationStore on both engines."""

    def __init__(self, cipher: Cipher) -> None:
        self._rows = MemoryRows(cipher)

    def list_quarantined(
        self,
        tx: Tx,
        sight: Viewer,
        chosen: MemoryFilter,
        *,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[StoredMemory]:
        params = {**viewer_params(sight), **filter_params(chosen, sight.now), "limit": limit}
        if after is not None:
            params |= {"at": after[0], "id": after[1]}
        shapes = ViewerShape.from_viewer(sight), FilterShape.from_filter(chosen)
        return self._to_stored(
            tx, tx.fetch(_quarantine_query(*shapes, cursor=after is not None), params)
        )

    def list_from_source(
        self, tx: Tx, source: RollbackSource, *, after: MemoryId | None, limit: int
    ) -> list[MemoryId]:
        statement = _source_query(
            source.kind, since=source.since is not None, until=source.until is not None
        )
        params = {
            "source_id": source.id,
            "since": source.since,
            "until": source.until,
            "after": after or "",
            "limit": limit,
        }
        return [MemoryId(row[0]) for row in tx.fetch(statement, params)]

    def list_derived(self, tx: Tx, memory_ids: Collection[MemoryId]) -> list[MemoryId]:
        return [MemoryId(row[0]) for row in tx.fetch(_DERIVED, _ids_param(memory_ids))]

    def fetch_many(
        self, tx: Tx, memory_ids: Sequence[MemoryId], *, lock: bool = False
    ) -> list[StoredMemory]:
        if lock:
            tx.lock(_LOCK, _ids_param(memory_ids))
        return self._to_stored(tx, tx.fetch(_FETCH, _ids_param(memory_ids)))

    def put_rollback(self, tx: Tx, rollback: Rollback) -> None:
        params = {
            "id": rollback.id,
            "at": rollback.at,
            "by_kind": rollback.by.kind,
            "by_id": rollback.by.id,
            "source": strict_json.dump(rollback.source),
            "changes": strict_json.dump(rollback.changes),
            "undone_at": rollback.undone_at,
        }
        # The first batch of a rollback inserts, all later ones update.
        if not tx.run_and_count(_UPDATE_ROLLBACK, params):
            tx.run(_INSERT_ROLLBACK, params)

    def fetch_rollback(self, tx: Tx, rollback_id: str, *, lock: bool = False) -> Rollback | None:
        if lock:
            tx.lock(_LOCK_ROLLBACK, {"id": rollback_id})
        row = tx.fetch_first(_FETCH_ROLLBACK, {"id": rollback_id})
        return _rollback_from_row(row) if row else None

    def _to_stored(self, tx: Tx, rows: Sequence[Row]) -> list[StoredMemory]:
        hanging = relations.fetch_related(tx, [row[_ID_AT] for row in rows])
        return [self._rows.from_row(row, hanging.get(row[_ID_AT], NO_RELATED_ROWS)) for row in rows]


def _ids_param(ids: Collection[str]) -> dict[str, Any]:
    return {"ids": strict_json.dump(sorted(ids))}


def _rollback_from_row(row: Row) -> Rollback:
    return Rollback(
        id=row[0],
        at=row[1],
        by=Owner(OwnerKind(row[2]), row[3]),
        source=strict_json.load(row[4]),
        changes=strict_json.load(row[5]),
        undone_at=row[6],
    )


@cache
def _quarantine_query(seen: ViewerShape, chosen: FilterShape, *, cursor: bool) -> Query:
    query = select(*MEMORY_COLUMNS).where(
        writable_clause(seen), disclosed_clause(seen), filter_clause(chosen)
    )
    if cursor:
        here = tuple_(param("at", _m.created_at), param("id", _m.id))
        query = query.where(tuple_(_m.created_at, _m.id) < here)
    query = query.order_by(_m.created_at.desc(), _m.id.desc())
    return Query(query.limit(param("limit")))


def _from_entries_clause(*conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    came = select(_s.memory_id).where(_s.kind == literal_word("entry"), *conditions)
    return _m.id.in_(came)


def _conversation_clause() -> ColumnElement[bool]:
    said = select(cast(entries.c.id, Text)).where(
        entries.c.conversation_id == param("source_id", entries.c.conversation_id)
    )
    return _from_entries_clause(_s.source_id.in_(said))


def _equals_source(column: ColumnElement[Any]) -> ColumnElement[bool]:
    return column == param("source_id", _m.id)


# A memory belongs to a chat if it was learned there or lies in the chat's space, and to an agent by
# its space (`agent_id`) or by its author (`source_agent`).
_SOURCE_CLAUSES: dict[SourceKind, ColumnElement[bool]] = {
    SourceKind.ENTRY: _from_entries_clause(_equals_source(_s.source_id)),
    SourceKind.CONVERSATION: _conversation_clause(),
    SourceKind.CHAT: or_(
        _equals_source(_m.learned_in),
        and_(_m.space_kind == literal_word(SpaceKind.CHAT), _equals_source(_m.space_id)),
    ),
    SourceKind.AGENT: or_(_equals_source(_m.agent_id), _equals_source(_m.source_agent)),
    SourceKind.STATER: _equals_source(_m.stated_by),
    SourceKind.RUN: _equals_source(_m.run_id),
    SourceKind.IMPORT: _equals_source(_m.import_id),
    SourceKind.MEMORY: _equals_source(_m.id),
}


@cache
def _source_query(kind: SourceKind, *, since: bool, until: bool) -> Query:
    query = select(_m.id).where(_SOURCE_CLAUSES[kind], _m.id > param("after", _m.id))
    if since:
        query = query.where(_m.created_at >= param("since", _m.created_at))
    if until:
        query = query.where(_m.created_at < param("until", _m.created_at))
    return Query(query.order_by(_m.id).limit(param("limit")))


_ID_AT = MEMORY_COLUMNS.index(_m.id)
_IDS = param("ids")
# A memory that is being erased belongs to that job alone.
_NOT_ERASED = (InTextList(_m.id, _IDS), _m.erasure_id.is_(None))
_FETCH = Query(select(*MEMORY_COLUMNS).where(*_NOT_ERASED).order_by(_m.id))
_LOCK = Query(select(_m.id).where(*_NOT_ERASED).order_by(_m.id).with_for_update())
_DERIVED = Query(
    select(_s.memory_id)
    .where(_s.kind == literal_word("memory"), InTextList(_s.source_id, _IDS))
    .order_by(_s.memory_id)
    .distinct()
)
_ROLLBACK = tuple(rollbacks.columns)
_ROLLBACK_ID = _b.id == param("id", _b.id)
_INSERT_ROLLBACK = Query(insert(rollbacks).values({c.name: param(c.name, c) for c in _ROLLBACK}))
_UPDATE_ROLLBACK = Query(
    update(rollbacks)
    .where(_ROLLBACK_ID)
    .values({c.name: param(c.name, c) for c in (_b.changes, _b.undone_at)})
)
_FETCH_ROLLBACK = Query(select(*_ROLLBACK).where(_ROLLBACK_ID))
_LOCK_ROLLBACK = Query(select(_b.id).where(_ROLLBACK_ID).with_for_update())
