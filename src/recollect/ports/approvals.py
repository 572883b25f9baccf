"""What services ask of storage about requests for a longer life."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.domain.agents import Owner
from recollect.domain.expiry import Approval, ApprovalStatus
from recollect.ports.database import Tx


@dataclass(frozen=True, slots=True)
class Filed:
    """A request and when it was made. Its status is as stored: see `Approval.status_at`."""

    approval: Approval
    created_at: datetime


class ApprovalStore(Protocol):
    """Requests. They go with their memory."""

    def insert(self, tx: Tx, filed: Filed) -> None:
        """A new request."""
        ...

    def fetch(self, tx: Tx, approval_id: str, *, lock: bool = False) -> Filed | None:
        """One request. With `lock` it is held until the transaction ends."""
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
    ) -> list[Filed]:
        """Requests of one requester, or all of them, the newest first."""
        ...

    def decide(self, tx: Tx, approval: Approval, *, justification: str | None) -> None:
        """Store the decision."""
        ...
