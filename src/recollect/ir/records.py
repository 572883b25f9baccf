"""Operations on records, made of the server's services, in terms of entries.

Everything here runs on the loop of the database and raises the errors of the services.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.agents.commands import CompleteRun, RunEnding, StartRun
from recollect.agents.run import Run, RunStatus
from recollect.agents.runs_service import RunService
from recollect.app.embedded import EmbeddedApp
from recollect.db.transaction import Tx
from recollect.http.validation import validate_body
from recollect.identity.requester import Requester
from recollect.ir.entries import MemoryEntry, create_command, patch_command
from recollect.ir.identity import SPACE_KINDS, StoreIdentity
from recollect.kernel.clock import to_text
from recollect.kernel.errors import Forbidden, NotFound, ValidationFailed
from recollect.kernel.ids import AgentId, MemoryId, RunId
from recollect.kernel.retention_rules import MemoryScope
from recollect.kernel.strict_json import text_problem
from recollect.memories.model import (
    OBSERVED_AHEAD_MAX,
    Memory,
    MemoryFilter,
    MemoryKind,
    MemorySource,
    StoredMemory,
    is_expired,
)
from recollect.memories.service import MemoryService
from recollect.retention.cleanup_service import CleanupService
from recollect.retention.commands import ExpireMemories, VacuumMemories
from recollect.search.memories.explain_hit import MemorySearchComponent
from recollect.search.memories.gather import MemorySearchScope
from recollect.search.memories.service import MemorySearchService

_FIXED_FIELDS = ("scope", "agent_slug", "run_id", "key")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFilter:
    """Which records to read; None and empty mean any."""

    scope: MemoryScope | None = None
    agent_slug: str | None = None
    run_id: str | None = None
    key: str | None = None
    tags: tuple[str, ...] = ()
    include_expired: bool = False

    @property
    def is_storable(self) -> bool:
        """False if a text holds characters that can't be stored, so that no record can match."""
        texts = (self.agent_slug, self.run_id, self.key, *self.tags)
        return all(text_problem(text) is None for text in texts if text is not None)


class Records:
    """Operations on records for one identity."""

    def __init__(self, embedded: EmbeddedApp, identity: StoreIdentity) -> None:
        self._embedded = embedded
        self._services = embedded.services
        self._stores = embedded.context.stores
        self._identity = identity

    async def create(self, entry: MemoryEntry) -> StoredMemory:
        """Screen and store an entry. Its TTL and caps count from its own `created_at`: storing an
        old entry now does not make it younger."""
        self._check_age(entry.created_at)
        agent_id = AgentId(entry.agent_slug)
        await self._require_allowed("createMemory", agent_id, entry.run_id)
        writer = await self._identity.writer(agent_id, registers=True)
        written = await self._services[MemoryService].create(
            writer, create_command(entry), source=MemorySource.RUNNER, made_at=entry.created_at
        )
        return written.stored

    async def get(self, memory_id: str) -> StoredMemory | None:
        """The record; None if it is unknown, hidden or expired."""
        if text_problem(memory_id):
            return None
        reader = await self._identity.reader()
        found = await self._embedded.context.database.read(
            lambda tx: self._stores.memories.fetch_visible(
                tx,
                self._identity.viewer_for(tx, reader),
                MemoryId(memory_id),
                self._memory_filter(tx, reader, RecordFilter()),
            )
        )
        return (await self._audit_reads(reader, "getMemory", [found]))[0] if found else None

    async def update(self, entry: MemoryEntry) -> StoredMemory:
        """Replace the fields that may change. NotFound if the record is unknown, hidden or expired;
        Forbidden if it belongs to another agent, or if a later expiry needs an approval."""
        before = await self._find_record(entry.memory_id)
        if before is None or is_expired(
            self._embedded.context.runtime.clock.now(), before.expires_at
        ):
            raise NotFound("memory", entry.memory_id)
        _check_fixed_fields(entry, before)
        writer = await self._identity.writer(_owning_agent_id(before))
        changed = await self._services[MemoryService].update(
            writer, before.id, patch_command(entry, before)
        )
        if changed.approval is not None:
            approval = changed.approval.id
            message = f"a later expiry needs an approval: {approval} is pending, nothing changed"
            raise Forbidden(message)
        return changed.stored

    async def delete(self, memory_id: str) -> bool:
        """Delete the record; True for the one call that did it."""
        before = await self._find_record(memory_id)
        if before is None:
            return False
        writer = await self._identity.writer(_owning_agent_id(before))
        try:
            await self._services[MemoryService].delete(writer, before.id)
        except NotFound:
            # Another call has deleted it since it was read.
            return False
        return True

    async def list(
        self, wanted: RecordFilter, *, limit: int, offset: int
    ) -> Sequence[StoredMemory]:
        """Records, newest first. The store's page has a cursor and no offset, so that the rows of
        the offset are read and dropped."""
        if not wanted.is_storable:
            return []
        reader = await self._identity.reader()
        found = await self._embedded.context.database.scan(
            lambda tx: self._stores.memories.page(
                tx,
                self._identity.viewer_for(tx, reader),
                self._memory_filter(tx, reader, wanted),
                after=None,
                limit=offset + limit,
            )
        )
        return await self._audit_reads(reader, "listMemories", found[offset:])

    async def search(
        self, query: str, wanted: RecordFilter, *, limit: int
    ) -> Sequence[StoredMemory]:
        """Records, best match first. If some have no vector yet, these are made meanwhile, for the
        searches after this one."""
        if not wanted.is_storable:
            return []
        reader = await self._identity.reader()

        scope = await self._embedded.context.database.read(
            lambda tx: MemorySearchScope(
                self._identity.viewer_for(tx, reader), self._memory_filter(tx, reader, wanted)
            )
        )
        found = await self._services[MemorySearchService].best_hits(query, scope, limit=limit)
        if MemorySearchComponent.VECTORS_PENDING in found.degraded:
            self._embedded.make_vectors()
        return await self._audit_reads(
            reader, "searchMemories", [hit.stored for hit in found.items]
        )

    async def expire(self) -> int:
        """Delete expired records; returns how many."""
        await self._require_system("expireMemories")
        done = await self._services[CleanupService].expire(
            ExpireMemories(dry_run=False), await self._identity.reader()
        )
        return done.deleted_count

    async def vacuum(
        self, *, scope: MemoryScope | None, older_than_days: int, dry_run: bool
    ) -> dict[str, Any]:
        """Delete old records; the fields of the server's response."""
        await self._require_system("vacuumMemories")
        command = validate_body(
            {"scope": scope, "older_than_days": older_than_days, "dry_run": dry_run},
            VacuumMemories,
        )
        done = await self._services[CleanupService].vacuum(command, await self._identity.reader())
        return {
            "deleted_count": done.deleted_count,
            "would_delete_count": done.would_delete_count,
            "skipped_count": done.skipped_count,
            "scope": str(scope or "all"),
            "older_than_days": older_than_days,
            "cutoff": to_text(done.cutoff),
            "dry_run": dry_run,
            "backup": done.backup,
        }

    async def start_run(
        self, agent_id: AgentId, run_id: RunId | None, parent_run_id: RunId | None
    ) -> Run:
        """Start a run of the agent. The system may start it under any run."""
        await self._require_allowed("startRun", agent_id, run_id)
        writer = await self._identity.writer(agent_id, registers=True)
        command = validate_body(
            {"agent_id": agent_id, "id": run_id, "parent_run_id": parent_run_id}, StartRun
        )
        return await self._services[RunService].start(
            writer, command, under_any=self._identity.is_system
        )

    async def complete_run(self, run_id: RunId, status: RunStatus) -> Run:
        """Complete a run and delete the records that belong to it alone."""
        run = await self._embedded.context.database.read(
            lambda tx: self._stores.runs.fetch(tx, run_id)
        )
        if run is None:
            raise NotFound("run", run_id)
        writer = await self._identity.writer(run.agent_id)
        done = await self._services[RunService].complete(
            writer, run_id, CompleteRun(status=RunEnding(status))
        )
        return done.run

    async def _find_record(self, memory_id: str) -> Memory | None:
        """The record, if it lies in a space that this identity looks at. Visibility is not asked:
        the services decide whether it may be changed, and answer Forbidden or NotFound."""
        if text_problem(memory_id):
            return None
        reader = await self._identity.reader()

        def work(tx: Tx) -> Memory | None:
            stored = self._stores.memories.fetch(tx, MemoryId(memory_id))
            if stored is None or stored.memory.kind is not MemoryKind.RECORD:
                return None
            space = stored.memory.space
            places = self._identity.searched_spaces(tx, reader)
            here = (space.kind, None) in places or (space.kind, space.id) in places
            return stored.memory if here else None

        return await self._embedded.context.database.read(work)

    def _memory_filter(self, tx: Tx, reader: Requester, wanted: RecordFilter) -> MemoryFilter:
        kind = None if wanted.scope is None else SPACE_KINDS[wanted.scope]
        places = self._identity.searched_spaces(tx, reader)
        return MemoryFilter(
            spaces=tuple(place for place in places if kind in (None, place[0])),
            kind=MemoryKind.RECORD,
            agent_id=None if wanted.agent_slug is None else AgentId(wanted.agent_slug),
            run_id=None if wanted.run_id is None else RunId(wanted.run_id),
            key=wanted.key,
            tags=wanted.tags,
            include_expired=wanted.include_expired,
        )

    async def _audit_reads(
        self, reader: Requester, operation: str, found: Sequence[StoredMemory]
    ) -> Sequence[StoredMemory]:
        """The memories, after their read has been audited."""
        memories = [stored.memory for stored in found]
        await self._embedded.context.reads.record_reads(reader, operation, memories, rule="direct")
        return found

    async def _require_allowed(self, operation: str, agent_id: AgentId, run_id: str | None) -> None:
        reader = await self._identity.reader()
        async with self._embedded.context.audit.audit_refusals(
            reader, operation, agent_id=agent_id, run_id=run_id
        ):
            self._identity.check_write(agent_id, run_id)

    async def _require_system(self, operation: str) -> None:
        reader = await self._identity.reader()
        async with self._embedded.context.audit.audit_refusals(reader, operation):
            if not self._identity.is_system:
                raise Forbidden("this is for the store itself, not for a view of one agent")

    def _check_age(self, created_at: datetime) -> None:
        if created_at - self._embedded.context.runtime.clock.now() > OBSERVED_AHEAD_MAX:
            # Caps on personal data count from `created_at`: a later one would extend them.
            raise ValidationFailed.for_field("created_at", "must not lie in the future")


def _check_fixed_fields(entry: MemoryEntry, before: Memory) -> None:
    fixed = (before.space.scope, before.agent_id, before.run_id, before.key)
    for name, value in zip(_FIXED_FIELDS, fixed, strict=True):
        if getattr(entry, name) != value:
            raise ValidationFailed.for_field(name, "can't be changed; write a new entry")


def _owning_agent_id(memory: Memory) -> AgentId:
    return AgentId(memory.agent_id or "")
