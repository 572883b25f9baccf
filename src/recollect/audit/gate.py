"""Checks the role or the API key that an operation needs, whatever it is applied to."""

from recollect.audit.event_recorder import AuditName, EventRecorder
from recollect.audit.model import AuditOutcome, EventKind
from recollect.audit.ports import AuditStores
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.actions import NEEDS_CLIENT, NEEDS_ROLE, Action
from recollect.identity.decide import decide
from recollect.identity.model import Principal
from recollect.identity.requester import Requester
from recollect.identity.tree_view import TreeAccess
from recollect.kernel.errors import Forbidden, JustificationRequired

_NO_TREE = TreeAccess(deleted=False, level=None)


class GateService:
    """The second check of every request, after authentication and before its body is parsed: a
    caller without the role does not learn what is wrong with the request."""

    def __init__(
        self, context: ServiceContext[AuditStores], *, require_justification: bool
    ) -> None:
        self._database = context.database
        self._auditor = EventRecorder(context.stores, context.runtime)
        self._require_justification = require_justification

    async def admit(
        self,
        principal: Principal,
        action: Action,
        *,
        audit: AuditName | None,
        conversation_id: str | None,
        justification: str | None,
    ) -> None:
        """Raises Forbidden if the caller lacks the role or the key, then JustificationRequired if
        the server requires a justification and none was given. A refused admin operation is
        written to the audit log before the error is raised."""
        if action in NEEDS_CLIENT and principal.client_id is None:
            raise Forbidden("this call needs an API key")
        if action not in NEEDS_ROLE:
            return
        # Role actions don't depend on a tree, so an empty one does.
        decision = decide(principal, action, _NO_TREE)
        if not decision.allowed:
            await self._record_refusal(principal, audit, conversation_id, justification)
            raise Forbidden(f"not allowed: {decision.rule}")
        if audit is not None and self._require_justification and not justification:
            raise JustificationRequired

    async def _record_refusal(
        self,
        principal: Principal,
        audit: AuditName | None,
        conversation_id: str | None,
        justification: str | None,
    ) -> None:
        if audit is None or audit.kind not in (EventKind.ADMIN_READ, EventKind.ADMIN_WRITE):
            return

        def work(tx: Tx) -> None:
            self._auditor.record_admin(
                tx,
                principal,
                audit,
                outcome=AuditOutcome.DENIED,
                conversation_id=conversation_id,
                justification=justification,
            )

        await self._database.write(work)


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
