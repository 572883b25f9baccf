"""`MemoryService`: creates, updates, deletes and moves single memories. Batches are `batch.py`,
reads are `read_service.py`."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from recollect.domain.memories import MemoryId, Source, Status
from recollect.domain.retention import RetentionRules
from recollect.policy.requesters import Requester
from recollect.ports.database import Database, Tx
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services.drafts import Members, drafted
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_changes import Changed, MemoryChanges
from recollect.services.memory_moves import Looked, MemoryMoves, Target
from recollect.services.memory_patches import Patch, Patches
from recollect.services.memory_writing import MemoryWriter, WriteStatus, Written
from recollect.services.screening import LONG_CHARS, Screened, Screening

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MemoryParts:
    """What the memory and batch services are built from."""

    rules: RetentionRules
    screening: Screening
    writer: MemoryWriter
    changes: MemoryChanges
    moves: MemoryMoves


class MemoryService:
    """One method for each operation. Sent fields have the names of the API and domain types.

    Parsing and screening run before the transaction, and everything that depends on stored rows
    inside it. Nothing is extracted from a list of messages yet: `extract` has no effect, and no
    write returns `queued`.
    """

    def __init__(
        self,
        database: Database,
        stores: Stores,
        runtime: Runtime,
        audit: MemoryAudit,
        *,
        parts: MemoryParts,
    ) -> None:
        self._database = database
        self._stores = stores
        self._runtime = runtime
        self._audit = audit
        self._rules = parts.rules
        self._screening = parts.screening
        self._patches = Patches(parts.screening)
        self._writer = parts.writer
        self._changes = parts.changes
        self._moves = parts.moves

    async def create(
        self,
        requester: Requester,
        members: Members,
        *,
        source: Source = Source.API,
        reserved_id: str | None = None,
        made_at: datetime | None = None,
    ) -> Written:
        """Write a memory. If an earlier attempt wrote it under `reserved_id`, return that one.

        `made_at` is for a memory that was made before it is stored: its TTLs count from there.
        """
        now = made_at or self._runtime.clock.now()
        agent_id = members.get("agent_id") or members.get("agent_slug")
        async with self._audit.watching(requester, "createMemory", agent_id=agent_id):
            screened = await self.drafted(members, now, source=source, reserved_id=reserved_id)

            def work(tx: Tx) -> Written:
                made = self.made(tx, requester, reserved_id)
                return made or self._writer.write(tx, requester, screened, at=now)

            return await self._database.write(work)

    async def update(self, requester: Requester, memory_id: MemoryId, members: Members) -> Changed:
        """Patch a memory. If the result has an approval, nothing was changed yet."""
        now = self._runtime.clock.now()
        async with self._audit.watching(requester, "updateMemory", memory_id=memory_id):
            patch = await self.patch(requester, memory_id, members=members, now=now)
            return await self._database.write(
                lambda tx: self._changes.update(tx, requester, memory_id, patch=patch, at=now)
            )

    async def delete(self, requester: Requester, memory_id: MemoryId) -> None:
        """Delete it for good. NotFound the second time."""
        now = self._runtime.clock.now()
        async with self._audit.watching(requester, "deleteMemory", memory_id=memory_id):
            await self._database.write(
                lambda tx: self._changes.delete(tx, requester, memory_id, at=now)
            )

    async def move(
        self,
        requester: Requester,
        memory_id: MemoryId,
        members: Members,
        *,
        reserved_id: str | None = None,
    ) -> Written:
        """Move it to another space under a new id, which is `reserved_id` if that is given."""
        now = self._runtime.clock.now()
        target = Target.of(members)
        async with self._audit.watching(requester, "moveMemory", memory_id=memory_id):
            looked = await self._looked(memory_id)
            new_id = None if reserved_id is None else MemoryId(reserved_id)

            def work(tx: Tx) -> Written:
                made = self.made(tx, requester, reserved_id)
                return made or self._moves.move(
                    tx, requester, memory_id, target=target, looked=looked, at=now, new_id=new_id
                )

            return await self._database.write(work)

    async def drafted(
        self,
        members: Members,
        now: datetime,
        *,
        source: Source = Source.API,
        reserved_id: str | None = None,
    ) -> Screened:
        """A screened draft of the sent fields; raises ValidationFailed for the first fault."""
        draft = drafted(members, now, rules=self._rules, source=source)
        if draft.id is None and reserved_id is not None:
            draft = replace(draft, id=MemoryId(reserved_id))
        return await _off_loop_if_long(len(draft.content), lambda: self._screening.screen(draft))

    async def patch(
        self, requester: Requester, memory_id: MemoryId, *, members: Members, now: datetime
    ) -> Patch:
        """A screened patch of the sent fields. One that sets `pii_tags` is checked against the
        stored texts here, outside of the transaction; the update checks again if they changed."""
        size = len(members.get("content") or "")
        patch = await _off_loop_if_long(size, lambda: self._patches.of(members, now))
        if not patch.tells_tags:
            return patch
        told = await self._database.read(
            lambda tx: self._changes.told(tx, requester, memory_id, patch=patch)
        )
        if told is None:
            return patch
        return await _off_loop_if_long(told.chars, lambda: patch.looking_at(told))

    async def _looked(self, memory_id: MemoryId) -> Looked | None:
        stored = await self._database.read(lambda tx: self._stores.memories.fetch(tx, memory_id))
        if stored is None:
            return None
        size = len(stored.memory.content)
        return await _off_loop_if_long(size, lambda: self._moves.look(stored))

    def made(self, tx: Tx, requester: Requester, reserved_id: str | None) -> Written | None:
        """The result of an earlier attempt, if it committed and its answer was lost.

        Only the requester's own row counts: others can't claim it by guessing the id.
        """
        if reserved_id is None:
            return None
        stored = self._stores.memories.fetch(tx, MemoryId(reserved_id))
        if stored is None or stored.written_by != requester.who:
            return None
        aside = stored.memory.status is Status.QUARANTINED
        return Written(stored, WriteStatus.QUARANTINED if aside else WriteStatus.CREATED)


async def _off_loop_if_long(chars: int, look: Callable[[], T]) -> T:
    """Call `look`, on a thread if the text is long: on the event loop all requests would wait."""
    return await asyncio.to_thread(look) if chars > LONG_CHARS else look()
