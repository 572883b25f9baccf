"""Quarantined memories, memories by their source, and rollbacks."""

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Text, and_, cast, insert, or_, select, tuple_, update

from recollect.domain import jsontext
from recollect.domain.agents import Owner, OwnerKind
from recollect.domain.memories import MemoryId
from recollect.domain.spaces import SpaceKind
from recollect.policy.sight import Sight
from recollect.ports.database import Tx
from recollect.ports.keeping import Rollback, RollbackSource, SourceKind
from recollect.ports.memories import MemoryFilter, Stored
from recollect.ports.runtime import Cipher
from recollect.stores import memory_parts
from recollect.stores.engines.expressions import AmongTexts
from recollect.stores.memory_filters import FilterShape, filter_clause, filter_params
from recollect.stores.memory_rows import MEMORY, NOTHING, MemoryRows
from recollect.stores.memory_tables import memories, memory_sources, rollbacks
from recollect.stores.sights import SightShape, sight_params, told_clause
from recollect.stores.space_rights import all_write
from recollect.stores.statements import Row, Statement, param, word
from recollect.stores.tables import entries

_m, _s, _b = memories.c, memory_sources.c, rollbacks.c


def kept_clause(shape: SightShape) -> ColumnElement[bool]:
    """May every caller write the row's space? A system viewer may write all."""
    if shape.system:
        return _m.erasure_id.is_(None)
    return and_(_m.erasure_id.is_(None), all_write(shape.callers))


class SqlKeeping:
    """The port's ModerationStore on both engines."""

    def __init__(self, cipher: Cipher) -> None:
        self._rows = MemoryRows(cipher)

    def quarantined(
        self,
        tx: Tx,
        sight: Sight,
        chosen: MemoryFilter,
        *,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[Stored]:
        params = {**sight_params(sight), **filter_params(chosen, sight.now), "limit": limit}
        if after is not None:
            params |= {"at": after[0], "id": after[1]}
        shapes = SightShape.of(sight), FilterShape.of(chosen)
        return self._stored(tx, tx.fetch(_page(*shapes, cursor=after is not None), params))

    def from_source(
        self, tx: Tx, source: RollbackSource, *, after: MemoryId | None, limit: int
    ) -> list[MemoryId]:
        statement = _from_source(
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

    def derived_from(self, tx: Tx, memory_ids: Collection[MemoryId]) -> list[MemoryId]:
        return [MemoryId(row[0]) for row in tx.fetch(_DERIVED, _listed(memory_ids))]

    def fetch_many(
        self, tx: Tx, memory_ids: Sequence[MemoryId], *, lock: bool = False
    ) -> list[Stored]:
        if lock:
            tx.lock(_LOCK, _listed(memory_ids))
        return self._stored(tx, tx.fetch(_FETCH, _listed(memory_ids)))

    def put_rollback(self, tx: Tx, rollback: Rollback) -> None:
        params = {
            "id": rollback.id,
            "at": rollback.at,
            "by_kind": rollback.by.kind,
            "by_id": rollback.by.id,
            "source": jsontext.dump(rollback.source),
            "changes": jsontext.dump(rollback.changes),
            "undone_at": rollback.undone_at,
        }
        # The first batch of a rollback inserts, all later ones update.
        if not tx.change(_UPDATE_ROLLBACK, params):
            tx.run(_INSERT_ROLLBACK, params)

    def fetch_rollback(self, tx: Tx, rollback_id: str, *, lock: bool = False) -> Rollback | None:
        if lock:
            tx.lock(_LOCK_ROLLBACK, {"id": rollback_id})
        row = tx.first(_FETCH_ROLLBACK, {"id": rollback_id})
        return _rollback(row) if row else None

    def _stored(self, tx: Tx, rows: Sequence[Row]) -> list[Stored]:
        hanging = memory_parts.hanging_on(tx, [row[_ID_AT] for row in rows])
        return [self._rows.from_row(row, hanging.get(row[_ID_AT], NOTHING)) for row in rows]


def _listed(ids: Collection[str]) -> dict[str, Any]:
    return {"ids": jsontext.dump(sorted(ids))}


def _rollback(row: Row) -> Rollback:
    return Rollback(
        id=row[0],
        at=row[1],
        by=Owner(OwnerKind(row[2]), row[3]),
        source=jsontext.load(row[4]),
        changes=jsontext.load(row[5]),
        undone_at=row[6],
    )


@cache
def _page(seen: SightShape, chosen: FilterShape, *, cursor: bool) -> Statement:
    query = select(*MEMORY).where(kept_clause(seen), told_clause(seen), filter_clause(chosen))
    if cursor:
        here = tuple_(param("at", _m.created_at), param("id", _m.id))
        query = query.where(tuple_(_m.created_at, _m.id) < here)
    query = query.order_by(_m.created_at.desc(), _m.id.desc())
    return Statement(query.limit(param("limit")))


def _of_entries(*conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    came = select(_s.memory_id).where(_s.kind == word("entry"), *conditions)
    return _m.id.in_(came)


def _said_in_conversation() -> ColumnElement[bool]:
    said = select(cast(entries.c.id, Text)).where(
        entries.c.conversation_id == param("source_id", entries.c.conversation_id)
    )
    return _of_entries(_s.source_id.in_(said))


def _is(column: ColumnElement[Any]) -> ColumnElement[bool]:
    return column == param("source_id", _m.id)


# A memory belongs to a chat if it was learned there or lies in the chat's space, and to an agent by
# its space (`agent_id`) or by its author (`source_agent`).
_SOURCES: dict[SourceKind, ColumnElement[bool]] = {
    SourceKind.ENTRY: _of_entries(_is(_s.source_id)),
    SourceKind.CONVERSATION: _said_in_conversation(),
    SourceKind.CHAT: or_(
        _is(_m.learned_in), and_(_m.space_kind == word(SpaceKind.CHAT), _is(_m.space_id))
    ),
    SourceKind.AGENT: or_(_is(_m.agent_id), _is(_m.source_agent)),
    SourceKind.STATER: _is(_m.stated_by),
    SourceKind.RUN: _is(_m.run_id),
    SourceKind.IMPORT: _is(_m.import_id),
    SourceKind.MEMORY: _is(_m.id),
}


@cache
def _from_source(kind: SourceKind, *, since: bool, until: bool) -> Statement:
    query = select(_m.id).where(_SOURCES[kind], _m.id > param("after", _m.id))
    if since:
        query = query.where(_m.created_at >= param("since", _m.created_at))
    if until:
        query = query.where(_m.created_at < param("until", _m.created_at))
    return Statement(query.order_by(_m.id).limit(param("limit")))


_ID_AT = MEMORY.index(_m.id)
_IDS = param("ids")
# A memory that is being erased belongs to that job alone.
_STAYING = (AmongTexts(_m.id, _IDS), _m.erasure_id.is_(None))
_FETCH = Statement(select(*MEMORY).where(*_STAYING).order_by(_m.id))
_LOCK = Statement(select(_m.id).where(*_STAYING).order_by(_m.id).with_for_update())
_DERIVED = Statement(
    select(_s.memory_id)
    .where(_s.kind == word("memory"), AmongTexts(_s.source_id, _IDS))
    .order_by(_s.memory_id)
    .distinct()
)
_ROLLBACK = tuple(rollbacks.columns)
_ROLLBACK_ID = _b.id == param("id", _b.id)
_INSERT_ROLLBACK = Statement(
    insert(rollbacks).values({c.name: param(c.name, c) for c in _ROLLBACK})
)
_UPDATE_ROLLBACK = Statement(
    update(rollbacks)
    .where(_ROLLBACK_ID)
    .values({c.name: param(c.name, c) for c in (_b.changes, _b.undone_at)})
)
_FETCH_ROLLBACK = Statement(select(*_ROLLBACK).where(_ROLLBACK_ID))
_LOCK_ROLLBACK = Statement(select(_b.id).where(_ROLLBACK_ID).with_for_update())
