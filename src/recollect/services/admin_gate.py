"""The reason that an admin owes for a call which others may make too, with less reach."""

from recollect.domain.events import EventKind
from recollect.policy.actions import Action
from recollect.policy.requesters import Requester
from recollect.services.audit import AuditName
from recollect.services.gate import GateService


class AdminGate:
    """Asks admins, and lets everybody else pass: their rights are looked at row by row."""

    def __init__(self, gate: GateService) -> None:
        self._gate = gate

    async def admit(self, requester: Requester, operation: str, reason: str | None) -> None:
        """JustificationRequired where this server wants a reason and an admin gave none."""
        if not requester.admin:
            return
        await self._gate.admit(
            requester.principal,
            Action.ADMIN_WRITE,
            audit=AuditName(EventKind.ADMIN_WRITE, operation),
            conversation_id=None,
            justification=reason,
        )
