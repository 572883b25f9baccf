"""Recording of events about memories, people, agents and runs.

An event is written in the transaction of the change that it records, so there is never one without
the other. A refusal rolls its transaction back, so its event is written afterwards in a transaction
of its own.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from recollect.audit.alerts import Alerts
from recollect.audit.model import AuditOutcome, Event, EventKind, mask_key
from recollect.audit.ports import AuditStores
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.errors import Forbidden, InvalidInput, RecollectError
from recollect.kernel.ids import MemoryId
from recollect.kernel.retention_rules import RetentionRules
from recollect.kernel.space import Space
from recollect.memories.model import Memory

# Error codes of screening: the request was well-formed, but its content is not stored.
SCREENING_CODES = frozenset(
    {"secret_refused", "pii_refused", "pii_not_allowed", "sensitivity_not_allowed"}
)


class MemoryAudit:
    """Writes the events of `GET /v1/events`. `rules` rate the risk of personal data and set the
    thresholds of alerts."""

    def __init__(self, context: ServiceContext[AuditStores]) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._alerts = Alerts(context.stores, context.rules.audit)
        self.rules = context.rules

    def record(
        self,
        tx: Tx,
        requester: Requester | None,
        event_type: str,
        *,
        space: Space | None = None,
        payload: Mapping[str, Any] | None = None,
        outcome: AuditOutcome = AuditOutcome.ALLOWED,
        event_id: str | None = None,
        **ids: str | int | None,
    ) -> str:
        """Record one event, such as `memory.write`, and return its id: `event_id` if that is
        unused, else a new one. `requester` None is the server itself.

        `ids` are fields of Event: memory_id, agent_id, run_id, conversation_id, target_user_id,
        count, role, justification. The payload holds ids, tags and counts, never content.
        """
        kind, _, action = event_type.partition(".")
        principal = requester.principal if requester is not None else None
        event = Event(
            id=self._unused_id(tx, event_id),
            at=self._runtime.clock.now(),
            kind=EventKind(kind),
            action=action,
            outcome=outcome,
            actor_user_id=principal.user_id if principal else None,
            actor_client_id=principal.client_id if principal else None,
            params=dict(payload or {}),
            space_kind=str(space.kind) if space else None,
            space_id=space.id if space else None,
            **ids,  # type: ignore[arg-type]
        )
        self._stores.events.insert(tx, event)
        self._alerts.check_thresholds(tx, event)
        return event.id

    def has_event(self, tx: Tx, event_id: str, memory_id: MemoryId) -> bool:
        """Whether an event with this id exists and is about this memory."""
        event = self._stores.events.fetch(tx, event_id)
        return event is not None and event.memory_id == memory_id

    def _unused_id(self, tx: Tx, event_id: str | None) -> str:
        if event_id is not None and self._stores.events.fetch(tx, event_id) is None:
            return event_id
        return self._runtime.ids.new()

    @asynccontextmanager
    async def audit_refusals(
        self, requester: Requester, operation: str, **ids: str | None
    ) -> AsyncIterator[None]:
        """Wrap a use case and record a refusal that it raises, then raise it on.

        Forbidden becomes `memory.denied`, content refused by screening becomes `memory.refused`;
        other errors have no event. The transaction of the use case must lie inside of the wrapped
        block, so that it is rolled back when the event is written.
        """
        try:
            yield
        except (Forbidden, InvalidInput) as error:
            await self.record_refusal(requester, operation, error, **ids)
            raise

    async def record_refusal(
        self, requester: Requester, operation: str, error: RecollectError, **ids: str | None
    ) -> None:
        """Record a refusal that its use case does not raise, in a transaction of its own. Errors
        other than refusals are ignored."""
        if _refusal_event(operation, error) is not None:
            await self._database.write(
                lambda tx: self.insert_refusal(tx, requester, operation, error, **ids)
            )

    def insert_refusal(
        self,
        tx: Tx,
        requester: Requester,
        operation: str,
        error: RecollectError,
        **ids: str | None,
    ) -> None:
        """The same in a transaction that goes on, as in a batch. The space of the event is that of
        the stored memory, so that its owner can read that somebody else was refused."""
        refusal = _refusal_event(operation, error)
        if refusal is None:
            return
        event_type, payload = refusal
        memory_id = ids.get("memory_id")
        kept_in = self._stores.event_reads.find_memory(tx, memory_id) if memory_id else None
        self.record(
            tx,
            requester,
            event_type,
            space=kept_in.space if kept_in else None,
            payload=payload,
            outcome=AuditOutcome.DENIED,
            # A write that was refused for its content did not touch the memory, so the event is not
            # listed among those of the memory.
            memory_id=memory_id if event_type == "memory.denied" else None,
            agent_id=ids.get("agent_id") or (kept_in.agent_id if kept_in else None),
            run_id=ids.get("run_id"),
        )


def _refusal_event(operation: str, error: RecollectError) -> tuple[str, dict[str, Any]] | None:
    """The event type and payload of a refusal; None for other errors."""
    if isinstance(error, Forbidden):
        return "memory.denied", _denied_payload(operation, error)
    if isinstance(error, InvalidInput) and error.code in SCREENING_CODES:
        return "memory.refused", _refused_payload(error)
    return None


def _denied_payload(operation: str, error: RecollectError) -> dict[str, Any]:
    return {"operation": operation, "code": error.code}


def _refused_payload(error: RecollectError) -> dict[str, Any]:
    details = error.details or {}
    payload: dict[str, Any] = {"code": error.code}
    for name in ("family", "pii_tags", "field"):
        if name in details:
            payload[name] = details[name]
    return payload


def record_memory_event(
    audit: MemoryAudit,
    tx: Tx,
    requester: Requester | None,
    *,
    event_type: str,
    memory: Memory,
    event_id: str | None = None,
    **more: Any,
) -> str:
    """Record an event about this memory, with `more` in its payload, and return the event's id:
    `event_id` if that is unused, else a new one."""
    return audit.record(
        tx,
        requester,
        event_type,
        space=memory.space,
        memory_id=memory.id,
        agent_id=memory.agent_id,
        run_id=memory.run_id,
        payload=memory_payload(memory, audit.rules) | more,
        event_id=event_id,
    )


def memory_payload(memory: Memory, rules: RetentionRules) -> dict[str, Any]:
    """The payload that every event about a memory has. The key of a memory with critical personal
    data may hold some of that itself, so it is masked."""
    critical = rules.is_critical(memory.pii_tags)
    return {
        "memory_id": memory.id,
        "scope": str(memory.space.scope),
        "key": mask_key(memory.key) if critical else memory.key,
        "has_pii": bool(memory.pii_tags),
        "pii_tags": list(memory.pii_tags),
        "space": {"kind": str(memory.space.kind), "id": memory.space.id},
    }
