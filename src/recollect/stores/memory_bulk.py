"""SQL store of retention and eviction. It never reads the text of a memory."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    and_,
    case,
    delete,
    func,
    literal_column,
    or_,
    select,
    tuple_,
    update,
)

from recollect.domain import jsontext
from recollect.domain.housekeeping import (
    EPHEMERAL_TYPES,
    EVICTABLE_AFTER,
    LAST_TYPES,
    PUT_AWAY,
    Brief,
)
from recollect.domain.memories import Kind, MemoryId, MemoryType, Status, Trust
from recollect.domain.retention import MemoryScope
from recollect.domain.spaces import RunId, Space, SpaceKind
from recollect.ports.database import Tx
from recollect.ports.housekeeping import Crowd, Place
from recollect.stores import memory_removal
from recollect.stores.engines.expressions import AmongNumbers, AmongTexts
from recollect.stores.memory_tables import (
    memories,
    memory_embeddings,
    memory_index,
    memory_versions,
)
from recollect.stores.statements import Row, Statement, param, word

_m = memories.c


class SqlMemoryBulk:
    """MemoryBulkStore on both engines."""

    def in_runs(self, tx: Tx, run_ids: Sequence[RunId]) -> list[Brief]:
        params = {"ids": jsontext.dump(list(run_ids))}
        tx.lock(_LOCK_IN_RUNS, params)
        return _briefs(tx.fetch(_IN_RUNS, params))

    def due(
        self,
        tx: Tx,
        *,
        now: datetime,
        scope: MemoryScope | None,
        after: Place | None,
        limit: int,
    ) -> list[Brief]:
        params = {"until": now, "limit": limit} | _place(after)
        return _briefs(tx.fetch(_due(scope, cursor=after is not None), params))

    def old_records(
        self,
        tx: Tx,
        *,
        cutoff: datetime,
        scope: MemoryScope | None,
        after: Place | None,
        limit: int,
    ) -> list[Brief]:
        params = {"until": cutoff, "limit": limit} | _place(after)
        return _briefs(tx.fetch(_old_records(scope, cursor=after is not None), params))

    def put_away(self, tx: Tx, *, cutoff: datetime, after: Place | None, limit: int) -> list[Brief]:
        params = {"until": cutoff, "limit": limit} | _place(after)
        return _briefs(tx.fetch(_put_away(cursor=after is not None), params))

    def crowded(self, tx: Tx, *, most: int, now: datetime) -> list[Crowd]:
        rows = tx.fetch(_CROWDED, {"most": most, "now": now})
        return [Crowd(Space(SpaceKind(kind), id_), count) for kind, id_, count in rows]

    def evictable(self, tx: Tx, space: Space, *, now: datetime, limit: int) -> list[Brief]:
        params = {
            "space_kind": space.kind,
            "space_id": space.id,
            "now": now,
            "until": now - EVICTABLE_AFTER,
            "limit": limit,
        }
        return _briefs(tx.fetch(_EVICTABLE, params))

    def mark_used(
        self, tx: Tx, memory_ids: Sequence[MemoryId], *, at: datetime, unless_after: datetime
    ) -> None:
        ids = jsontext.dump(list(memory_ids))
        tx.run(_MARK_USED, {"ids": ids, "at": at, "unless_after": unless_after})

    def fetch(self, tx: Tx, docs: Sequence[int]) -> list[Brief]:
        return _briefs(tx.fetch(_FETCH, {"docs": jsontext.dump(list(docs))}))

    def hold(self, tx: Tx, docs: Sequence[int]) -> list[Brief]:
        # The caller chose these rows without locks. It decides again by what is returned here.
        tx.lock(_LOCK, {"docs": jsontext.dump(list(docs))})
        return self.fetch(tx, docs)

    def remove(self, tx: Tx, memory_ids: Sequence[MemoryId], *, at: datetime) -> int:
        return memory_removal.remove(tx, memory_ids, at=at) if memory_ids else 0

    def forget_texts(self, tx: Tx, memory_ids: Sequence[MemoryId], *, at: datetime) -> None:
        params = {"ids": jsontext.dump(list(memory_ids)), "at": at}
        for statement in _FORGET:
            tx.run(statement, params)


def _briefs(rows: Sequence[Row]) -> list[Brief]:
    return [_brief(dict(zip(_NAMES, row, strict=True))) for row in rows]


def _brief(row: dict[str, Any]) -> Brief:
    return Brief(
        doc=row["doc"],
        id=MemoryId(row["id"]),
        version=row["version"],
        space=Space(SpaceKind(row["space_kind"]), row["space_id"]),
        kind=Kind(row["kind"]),
        type=MemoryType(row["type"]),
        trust=Trust(row["trust"]),
        status=Status(row["status"]),
        status_at=row["status_at"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        used_at=row["used_at"],
        expires_at=row["expires_at"],
        expiry_rule=row["expiry_rule"],
        retention_policy=row["retention_policy"],
        pii_tags=tuple(jsontext.load(row["pii_tags"])),
        compacted_at=row["compacted_at"],
    )


def _place(after: Place | None) -> dict[str, Any]:
    return {} if after is None else {"at": after[0], "id": after[1]}


def _page(order: Column[Any], *conditions: ColumnElement[bool], cursor: bool) -> Statement:
    query = select(*_BRIEF).where(order <= param("until", order), _STAYING, *conditions)
    if cursor:
        here = tuple_(param("at", order), param("id", _m.id))
        query = query.where(tuple_(order, _m.id) > here)
    return Statement(query.order_by(order, _m.id).limit(param("limit")))


def _in_scope(scope: MemoryScope | None) -> tuple[ColumnElement[bool], ...]:
    """Session rows lie in spaces of runs, org rows in those of orgs, long-term rows elsewhere."""
    match scope:
        case None:
            return ()
        case MemoryScope.SESSION:
            return (_m.space_kind == word(SpaceKind.RUN),)
        case MemoryScope.ORG:
            return (_m.space_kind == word(SpaceKind.ORG),)
        case MemoryScope.LONG_TERM:
            return (_m.space_kind.not_in([word(SpaceKind.RUN), word(SpaceKind.ORG)]),)


@cache
def _due(scope: MemoryScope | None, *, cursor: bool) -> Statement:
    return _page(_m.expires_at, *_in_scope(scope), cursor=cursor)


@cache
def _old_records(scope: MemoryScope | None, *, cursor: bool) -> Statement:
    record = _m.kind == word(Kind.RECORD)
    return _page(_m.created_at, record, *_in_scope(scope), cursor=cursor)


@cache
def _put_away(*, cursor: bool) -> Statement:
    away = _m.status.in_([word(status) for status in sorted(PUT_AWAY)])
    # Implied by the next condition, but needed for the planner to use the partial index of rows
    # that are not active.
    inactive = _m.status != word(Status.ACTIVE)
    return _page(_m.status_at, inactive, away, _m.compacted_at.is_(None), cursor=cursor)


def _evictable() -> Statement:
    """Sorted as `eviction_order` of the retention rules sorts."""
    order = (
        _among(_m.type, LAST_TYPES),
        -_among(_m.type, EPHEMERAL_TYPES),
        case(*((_m.trust == word(trust), _number(at)) for at, trust in enumerate(Trust))),
        case((_m.used_at > _m.updated_at, _m.used_at), else_=_m.updated_at),
        _m.created_at,
        _m.id,
    )
    query = select(*_BRIEF).where(
        _m.space_kind == param("space_kind", _m.space_kind),
        _m.space_id == param("space_id", _m.space_id),
        _ACTIVE,
        _m.created_at <= param("until", _m.created_at),
        _m.retention_policy.is_(None),
    )
    return Statement(query.order_by(*order).limit(param("limit")))


def _among(column: Column[Any], words: frozenset[MemoryType]) -> ColumnElement[int]:
    """1 or 0: PostgreSQL can't sort by the negative of a boolean."""
    return case((column.in_([word(one) for one in sorted(words)]), _number(1)), else_=_number(0))


def _number(value: int) -> ColumnElement[int]:
    return literal_column(str(value))


_BRIEF = (
    _m.doc,
    _m.id,
    _m.version,
    _m.space_kind,
    _m.space_id,
    _m.kind,
    _m.type,
    _m.trust,
    _m.status,
    _m.status_at,
    _m.created_at,
    _m.updated_at,
    _m.used_at,
    _m.expires_at,
    _m.expiry_rule,
    _m.retention_policy,
    _m.pii_tags,
    _m.compacted_at,
)
_NAMES = tuple(column.name for column in _BRIEF)
# Rows that an erasure job has claimed are left to that job.
_STAYING = _m.erasure_id.is_(None)
_ACTIVE = and_(
    _STAYING,
    _m.status == word(Status.ACTIVE),
    or_(_m.expires_at.is_(None), _m.expires_at > param("now", _m.expires_at)),
)
_OF_RUNS = (_m.space_kind == word(SpaceKind.RUN), AmongTexts(_m.space_id, param("ids")))
_LOCK_IN_RUNS = Statement(select(_m.id).where(*_OF_RUNS).order_by(_m.id).with_for_update())
_IN_RUNS = Statement(select(*_BRIEF).where(*_OF_RUNS).order_by(_m.id))
_CROWDED = Statement(
    select(_m.space_kind, _m.space_id, func.count())
    .where(_ACTIVE)
    .group_by(_m.space_kind, _m.space_id)
    .having(func.count() > param("most"))
    .order_by(_m.space_kind, _m.space_id)
)
_EVICTABLE = _evictable()
_OF_DOCS = and_(_STAYING, AmongNumbers(_m.doc, param("docs")))
_LOCK = Statement(select(_m.id).where(_OF_DOCS).order_by(_m.doc).with_for_update())
_FETCH = Statement(select(*_BRIEF).where(_OF_DOCS).order_by(_m.doc))
_IDS = param("ids")
_UNUSED = or_(_m.used_at.is_(None), _m.used_at <= param("unless_after", _m.used_at))
# `skip_locked` in a subquery: an UPDATE itself can't skip rows that others have locked.
_MARK_USED = Statement(
    update(memories)
    .where(
        _m.id.in_(
            select(_m.id).where(AmongTexts(_m.id, _IDS), _UNUSED).with_for_update(skip_locked=True)
        )
    )
    .values(used_at=param("at", _m.used_at))
)
_FORGET = (
    Statement(
        update(memories)
        .where(AmongTexts(_m.id, _IDS))
        .values(compacted_at=param("at", _m.compacted_at))
    ),
    Statement(
        update(memory_versions)
        .where(AmongTexts(memory_versions.c.memory_id, _IDS))
        .values(snapshot=literal_column("NULL"))
    ),
    *(
        Statement(delete(table).where(AmongTexts(table.c.memory_id, _IDS)))
        for table in (memory_index, memory_embeddings)
    ),
)
