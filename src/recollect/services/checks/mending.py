"""How the doctor changes a memory: a new version, an event, and new index and graph entries."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from recollect.domain.memories import Memory, MemoryId, Status
from recollect.ports.database import Tx
from recollect.ports.doctor import Kept
from recollect.ports.memories import Change, Stored
from recollect.ports.stores import Stores
from recollect.services.checks.order import Order
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_events import tell_of
from recollect.services.memory_writing import Hooks


class Mender:
    """Repairs memories inside a transaction that has locked them. A memory stays in its space."""

    def __init__(self, stores: Stores, audit: MemoryAudit, hooks: Hooks) -> None:
        self._stores = stores
        self._audit = audit
        self._hooks = hooks

    def hold(self, tx: Tx, memory_ids: Sequence[str]) -> list[Stored]:
        """The rows, locked until the transaction ends, without those that are being erased."""
        ids = [MemoryId(id_) for id_ in memory_ids]
        held = self._stores.keeping.fetch_many(tx, ids, lock=True)
        return [stored for stored in held if stored.erasure_id is None]

    def change(self, tx: Tx, order: Order, stored: Stored, after: Memory, **told: Any) -> Stored:
        """Store `after` as a new version and record `memory.update` with `told` in its payload."""
        kept = self._store(tx, order, stored, after, change=Change.UPDATED)
        self._index(tx, stored, kept)
        self._tell(tx, order, "memory.update", kept, **told)
        return kept

    def set_aside(self, tx: Tx, order: Order, stored: Stored, *, reason: str) -> None:
        """Hide the memory from every read until a writer of its space decides."""
        reasons = tuple(sorted({*stored.suspicion_reasons, reason}))
        stored = replace(stored, suspicion_reasons=reasons)
        after = replace(stored.memory, status=Status.QUARANTINED)
        kept = self._store(tx, order, stored, after, change=Change.UPDATED)
        self._index(tx, stored, kept)
        told = {"score": kept.suspicion, "reasons": list(reasons)}
        self._tell(tx, order, "memory.quarantine", kept, **told)

    def rewrite(self, tx: Tx, kept: Iterable[Kept]) -> None:
        """Overwrite snapshots of earlier versions. That adds no version: personal data that should
        have been redacted must not stay readable in the history."""
        for one in kept:
            self._stores.doctor.rewrite(tx, one)

    def tell_rewritten(self, tx: Tx, order: Order, stored: Stored) -> None:
        """Record that only the history of the memory was changed."""
        self._tell(tx, order, "memory.update", stored, fields=["history"])

    def history(self, tx: Tx, memory_id: MemoryId) -> Sequence[Kept]:
        """The snapshots of its earlier versions, as they are now."""
        return self._stores.doctor.earlier(tx, [memory_id]).get(memory_id, ())

    def index(self, tx: Tx, stored: Stored) -> None:
        """Write its words to the search index."""
        self._hooks.indexer.write(tx, stored)

    def unindex(self, tx: Tx, memory_id: MemoryId) -> None:
        """Delete its words and its vector from the search index."""
        self._hooks.indexer.drop(tx, memory_id)

    def _store(
        self, tx: Tx, order: Order, stored: Stored, after: Memory, *, change: Change
    ) -> Stored:
        at = order.looking.now
        after = replace(after, version=stored.memory.version + 1, updated_at=at)
        return self._stores.memories.update(tx, stored, after, change=change, by=order.by, at=at)

    def _index(self, tx: Tx, before: Stored, stored: Stored) -> None:
        memory = stored.memory
        if memory.status is Status.QUARANTINED:
            self.unindex(tx, memory.id)
            self._hooks.graph.erase(tx, memory.id)
        else:
            self.index(tx, stored)
            self._hooks.graph.redraw(tx, before, stored)

    def _tell(self, tx: Tx, order: Order, event_type: str, stored: Stored, **told: Any) -> None:
        memory = stored.memory
        tell_of(self._audit, tx, order.requester, event_type=event_type, memory=memory, **told)
