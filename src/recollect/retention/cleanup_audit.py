"""The caller of a cleanup, and the audit event of its run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.transaction import Tx
from recollect.identity.model import ServerRole
from recollect.identity.requester import Requester
from recollect.kernel.owner import Owner
from recollect.kernel.space import Space
from recollect.retention.commands import ExpireMemories, TidyMemories
from recollect.retention.store_bundle import RetentionStores

# The author of changes by the server's own jobs. No agent can have this id: it has a space.
SERVER_ACTOR = Owner.agent("recollect server")


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanupOrder:
    """An order to clean up; without a requester it is one of the server's own jobs."""

    dry_run: bool
    requester: Requester | None = None
    justification: str | None = None

    @classmethod
    def for_command(
        cls, command: ExpireMemories | TidyMemories, requester: Requester | None
    ) -> "CleanupOrder":
        return cls(
            dry_run=command.dry_run, requester=requester, justification=command.justification
        )

    @property
    def actor(self) -> Owner:
        """The author of changed rows in their history."""
        return SERVER_ACTOR if self.requester is None else self.requester.identity


@dataclass(frozen=True, slots=True)
class CleanupAudit:
    """One audit event a run: the first batch inserts it, the others add to its count."""

    audit: MemoryAudit
    stores: RetentionStores
    event_type: str
    order: CleanupOrder
    payload: Mapping[str, Any]
    space: Space | None = None

    def record_batch(self, tx: Tx, count: int, event_id: str | None = None) -> str:
        """Count `count` more rows, in a new event or in `event_id`; returns the event's id."""
        if event_id is None:
            return self._record_event(tx, count)
        self.stores.events.add_count(tx, event_id, count)
        return event_id

    def _record_event(self, tx: Tx, count: int) -> str:
        order = self.order
        return self.audit.record(
            tx,
            order.requester,
            self.event_type,
            space=self.space,
            payload={"dry_run": order.dry_run, **self.payload},
            count=count,
            role=None if order.requester is None else ServerRole.ADMIN.value,
            justification=order.justification,
        )
