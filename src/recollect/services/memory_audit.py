"""Events of the memory family: ids and tags, in the transaction of what they tell of.

A refusal rolls its transaction back, so its event is written behind it, in one of its own.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from recollect.domain.events import Event, EventKind, Outcome
from recollect.domain.memories import MemoryId
from recollect.domain.retention import SHIPPED_RULES, RetentionRules
from recollect.domain.spaces import Space
from recollect.errors import Forbidden, InvalidInput, RecollectError
from recollect.policy.requesters import Requester
from recollect.ports.database import Database, Tx
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services.alerts import Alerts

# Screening: what was sent is fit in form and not in content.
REFUSALS = frozenset(
    {"secret_refused", "pii_refused", "pii_not_allowed", "sensitivity_not_allowed"}
)


class MemoryAudit:
    """Writes events that `GET /v1/events` shows. `rules` say how risky personal data is, and when
    an alert is due."""

    def __init__(
        self,
        database: Database,
        stores: Stores,
        runtime: Runtime,
        rules: RetentionRules = SHIPPED_RULES,
    ) -> None:
        self._database = database
        self._stores = stores
        self._runtime = runtime
        self._alerts = Alerts(stores, rules.audit)
        self.rules = rules

    def record(
        self,
        tx: Tx,
        requester: Requester | None,
        event_type: str,
        *,
        space: Space | None = None,
        payload: Mapping[str, Any] | None = None,
        outcome: Outcome = Outcome.ALLOWED,
        event_id: str | None = None,
        **ids: str | int | None,
    ) -> str:
        """One event, such as `memory.write`; its id, `event_id` if that is free. `requester` None
        is the server itself.

        `ids` are members of Event: memory_id, agent_id, run_id, conversation_id, target_user_id,
        count, role, justification. The payload holds ids, tags and counts, never content.
        """
        kind, _, action = event_type.partition(".")
        principal = requester.principal if requester is not None else None
        event = Event(
            id=self._free(tx, event_id),
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
        self._alerts.heed(tx, event)
        return event.id

    def told(self, tx: Tx, event_id: str, memory_id: MemoryId) -> bool:
        """Does an event of this id tell of this memory already?"""
        event = self._stores.events.fetch(tx, event_id)
        return event is not None and event.memory_id == memory_id

    def _free(self, tx: Tx, event_id: str | None) -> str:
        if event_id is not None and self._stores.events.fetch(tx, event_id) is None:
            return event_id
        return self._runtime.ids.new()

    @asynccontextmanager
    async def watching(
        self, requester: Requester, operation: str, **ids: str | None
    ) -> AsyncIterator[None]:
        """Around a use case: a refusal that leaves it writes its one event first.

        403 is `memory.denied`, content that screening refused is `memory.refused`.
        """
        try:
            yield
        except (Forbidden, InvalidInput) as error:
            await self.tell_refusal(requester, operation, error, **ids)
            raise

    async def tell_refusal(
        self, requester: Requester, operation: str, error: RecollectError, **ids: str | None
    ) -> None:
        """The event of a refusal that did not leave its use case; other errors have none."""
        if _event_of(operation, error) is not None:
            await self._database.write(
                lambda tx: self.note_refusal(tx, requester, operation, error, **ids)
            )

    def note_refusal(
        self,
        tx: Tx,
        requester: Requester,
        operation: str,
        error: RecollectError,
        **ids: str | None,
    ) -> None:
        """The same in a transaction that goes on. The row, if there is one, says whose business
        the event is."""
        told = _event_of(operation, error)
        if told is None:
            return
        event_type, payload = told
        memory_id = ids.get("memory_id")
        row = self._stores.memories.fetch(tx, MemoryId(memory_id)) if memory_id else None
        self.record(
            tx,
            requester,
            event_type,
            space=row.memory.space if row else None,
            payload=payload,
            outcome=Outcome.DENIED,
            # What was refused for its content is no event of the memory that stayed as it was.
            memory_id=memory_id if event_type == "memory.denied" else None,
            agent_id=ids.get("agent_id") or (row.memory.agent_id if row else None),
            run_id=ids.get("run_id"),
        )


def _event_of(operation: str, error: RecollectError) -> tuple[str, dict[str, Any]] | None:
    """The type and the payload of a refusal's event, if it has one."""
    if isinstance(error, Forbidden):
        return "memory.denied", _denied(operation, error)
    if isinstance(error, InvalidInput) and error.code in REFUSALS:
        return "memory.refused", _refused(error)
    return None


def _denied(operation: str, error: RecollectError) -> dict[str, Any]:
    return {"operation": operation, "code": error.code}


def _refused(error: RecollectError) -> dict[str, Any]:
    details = error.details or {}
    told: dict[str, Any] = {"code": error.code}
    for name in ("family", "pii_tags", "field"):
        if name in details:
            told[name] = details[name]
    return told
