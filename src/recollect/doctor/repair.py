"""How the doctor changes a memory: a new version, an event, and new index and graph entries."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from recollect.audit.memory_recorder import MemoryAudit, record_memory_event
from recollect.db.transaction import Tx
from recollect.doctor.checks.order import DoctorOrder
from recollect.doctor.rows import VersionSnapshot
from recollect.doctor.store.bundle import DoctorStores
from recollect.kernel.ids import MemoryId
from recollect.memories.model import (
    Memory,
    MemoryStatus,
    StoredMemory,
    VersionChange,
)
from recollect.memories.write.writer import WriteHooks


class MemoryRepairer:
    """Repairs memories inside a transaction that has locked them. A memory stays in its space."""

    def __init__(self, stores: DoctorStores, audit: MemoryAudit, hooks: WriteHooks) -> None:
        self._stores = stores
        self._audit = audit
        self._hooks = hooks

    def lock_rows(self, tx: Tx, memory_ids: Sequence[str]) -> list[StoredMemory]:
        """The rows, locked until the transaction ends, without those that are being erased or that
        can't be decrypted."""
        ids = [MemoryId(id_) for id_ in memory_ids]
        locked = self._stores.memories.fetch_many(tx, ids, lock=True)
        return [one for one in locked if one.erasure_id is None and not one.unreadable]

    def update(
        self, tx: Tx, order: DoctorOrder, stored: StoredMemory, after: Memory, **payload: Any
    ) -> StoredMemory:
        """Store `after` as a new version and record `memory.update` with this payload."""
        kept = self._store_version(tx, order, stored, after, change=VersionChange.UPDATED)
        self._reindex(tx, stored, kept)
        self._record_event(tx, order, "memory.update", kept, **payload)
        return kept

    def quarantine(self, tx: Tx, order: DoctorOrder, stored: StoredMemory, *, reason: str) -> None:
        """Hide the memory from every read until a writer of its space decides."""
        reasons = tuple(sorted({*stored.suspicion_reasons, reason}))
        stored = replace(stored, suspicion_reasons=reasons)
        after = replace(stored.memory, status=MemoryStatus.QUARANTINED)
        kept = self._store_version(tx, order, stored, after, change=VersionChange.UPDATED)
        self._reindex(tx, stored, kept)
        payload = {"score": kept.suspicion, "reasons": list(reasons)}
        self._record_event(tx, order, "memory.quarantine", kept, **payload)

    def rewrite_snapshots(self, tx: Tx, kept: Iterable[VersionSnapshot]) -> None:
        """Overwrite snapshots of earlier versions. That adds no version: personal data that should
        have been redacted must not stay readable in the history."""
        for one in kept:
            self._stores.doctor.rewrite_snapshot(tx, one)

    def record_rewrite(self, tx: Tx, order: DoctorOrder, stored: StoredMemory) -> None:
        """Record that only the history of the memory was changed."""
        self._record_event(tx, order, "memory.update", stored, fields=["history"])

    def snapshots(self, tx: Tx, memory_id: MemoryId) -> Sequence[VersionSnapshot]:
        """The snapshots of its earlier versions, as they are now."""
        return self._stores.doctor.version_snapshots(tx, [memory_id]).get(memory_id, ())

    def index(self, tx: Tx, stored: StoredMemory) -> None:
        """Write its words to the search index."""
        self._hooks.indexer.write(tx, stored)

    def unindex(self, tx: Tx, memory_id: MemoryId) -> None:
        """Delete its words and its vector from the search index."""
        self._hooks.indexer.drop(tx, memory_id)

    def _store_version(
        self,
        tx: Tx,
        order: DoctorOrder,
        stored: StoredMemory,
        after: Memory,
        *,
        change: VersionChange,
    ) -> StoredMemory:
        at = order.context.now
        after = replace(after, version=stored.memory.version + 1, updated_at=at)
        return self._stores.memories.update(
            tx, stored, after, change=change, by=order.author, at=at
        )

    def _reindex(self, tx: Tx, before: StoredMemory, stored: StoredMemory) -> None:
        memory = stored.memory
        if memory.status is MemoryStatus.QUARANTINED:
            self.unindex(tx, memory.id)
            self._hooks.graph.delete_edges(tx, memory.id)
        else:
            self.index(tx, stored)
            self._hooks.graph.update_edges(tx, before, stored)

    def _record_event(
        self, tx: Tx, order: DoctorOrder, event_type: str, stored: StoredMemory, **payload: Any
    ) -> None:
        memory = stored.memory
        record_memory_event(
            self._audit, tx, order.requester, event_type=event_type, memory=memory, **payload
        )
