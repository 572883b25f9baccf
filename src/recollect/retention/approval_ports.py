"""Storage of approval requests."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.db.transaction import Tx
from recollect.kernel.owner import Owner
from recollect.memories.expiry import Approval, ApprovalStatus


@dataclass(frozen=True, slots=True)
class StoredApproval:
    """A request and when it was created. The status is as stored, not `effective_status`."""

    approval: Approval
    created_at: datetime


class ApprovalStore(Protocol):
    """Approval requests. They are deleted with their memory."""

    def insert(self, tx: Tx, filed: StoredApproval) -> None: ...

    def fetch(self, tx: Tx, approval_id: str, *, lock: bool = False) -> StoredApproval | None:
        """With `lock` the row is locked until the transaction ends."""
        ...

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
        ...

    def decide(self, tx: Tx, approval: Approval, *, justification: str | None) -> None: ...
