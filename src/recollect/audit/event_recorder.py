"""Recording of events of conversations and of the admin API."""

from dataclasses import dataclass
from typing import Any

from recollect.audit.model import AuditOutcome, Event, EventKind
from recollect.audit.ports import AuditStores
from recollect.db.transaction import Tx
from recollect.identity.model import Principal, ServerRole
from recollect.kernel.access_level import Level
from recollect.kernel.runtime import Runtime


@dataclass(frozen=True, slots=True)
class AuditName:
    """The kind and action of an operation in the audit log."""

    kind: EventKind
    action: str


class EventRecorder:
    """Writes events in the transaction of the change that they record."""

    def __init__(self, stores: AuditStores, runtime: Runtime) -> None:
        self._stores = stores
        self._runtime = runtime

    def record(
        self,
        tx: Tx,
        principal: Principal,
        name: AuditName,
        *,
        event_id: str | None = None,
        **facts: Any,
    ) -> None:
        """Record one event of this caller, under the id if one is given. `facts` are fields of
        Event."""
        event = Event(
            id=event_id or self._runtime.ids.new(),
            at=self._runtime.clock.now(),
            kind=name.kind,
            action=name.action,
            actor_user_id=principal.user_id,
            actor_client_id=principal.client_id,
            **facts,
        )
        self._stores.events.insert(tx, event)

    def is_recorded(self, tx: Tx, event_id: str | None) -> bool:
        """Whether there is an event with this id: then the change that it records was made."""
        return event_id is not None and self._stores.events.fetch(tx, event_id) is not None

    def record_admin(
        self,
        tx: Tx,
        principal: Principal,
        name: AuditName,
        *,
        outcome: AuditOutcome = AuditOutcome.ALLOWED,
        **facts: Any,
    ) -> None:
        """Record one event of the admin API, with the role that allowed it."""
        role = used_role(principal, name.kind) if outcome is AuditOutcome.ALLOWED else None
        self.record(tx, principal, name, outcome=outcome, role=role, **facts)

    def record_membership(
        self,
        tx: Tx,
        principal: Principal,
        action: str,
        *,
        target_user_id: str,
        before: Level | None,
        after: Level | None,
        conversation_id: str,
        event_id: str | None = None,
    ) -> None:
        """Record the action `add`, `update` or `remove` with the levels before and after."""
        self.record(
            tx,
            principal,
            AuditName(EventKind.MEMBERSHIP, action),
            target_user_id=target_user_id,
            from_level=before.word if before else None,
            to_level=after.word if after else None,
            conversation_id=conversation_id,
            event_id=event_id,
        )


def used_role(principal: Principal, kind: EventKind) -> str | None:
    """The role that allowed an admin call: the weakest of the caller's roles that suffices."""
    if kind is EventKind.ADMIN_READ and ServerRole.AUDITOR in principal.roles:
        return ServerRole.AUDITOR.value
    return ServerRole.ADMIN.value if ServerRole.ADMIN in principal.roles else None
