"""SQL store of approvals. A requested expiry of `FOREVER` is stored as NULL."""

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, and_, case, insert, select, tuple_, update

from recollect.db.statements import Query, Row, literal_word, param
from recollect.db.tables.memories import approvals, memories
from recollect.db.transaction import Tx
from recollect.kernel.owner import Owner, OwnerKind, parse_owner
from recollect.memories.expiry import FOREVER, Approval, ApprovalStatus

_p = approvals.c
_m = memories.c
# The memory is joined for its expiry, which bounds the time to decide.
_FROM = approvals.outerjoin(memories, _m.id == _p.memory_id)
# A pending request ends with its memory, whose expiry may have been shortened since.
_VALID_UNTIL = case(
    (and_(_p.status == literal_word("pending"), _m.expires_at < _p.valid_until), _m.expires_at),
    else_=_p.valid_until,
)
_COLUMNS = (
    _p.id,
    _p.memory_id,
    _p.requested_by_kind,
    _p.requested_by_id,
    _p.requested_expires_at,
    _p.status,
    _p.decided_by,
    _p.decided_at,
    _VALID_UNTIL.label("valid_until"),
    _p.created_at,
)


@dataclass(frozen=True, slots=True)
class StoredApproval:
    """A request and when it was created. The status is as stored, not `effective_status`."""

    approval: Approval
    created_at: datetime


class ApprovalStore:
    """Approval requests. They are deleted with their memory."""

    def insert(self, tx: Tx, filed: StoredApproval) -> None:
        approval = filed.approval
        by = parse_owner(approval.requested_by)
        requested = approval.requested_expires_at
        params = {
            "id": approval.id,
            "memory_id": approval.memory_id,
            "requested_by_kind": by.kind,
            "requested_by_id": by.id,
            "requested_expires_at": None if requested == FOREVER else requested,
            "status": approval.status,
            "valid_until": approval.valid_until,
            "created_at": filed.created_at,
        }
        tx.run(_INSERT, params)

    def fetch(self, tx: Tx, approval_id: str, *, lock: bool = False) -> StoredApproval | None:
        """With `lock` the row is locked until the transaction ends."""
        if lock:
            tx.lock(_LOCK, {"id": approval_id})
        row = tx.fetch_first(_FETCH, {"id": approval_id})
        return _from_row(row) if row else None

    def page(
        self,
        tx: Tx,
        *,
        requester: Owner | None,
        status: ApprovalStatus | None,
        now: datetime,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[StoredApproval]:
        """Requests of one requester, or of all (None), newest first, by effective `status`."""
        params: dict[str, Any] = {"limit": limit, "now": now}
        if requester is not None:
            params |= {"by_kind": requester.kind, "by_id": requester.id}
        if after is not None:
            params |= {"at": after[0], "id": after[1]}
        statement = _page_query(status, own=requester is not None, cursor=after is not None)
        return [_from_row(row) for row in tx.fetch(statement, params)]

    def decide(self, tx: Tx, approval: Approval, *, justification: str | None) -> None:
        params = {
            "id": approval.id,
            "status": approval.status,
            "decided_by": approval.decided_by,
            "decided_at": approval.decided_at,
            "justification": justification,
        }
        tx.run(_DECIDE, params)


def _from_row(row: Row) -> StoredApproval:
    approval = Approval(
        id=row[0],
        memory_id=row[1],
        requested_by=Owner(OwnerKind(row[2]), row[3]).spelling,
        requested_expires_at=FOREVER if row[4] is None else row[4],
        status=ApprovalStatus(row[5]),
        decided_by=row[6],
        decided_at=row[7],
        valid_until=row[8],
    )
    return StoredApproval(approval, row[9])


def _status_clause(status: ApprovalStatus) -> ColumnElement[bool]:
    """`Approval.effective_status` as SQL: a pending request expires without an update."""
    now = param("now", _p.valid_until)
    match status:
        case ApprovalStatus.PENDING:
            return and_(_p.status == literal_word("pending"), now < _VALID_UNTIL)
        case ApprovalStatus.EXPIRED:
            return and_(_p.status == literal_word("pending"), now >= _VALID_UNTIL)
        case _:
            return _p.status == literal_word(status)


@cache
def _page_query(status: ApprovalStatus | None, *, own: bool, cursor: bool) -> Query:
    query = select(*_COLUMNS).select_from(_FROM)
    if own:
        query = query.where(
            _p.requested_by_kind == param("by_kind", _p.requested_by_kind),
            _p.requested_by_id == param("by_id", _p.requested_by_id),
        )
    if status is not None:
        query = query.where(_status_clause(status))
    if cursor:
        here = tuple_(param("at", _p.created_at), _ID)
        query = query.where(tuple_(_p.created_at, _p.id) < here)
    query = query.order_by(_p.created_at.desc(), _p.id.desc())
    return Query(query.limit(param("limit")))


_ID = param("id", _p.id)
_INSERT_COLUMNS = (
    "id",
    "memory_id",
    "requested_by_kind",
    "requested_by_id",
    "requested_expires_at",
    "status",
    "valid_until",
    "created_at",
)
_INSERT = Query(insert(approvals).values({name: param(name, _p[name]) for name in _INSERT_COLUMNS}))
_FETCH = Query(select(*_COLUMNS).select_from(_FROM).where(_p.id == _ID))
_LOCK = Query(select(_p.id).where(_p.id == _ID).with_for_update())
_DECISION_COLUMNS = ("status", "decided_by", "decided_at", "justification")
_DECIDE = Query(
    update(approvals)
    .where(_p.id == _ID)
    .values({name: param(name, _p[name]) for name in _DECISION_COLUMNS})
)
