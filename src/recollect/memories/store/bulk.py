"""SQL store of retention and eviction. It never reads the text of a memory."""

from collections.abc import Sequence
from dataclasses import dataclass
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

from recollect.db.engines.expressions import InNumberList, InTextList
from recollect.db.statements import Query, Row, literal_word, param
from recollect.db.tables.memories import (
    memories,
    memory_embeddings,
    memory_index,
    memory_versions,
)
from recollect.db.transaction import Tx
from recollect.kernel import strict_json
from recollect.kernel.ids import EntryId, MemoryId, RunId
from recollect.kernel.retention_rules import MemoryScope
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.cleanup_rules import (
    COMPACTABLE_STATUSES,
    EPHEMERAL_TYPES,
    EVICTED_LAST_TYPES,
    EVICTION_MIN_AGE,
)
from recollect.memories.model import (
    CleanupRow,
    MemoryKind,
    MemoryStatus,
    MemoryType,
    TrustLevel,
)
from recollect.memories.store import removal

_m = memories.c


TimeCursor = tuple[datetime, str]


@dataclass(frozen=True, slots=True)
class OverQuotaSpace:
    """A space with more active rows than its quota, and their number."""

    space: Space
    count: int


class MemoryBulkStore:
    """Pages are sorted by the named time column, then by id, and continue after a cursor. The
    caller applies the retention rules; these queries only narrow the candidates."""

    def lock_in_runs(self, tx: Tx, run_ids: Sequence[RunId]) -> list[CleanupRow]:
        """All rows in the spaces of these runs, locked until the transaction ends."""
        params = {"ids": strict_json.dump(list(run_ids))}
        tx.lock(_LOCK_IN_RUNS, params)
        return _parse_rows(tx.fetch(_IN_RUNS, params))

    def page_expired(
        self,
        tx: Tx,
        *,
        now: datetime,
        scope: MemoryScope | None,
        after: TimeCursor | None,
        limit: int,
    ) -> list[CleanupRow]:
        """Rows past their expiry, by `expires_at`."""
        params = {"until": now, "limit": limit} | _cursor_params(after)
        return _parse_rows(tx.fetch(_expired_query(scope, cursor=after is not None), params))

    def page_old_records(
        self,
        tx: Tx,
        *,
        cutoff: datetime,
        scope: MemoryScope | None,
        after: TimeCursor | None,
        limit: int,
    ) -> list[CleanupRow]:
        """Records created at the cutoff or before, by `created_at`."""
        params = {"until": cutoff, "limit": limit} | _cursor_params(after)
        return _parse_rows(tx.fetch(_old_records_query(scope, cursor=after is not None), params))

    def page_inactive(
        self, tx: Tx, *, cutoff: datetime, after: TimeCursor | None, limit: int
    ) -> list[CleanupRow]:
        """Rows superseded or archived at the cutoff or before and not compacted yet, by
        `status_at`."""
        params = {"until": cutoff, "limit": limit} | _cursor_params(after)
        return _parse_rows(tx.fetch(_inactive_query(cursor=after is not None), params))

    def spaces_over_quota(self, tx: Tx, *, most: int, now: datetime) -> list[OverQuotaSpace]:
        """Spaces with more than `most` active rows. Expired rows don't count."""
        rows = tx.fetch(_OVER_QUOTA, {"most": most, "now": now})
        return [OverQuotaSpace(Space(SpaceKind(kind), id_), count) for kind, id_, count in rows]

    def eviction_candidates(
        self, tx: Tx, space: Space, *, now: datetime, limit: int
    ) -> list[CleanupRow]:
        """The rows of a space to evict first, in this order."""
        params = {
            "space_kind": space.kind,
            "space_id": space.id,
            "now": now,
            "until": now - EVICTION_MIN_AGE,
            "limit": limit,
        }
        return _parse_rows(tx.fetch(_EVICTABLE, params))

    def mark_used(
        self, tx: Tx, memory_ids: Sequence[MemoryId], *, at: datetime, unless_after: datetime
    ) -> None:
        """Set `used_at` of these rows. Skips rows used after `unless_after`, and rows that another
        transaction has locked: usage is not worth waiting for."""
        ids = strict_json.dump(list(memory_ids))
        tx.run(_MARK_USED, {"ids": ids, "at": at, "unless_after": unless_after})

    def fetch(self, tx: Tx, docs: Sequence[int]) -> list[CleanupRow]:
        """These rows as they are now, by `doc`."""
        return _parse_rows(tx.fetch(_FETCH, {"docs": strict_json.dump(list(docs))}))

    def fetch_locked(self, tx: Tx, docs: Sequence[int]) -> list[CleanupRow]:
        """The same rows, locked until the transaction ends."""
        # The caller chose these rows without locks. It decides again by what is returned here.
        tx.lock(_LOCK, {"docs": strict_json.dump(list(docs))})
        return self.fetch(tx, docs)

    def remove(self, tx: Tx, memory_ids: Sequence[MemoryId], *, at: datetime) -> int:
        """Delete these rows with all that belongs to them. Returns how many existed. Histories of
        other memories keep their ids."""
        return removal.remove_memories(tx, memory_ids, at=at) if memory_ids else 0

    def remove_drawn_from(self, tx: Tx, entry_id: EntryId, *, at: datetime) -> int:
        """Delete the memories that have no other source than this entry, also by way of other
        memories, and take it from the sources of the others. Returns how many were deleted."""
        return removal.remove_drawn_from(tx, entry_id, at=at)

    def compact_rows(self, tx: Tx, memory_ids: Sequence[MemoryId], *, at: datetime) -> None:
        """Mark these rows as compacted and delete their snapshots, index rows and vectors."""
        params = {"ids": strict_json.dump(list(memory_ids)), "at": at}
        for statement in _COMPACT:
            tx.run(statement, params)


def _parse_rows(rows: Sequence[Row]) -> list[CleanupRow]:
    return [_parse_row(dict(zip(_NAMES, row, strict=True))) for row in rows]


def _parse_row(row: dict[str, Any]) -> CleanupRow:
    return CleanupRow(
        doc=row["doc"],
        id=MemoryId(row["id"]),
        version=row["version"],
        space=Space(SpaceKind(row["space_kind"]), row["space_id"]),
        kind=MemoryKind(row["kind"]),
        type=MemoryType(row["type"]),
        trust=TrustLevel(row["trust"]),
        status=MemoryStatus(row["status"]),
        status_at=row["status_at"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        used_at=row["used_at"],
        expires_at=row["expires_at"],
        expiry_rule=row["expiry_rule"],
        retention_policy=row["retention_policy"],
        pii_tags=tuple(strict_json.load(row["pii_tags"])),
        compacted_at=row["compacted_at"],
    )


def _cursor_params(after: TimeCursor | None) -> dict[str, Any]:
    return {} if after is None else {"at": after[0], "id": after[1]}


def _page_query(order: Column[Any], *conditions: ColumnElement[bool], cursor: bool) -> Query:
    query = select(*_ROW_COLUMNS).where(order <= param("until", order), _NOT_ERASING, *conditions)
    if cursor:
        here = tuple_(param("at", order), param("id", _m.id))
        query = query.where(tuple_(order, _m.id) > here)
    return Query(query.order_by(order, _m.id).limit(param("limit")))


def _scope_clause(scope: MemoryScope | None) -> tuple[ColumnElement[bool], ...]:
    """Session rows lie in spaces of runs, org rows in those of orgs, long-term rows elsewhere."""
    match scope:
        case None:
            return ()
        case MemoryScope.SESSION:
            return (_m.space_kind == literal_word(SpaceKind.RUN),)
        case MemoryScope.ORG:
            return (_m.space_kind == literal_word(SpaceKind.ORG),)
        case MemoryScope.LONG_TERM:
            return (
                _m.space_kind.not_in([literal_word(SpaceKind.RUN), literal_word(SpaceKind.ORG)]),
            )


@cache
def _expired_query(scope: MemoryScope | None, *, cursor: bool) -> Query:
    return _page_query(_m.expires_at, *_scope_clause(scope), cursor=cursor)


@cache
def _old_records_query(scope: MemoryScope | None, *, cursor: bool) -> Query:
    record = _m.kind == literal_word(MemoryKind.RECORD)
    return _page_query(_m.created_at, record, *_scope_clause(scope), cursor=cursor)


@cache
def _inactive_query(*, cursor: bool) -> Query:
    away = _m.status.in_([literal_word(status) for status in sorted(COMPACTABLE_STATUSES)])
    # Implied by the next condition, but needed for the planner to use the partial index of rows
    # that are not active.
    inactive = _m.status != literal_word(MemoryStatus.ACTIVE)
    return _page_query(_m.status_at, inactive, away, _m.compacted_at.is_(None), cursor=cursor)


def _evictable_query() -> Query:
    """Sorted as `eviction_order` of the retention rules sorts."""
    order = (
        _membership_flag(_m.type, EVICTED_LAST_TYPES),
        -_membership_flag(_m.type, EPHEMERAL_TYPES),
        case(
            *(
                (_m.trust == literal_word(trust), _number_literal(at))
                for at, trust in enumerate(TrustLevel)
            )
        ),
        case((_m.used_at > _m.updated_at, _m.used_at), else_=_m.updated_at),
        _m.created_at,
        _m.id,
    )
    query = select(*_ROW_COLUMNS).where(
        _m.space_kind == param("space_kind", _m.space_kind),
        _m.space_id == param("space_id", _m.space_id),
        _ACTIVE,
        _m.created_at <= param("until", _m.created_at),
        _m.retention_policy.is_(None),
    )
    return Query(query.order_by(*order).limit(param("limit")))


def _membership_flag(column: Column[Any], words: frozenset[MemoryType]) -> ColumnElement[int]:
    """1 or 0: PostgreSQL can't sort by the negative of a boolean."""
    return case(
        (column.in_([literal_word(one) for one in sorted(words)]), _number_literal(1)),
        else_=_number_literal(0),
    )


def _number_literal(value: int) -> ColumnElement[int]:
    return literal_column(str(value))


_ROW_COLUMNS = (
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
_NAMES = tuple(column.name for column in _ROW_COLUMNS)
# Rows that an erasure job has claimed are left to that job.
_NOT_ERASING = _m.erasure_id.is_(None)
_ACTIVE = and_(
    _NOT_ERASING,
    _m.status == literal_word(MemoryStatus.ACTIVE),
    or_(_m.expires_at.is_(None), _m.expires_at > param("now", _m.expires_at)),
)
_IN_RUN_SPACES = (
    _m.space_kind == literal_word(SpaceKind.RUN),
    InTextList(_m.space_id, param("ids")),
)
_LOCK_IN_RUNS = Query(select(_m.id).where(*_IN_RUN_SPACES).order_by(_m.id).with_for_update())
_IN_RUNS = Query(select(*_ROW_COLUMNS).where(*_IN_RUN_SPACES).order_by(_m.id))
_OVER_QUOTA = Query(
    select(_m.space_kind, _m.space_id, func.count())
    .where(_ACTIVE)
    .group_by(_m.space_kind, _m.space_id)
    .having(func.count() > param("most"))
    .order_by(_m.space_kind, _m.space_id)
)
_EVICTABLE = _evictable_query()
_DOCS_CLAUSE = and_(_NOT_ERASING, InNumberList(_m.doc, param("docs")))
_LOCK = Query(select(_m.id).where(_DOCS_CLAUSE).order_by(_m.doc).with_for_update())
_FETCH = Query(select(*_ROW_COLUMNS).where(_DOCS_CLAUSE).order_by(_m.doc))
_IDS = param("ids")
_UNUSED = or_(_m.used_at.is_(None), _m.used_at <= param("unless_after", _m.used_at))
# `skip_locked` in a subquery: an UPDATE itself can't skip rows that others have locked.
_MARK_USED = Query(
    update(memories)
    .where(
        _m.id.in_(
            select(_m.id).where(InTextList(_m.id, _IDS), _UNUSED).with_for_update(skip_locked=True)
        )
    )
    .values(used_at=param("at", _m.used_at))
)
_COMPACT = (
    Query(
        update(memories)
        .where(InTextList(_m.id, _IDS))
        .values(compacted_at=param("at", _m.compacted_at))
    ),
    Query(
        update(memory_versions)
        .where(InTextList(memory_versions.c.memory_id, _IDS))
        .values(snapshot=literal_column("NULL"))
    ),
    *(
        Query(delete(table).where(InTextList(table.c.memory_id, _IDS)))
        for table in (memory_index, memory_embeddings)
    ),
)
