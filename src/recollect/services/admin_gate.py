"""Asks admins for a justification in operations that other callers may use too."""

from recollect.domain.events import EventKind
from recollect.policy.actions import Action
from recollect.policy.requesters import Requester
from recollect.services.audit import AuditName
from recollect.services.gate import GateService


class AdminGate:
    """Checks admins only. The rights of other callers are checked on each row instead."""

    def __init__(self, gate: GateService) -> None:
        self._gate = gate

    async def admit(self, requester: Requester, operation: str, reason: str | None) -> None:
        """Raises JustificationRequired if the server requires one and an admin gave none."""
        if not requester.is_admin:
            return
        await self._gate.admit(
            requester.principal,
            Action.ADMIN_WRITE,
            audit=AuditName(EventKind.ADMIN_WRITE, operation),
            conversation_id=None,
            justification=reason,
        )
