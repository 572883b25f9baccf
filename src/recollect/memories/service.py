"""`MemoryService`: creates, updates, deletes and moves single memories.

Batches are in `memories/write/batch.py`, reads in `memories/read/service.py`.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.ids import MemoryId
from recollect.memories.commands import CreateMemory, MoveMemory, PatchMemory
from recollect.memories.model import MemorySource, MemoryStatus
from recollect.memories.store.bundle import MemoryStores
from recollect.memories.write.changes import MemoryChanges, MemoryUpdateResult
from recollect.memories.write.draft import parse_memory
from recollect.memories.write.move import MemoryMoves, ScreenedVersion, check_move
from recollect.memories.write.patch import PatchParser, ScreenedPatch
from recollect.memories.write.screen import (
    LONG_CHARS,
    ScreenedDraft,
    ScreeningService,
)
from recollect.memories.write.visibility_rules import VisibilityRules
from recollect.memories.write.wait import WriteWaiter, check_wait
from recollect.memories.write.writer import (
    MemoryWriter,
    MemoryWriteResult,
    WriteStatus,
)

T = TypeVar("T")


class MemoryService:
    """One method for each operation.

    Parsing and screening run before the transaction, and everything that depends on stored rows
    inside it. Nothing is extracted from a list of messages yet: `extract` has no effect, and no
    write returns `queued`.
    """

    def __init__(
        self,
        context: ServiceContext[MemoryStores],
        audit: MemoryAudit,
        *,
        screening: ScreeningService,
        visibility: VisibilityRules,
        writer: MemoryWriter,
        changes: MemoryChanges,
        moves: MemoryMoves,
        waiter: WriteWaiter,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._audit = audit
        self._rules = context.rules
        self._screening = screening
        self._visibility = visibility
        self._patches = PatchParser(screening)
        self._writer = writer
        self._changes = changes
        self._moves = moves
        self._waiter = waiter

    async def create(
        self,
        requester: Requester,
        command: CreateMemory,
        *,
        source: MemorySource = MemorySource.API,
        reserved_id: str | None = None,
        made_at: datetime | None = None,
    ) -> MemoryWriteResult:
        """Write a memory, and wait for what it queues if the command says so. If an earlier attempt
        wrote it under `reserved_id`, return that one.

        `made_at` is for a memory that was made before it is stored: its TTLs count from there.
        """
        now = made_at or self._runtime.clock.now()
        agent_id = command.agent_id or command.agent_slug
        async with self._audit.audit_refusals(requester, "createMemory", agent_id=agent_id):
            check_wait(command)
            screened = await self.parse_and_screen(
                command, now, source=source, reserved_id=reserved_id
            )

            def work(tx: Tx) -> MemoryWriteResult:
                made = self.fetch_reserved(tx, requester, reserved_id)
                return made or self._writer.write(tx, requester, screened, at=now)

            written = await self._database.write(work)
        return await self._waiter.wait(written, command)

    async def update(
        self, requester: Requester, memory_id: MemoryId, command: PatchMemory
    ) -> MemoryUpdateResult:
        """Patch a memory. If the result has an approval, nothing was changed yet."""
        now = self._runtime.clock.now()
        async with self._audit.audit_refusals(requester, "updateMemory", memory_id=memory_id):
            patch = await self.parse_patch(requester, memory_id, command=command, now=now)
            return await self._database.write(
                lambda tx: self._changes.update(tx, requester, memory_id, patch=patch, at=now)
            )

    async def delete(self, requester: Requester, memory_id: MemoryId) -> None:
        """Delete it for good. NotFound the second time."""
        now = self._runtime.clock.now()
        async with self._audit.audit_refusals(requester, "deleteMemory", memory_id=memory_id):
            await self._database.write(
                lambda tx: self._changes.delete(tx, requester, memory_id, at=now)
            )

    async def move(
        self,
        requester: Requester,
        memory_id: MemoryId,
        command: MoveMemory,
        *,
        reserved_id: str | None = None,
    ) -> MemoryWriteResult:
        """Move it to another space under a new id, which is `reserved_id` if that is given."""
        now = self._runtime.clock.now()
        check_move(command)
        async with self._audit.audit_refusals(requester, "moveMemory", memory_id=memory_id):
            screened = await self._screen_stored(memory_id)
            new_id = None if reserved_id is None else MemoryId(reserved_id)

            def work(tx: Tx) -> MemoryWriteResult:
                made = self.fetch_reserved(tx, requester, reserved_id)
                return made or self._moves.move(
                    tx,
                    requester,
                    memory_id,
                    command=command,
                    screened=screened,
                    at=now,
                    new_id=new_id,
                )

            return await self._database.write(work)

    async def parse_and_screen(
        self,
        command: CreateMemory,
        now: datetime,
        *,
        source: MemorySource = MemorySource.API,
        reserved_id: str | None = None,
        may_divert: bool = True,
    ) -> ScreenedDraft:
        """The screened draft of a command; raises ValidationFailed for the first fault."""
        draft = parse_memory(command, now, rules=self._rules, source=source)
        if draft.id is None and reserved_id is not None:
            draft = replace(draft, id=MemoryId(reserved_id))
        draft = replace(draft, may_divert=may_divert)
        # The rules look for words of what was sent, some of which screening may redact.
        return await _run_off_loop_if_long(
            len(draft.content), lambda: self._screening.screen(self._visibility.apply(draft))
        )

    async def parse_patch(
        self, requester: Requester, memory_id: MemoryId, *, command: PatchMemory, now: datetime
    ) -> ScreenedPatch:
        """The screened patch of a command. One that sets `pii_tags` is checked against the
        stored texts here, outside of the transaction; the update checks again if they changed."""
        size = len(command.content or "")
        patch = await _run_off_loop_if_long(size, lambda: self._patches.parse(command, now))
        if not patch.sets_pii_tags:
            return patch
        previous = await self._database.read(
            lambda tx: self._changes.load_previous_text(tx, requester, memory_id, patch=patch)
        )
        if previous is None:
            return patch
        return await _run_off_loop_if_long(
            previous.chars, lambda: patch.with_detected_tags(previous)
        )

    async def _screen_stored(self, memory_id: MemoryId) -> ScreenedVersion | None:
        stored = await self._database.read(lambda tx: self._stores.memories.fetch(tx, memory_id))
        if stored is None:
            return None
        size = len(stored.memory.content)
        return await _run_off_loop_if_long(size, lambda: self._moves.screen_stored(stored))

    def fetch_reserved(
        self, tx: Tx, requester: Requester, reserved_id: str | None
    ) -> MemoryWriteResult | None:
        """The result of an earlier attempt, if it committed and its answer was lost.

        Only the requester's own row counts: others can't claim it by guessing the id.
        """
        if reserved_id is None:
            return None
        stored = self._stores.memories.fetch(tx, MemoryId(reserved_id))
        if stored is None or stored.written_by != requester.identity:
            return None
        aside = stored.memory.status is MemoryStatus.QUARANTINED
        return MemoryWriteResult(stored, WriteStatus.QUARANTINED if aside else WriteStatus.CREATED)


async def _run_off_loop_if_long(chars: int, call: Callable[[], T]) -> T:
    """Call `call`, on a thread if the text is long: on the event loop all requests would wait."""
    return await asyncio.to_thread(call) if chars > LONG_CHARS else call()
