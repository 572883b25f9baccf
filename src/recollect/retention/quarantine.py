"""Quarantine: memories whose text looks like prompt injection are listed, released or rejected by
those who may write their space, or by an admin."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from recollect.audit.gate import AdminGate
from recollect.audit.memory_recorder import MemoryAudit, memory_payload
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.errors import Conflict, NotFound
from recollect.kernel.ids import MemoryId
from recollect.kernel.open_spaces import check_content_fits
from recollect.kernel.pages import Page, decode_key, encode_key
from recollect.memories.filters import MemoryFilters
from recollect.memories.model import (
    MemoryStatus,
    Sensitivity,
    StoredMemory,
    TrustLevel,
    VersionChange,
    is_expired,
)
from recollect.memories.read.resolve_filters import resolve_filter
from recollect.memories.supersede.explicit import build_successor
from recollect.memories.supersede.pending import PendingSupersedes
from recollect.memories.write.writer import WriteHooks
from recollect.memories.write_access import MemoryWriteAccess
from recollect.retention.commands import DecideQuarantine
from recollect.retention.store_bundle import RetentionStores
from recollect.screening.secret_check import refuse_secrets
from recollect.visibility.viewer import Viewer
from recollect.visibility.viewers import ViewerFactory

_LIST = "quarantine"
_ADMIN_REASON = "an admin looks after what is quarantined"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class QuarantinePage:
    """A page of quarantined rows, and the time they were read at."""

    page: Page[StoredMemory]
    now: datetime


class QuarantineService:
    """Writers of a space handle its rows, an admin all. For others the rows don't exist."""

    def __init__(
        self,
        context: ServiceContext[RetentionStores],
        audit: MemoryAudit,
        *,
        access: MemoryWriteAccess,
        viewers: ViewerFactory,
        hooks: WriteHooks,
        gate: AdminGate,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._audit = audit
        self._access = access
        self._viewers = viewers
        self._hooks = hooks
        self._gate = gate
        self._supersedes = PendingSupersedes(context.stores, audit)

    async def list(
        self, requester: Requester, filters: MemoryFilters, *, after: str | None, limit: int
    ) -> QuarantinePage:
        """Newest first."""
        last = decode_key(_LIST, after) if after else None

        def work(tx: Tx) -> QuarantinePage:
            viewer = self._viewer(tx, requester)
            known_to = None if requester.is_admin else requester
            resolved = resolve_filter(tx, self._stores, filters, known_to=known_to)
            found = self._stores.quarantine.list_quarantined(
                tx,
                viewer,
                replace(resolved, statuses=(MemoryStatus.QUARANTINED,)),
                after=last,
                limit=limit + 1,
            )
            page = found[:limit]
            cursor = None
            if len(found) > limit:
                end = page[-1].memory
                cursor = encode_key(_LIST, end.created_at, end.id)
            return QuarantinePage(Page(page, cursor), viewer.now)

        return await self._database.read(work)

    async def release(
        self, requester: Requester, memory_id: MemoryId, command: DecideQuarantine
    ) -> tuple[StoredMemory, datetime]:
        """Make the memory active, with trust `unknown`: its author may mean to deceive.

        What the write wanted to supersede is superseded now, if it has not changed since. Raises
        an error and changes nothing if the space does not take such content (such as critical
        personal data in a public space); Conflict unless it is quarantined.
        """

        def work(tx: Tx, now: datetime) -> tuple[StoredMemory, datetime]:
            before = self._fetch_quarantined(tx, requester, memory_id, now)
            memory = before.memory
            check_content_fits(
                memory.space.kind,
                public=memory.sensitivity is Sensitivity.PUBLIC,
                risk=self._audit.rules.highest_risk(memory.pii_tags),
            )
            # What the write wanted to supersede, as far as it still may; the others lose their
            # link. So `predecessors` is read after this, and gives what remains.
            olds = self._supersedes.applicable(tx, before.memory, now=now)
            replaced = self._stores.memories.predecessors(tx, [memory_id])
            after = replace(
                build_successor(before, olds).memory if olds else before.memory,
                supersedes=tuple(replaced.get(memory_id, ())),
                status=MemoryStatus.ACTIVE,
                trust=TrustLevel.UNKNOWN,
                version=before.memory.version + 1,
                updated_at=now,
            )
            by = requester.identity
            stored = self._stores.memories.update(
                tx, before, after, change=VersionChange.UPDATED, by=by, at=now
            )
            self._supersedes.apply(tx, requester, after, olds=olds, now=now)
            self._hooks.indexer.write(tx, stored)
            self._hooks.graph.write_edges(tx, stored)
            self._record_event(tx, requester, "memory.release", stored=stored, note=command.note)
            return stored, now

        return await self._run_decision(
            requester, "releaseMemory", memory_id, note=command.note, work=work
        )

    async def reject(
        self, requester: Requester, memory_id: MemoryId, command: DecideQuarantine
    ) -> None:
        """Delete the memory. Conflict unless it is quarantined."""

        def work(tx: Tx, now: datetime) -> None:
            stored = self._fetch_quarantined(tx, requester, memory_id, now)
            # Cut the links first: a deleted memory must not appear as successor in a history.
            self._supersedes.discard_all(tx, stored.memory)
            self._stores.memories.delete(tx, memory_id, at=now)
            self._record_event(tx, requester, "memory.reject", stored=stored, note=command.note)

        await self._run_decision(requester, "rejectMemory", memory_id, note=command.note, work=work)

    async def _run_decision(
        self,
        requester: Requester,
        operation: str,
        memory_id: MemoryId,
        *,
        note: str | None,
        work: Callable[[Tx, datetime], T],
    ) -> T:
        now = self._runtime.clock.now()
        async with self._audit.audit_refusals(requester, operation, memory_id=memory_id):
            # Before anything is written: the note goes into the audit log.
            refuse_secrets(note=note)
            await self._gate.admit(requester, operation, note)
            return await self._database.write(lambda tx: work(tx, now))

    def _viewer(self, tx: Tx, requester: Requester) -> Viewer:
        if requester.is_admin:
            return Viewer.for_system(_ADMIN_REASON, self._runtime.clock.now())
        return self._viewers.viewer_for(tx, requester)

    def _fetch_quarantined(
        self, tx: Tx, requester: Requester, memory_id: MemoryId, now: datetime
    ) -> StoredMemory:
        """The locked row. NotFound or Forbidden if the caller may not write it, NotFound if it has
        expired, Conflict if it is not quarantined."""
        stored = self._fetch_for_admin(tx, memory_id) if requester.is_admin else None
        if stored is None:
            stored = self._access.lock_for_change(tx, requester, memory_id)
        if is_expired(now, stored.memory.expires_at):
            raise NotFound("memory", memory_id)
        if stored.memory.status is not MemoryStatus.QUARANTINED:
            message = f"the memory is {stored.memory.status}; only a quarantined one can be decided"
            raise Conflict(message, details={"reason": "wrong_state"})
        return stored

    def _fetch_for_admin(self, tx: Tx, memory_id: MemoryId) -> StoredMemory | None:
        """Any row but one that is being erased."""
        stored = self._stores.memories.fetch(tx, memory_id, lock=True)
        return None if stored is None or stored.erasure_id is not None else stored

    def _record_event(
        self,
        tx: Tx,
        requester: Requester,
        event_type: str,
        *,
        stored: StoredMemory,
        note: str | None,
    ) -> None:
        memory = stored.memory
        self._audit.record(
            tx,
            requester,
            event_type,
            space=memory.space,
            payload=memory_payload(memory, self._audit.rules),
            memory_id=memory.id,
            agent_id=memory.agent_id,
            run_id=memory.run_id,
            justification=note,
        )
