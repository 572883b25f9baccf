"""Memories by their source, and rollbacks."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Text, and_, cast, insert, or_, select, update

from recollect.db.engines.expressions import InTextList
from recollect.db.statements import Query, Row, literal_word, param
from recollect.db.tables.conversations import entries
from recollect.db.tables.memories import memories, memory_sources, rollbacks
from recollect.db.transaction import Tx
from recollect.kernel import strict_json
from recollect.kernel.ids import MemoryId
from recollect.kernel.owner import Owner, OwnerKind
from recollect.kernel.space import SpaceKind
from recollect.retention.store_bundle import RetentionStores
from recollect.rollback.model import Rollback, RollbackSource, SourceKind

_m, _s, _b = memories.c, memory_sources.c, rollbacks.c


class RollbackStore:
    """Memories by their source, and rollbacks."""

    def list_from_source(
        self, tx: Tx, source: RollbackSource, *, after: MemoryId | None, limit: int
    ) -> list[MemoryId]:
        """Ids of memories that came directly from the source, in any space, ordered by id."""
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
        """Ids of memories that name one of these as a source."""
        ids = {"ids": strict_json.dump(sorted(memory_ids))}
        return [MemoryId(row[0]) for row in tx.fetch(_DERIVED, ids)]

    def put_rollback(self, tx: Tx, rollback: Rollback) -> None:
        """Insert it, or update `changes` and `undone_at`."""
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
        """With `lock` the row is locked until the transaction ends."""
        if lock:
            tx.lock(_LOCK_ROLLBACK, {"id": rollback_id})
        row = tx.fetch_first(_FETCH_ROLLBACK, {"id": rollback_id})
        return _rollback_from_row(row) if row else None


def _rollback_from_row(row: Row) -> Rollback:
    return Rollback(
        id=row[0],
        at=row[1],
        by=Owner(OwnerKind(row[2]), row[3]),
        source=strict_json.load(row[4]),
        changes=strict_json.load(row[5]),
        undone_at=row[6],
    )


def _from_entries_clause(*conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    came = select(_s.memory_id).where(_s.kind == literal_word("entry"), *conditions)
    return _m.id.in_(came)


def _conversation_clause() -> ColumnElement[bool]:
    entry_ids = select(cast(entries.c.id, Text)).where(
        entries.c.conversation_id == param("source_id", entries.c.conversation_id)
    )
    return _from_entries_clause(_s.source_id.in_(entry_ids))


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


_IDS = param("ids")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackStores(RetentionStores):
    """The stores of this package and of those below."""

    rollbacks: RollbackStore
