"""Builds events, so that every service tells of itself in the same way."""

from dataclasses import dataclass
from typing import Any

from recollect.domain.events import Event, EventKind, Outcome
from recollect.domain.memberships import Level
from recollect.policy.principals import Principal, Role
from recollect.ports.database import Tx
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores


@dataclass(frozen=True, slots=True)
class AuditName:
    """What an operation is called in the audit log."""

    kind: EventKind
    action: str


class Auditor:
    """Writes events in the transaction of what they tell of."""

    def __init__(self, stores: Stores, runtime: Runtime) -> None:
        self._stores = stores
        self._runtime = runtime

    def record(self, tx: Tx, principal: Principal, name: AuditName, **facts: Any) -> None:
        """One event by this caller. `facts` are members of Event."""
        event = Event(
            id=self._runtime.ids.new(),
            at=self._runtime.clock.now(),
            kind=name.kind,
            action=name.action,
            actor_user_id=principal.user_id,
            actor_client_id=principal.client_id,
            **facts,
        )
        self._stores.events.insert(tx, event)

    def record_admin(
        self,
        tx: Tx,
        principal: Principal,
        name: AuditName,
        *,
        outcome: Outcome = Outcome.ALLOWED,
        **facts: Any,
    ) -> None:
        """One event of the admin surface, with the role that opened it."""
        role = used_role(principal, name.kind) if outcome is Outcome.ALLOWED else None
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
    ) -> None:
        """`add`, `update` or `remove`, with both levels."""
        self.record(
            tx,
            principal,
            AuditName(EventKind.MEMBERSHIP, action),
            target_user_id=target_user_id,
            from_level=before.word if before else None,
            to_level=after.word if after else None,
            conversation_id=conversation_id,
        )


def used_role(principal: Principal, kind: EventKind) -> str | None:
    """The role that opened an admin call: the least one that suffices and that the caller has."""
    if kind is EventKind.ADMIN_READ and Role.AUDITOR in principal.roles:
        return Role.AUDITOR.value
    return Role.ADMIN.value if Role.ADMIN in principal.roles else None
