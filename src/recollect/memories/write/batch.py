"""Batches: many writes, changes and deletions in one call, in one transaction or one each."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.errors import (
    Conflict,
    Internal,
    NotFound,
    RecollectError,
    Unavailable,
)
from recollect.kernel.ids import MemoryId, derive_id
from recollect.memories.commands import (
    BatchItem,
    BatchOp,
    CreateMemory,
    DeleteMemory,
    InvalidBatchItem,
    PatchMemory,
    UpdateItem,
)
from recollect.memories.model import MemorySource
from recollect.memories.service import MemoryService
from recollect.memories.store.bundle import MemoryStores
from recollect.memories.write.changes import MemoryChanges
from recollect.memories.write.warnings import WriteWarning
from recollect.memories.write.writer import MemoryWriter

_OPERATION_NAME = "batchMemories"


@dataclass(frozen=True, slots=True)
class BatchSuccess:
    """An item that succeeded. With `approval_id` its change waits for an approval."""

    index: int
    op: BatchOp
    id: MemoryId
    approval_id: str | None = None
    warnings: tuple[WriteWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class BatchFailure:
    """An item that was refused."""

    index: int
    error: RecollectError


BatchOutcome = BatchSuccess | BatchFailure
_BatchStep = Callable[[Tx], BatchSuccess]


class BatchRefused(RecollectError):
    """An atomic batch was refused because of these items, and nothing was stored."""

    default_code = "validation_error"

    def __init__(self, failures: Sequence[BatchFailure]) -> None:
        super().__init__("an item of the batch was refused")
        self.failures = tuple(failures)


class BatchService:
    """Runs the items of a batch in their order."""

    def __init__(
        self,
        context: ServiceContext[MemoryStores],
        audit: MemoryAudit,
        *,
        memories: MemoryService,
        writer: MemoryWriter,
        changes: MemoryChanges,
    ) -> None:
        self._database = context.database
        self._runtime = context.runtime
        self._audit = audit
        self._memories = memories
        self._writer = writer
        self._changes = changes

    async def run(
        self,
        requester: Requester,
        items: Sequence[BatchItem],
        *,
        atomic: bool = True,
        reserved_id: str | None = None,
    ) -> list[BatchOutcome]:
        """The outcome of each item, in order.

        An atomic batch succeeds as a whole, or raises BatchRefused with every failure and stores
        nothing. Refusals are audited in both modes.

        A retry with the same `reserved_id` does nothing twice. Each item has an id derived from it:
        the id of the memory that it creates, or of the audit event of its change or deletion. So a
        retry finds the memory or the event of the first attempt.
        """
        # Every item is parsed and screened before any transaction begins. A failure there takes the
        # place of the item's step, so outcomes keep the order of the items.
        own = [
            None if reserved_id is None else derive_id(reserved_id, n) for n in range(len(items))
        ]
        steps: list[_BatchStep | BatchFailure] = []
        for index, item in enumerate(items):
            steps.append(
                await self._prepare_or_fail(requester, index, item, reserved_id=own[index])
            )
            # Screening a thousand texts takes long: let other requests run in between.
            await asyncio.sleep(0)
        outcomes = await (self._run_atomic(steps) if atomic else self._run_each(steps))
        failures = [outcome for outcome in outcomes if isinstance(outcome, BatchFailure)]
        for failure in failures:
            await self._audit.record_refusal(requester, _OPERATION_NAME, failure.error)
        if failures and atomic:
            raise BatchRefused(failures)
        return outcomes

    async def _prepare_or_fail(
        self, requester: Requester, index: int, item: BatchItem, *, reserved_id: str | None
    ) -> _BatchStep | BatchFailure:
        """The work of an item for a transaction, or the failure if it can't be prepared."""
        try:
            return await self._prepare(requester, index, item, reserved_id=reserved_id)
        except RecollectError as error:
            return BatchFailure(index, error)

    async def _prepare(
        self, requester: Requester, index: int, item: BatchItem, *, reserved_id: str | None
    ) -> _BatchStep:
        match item:
            case CreateMemory():
                return await self._prepare_create(requester, index, item, reserved_id=reserved_id)
            case UpdateItem(id=memory_id, patch=command):
                return await self._prepare_update(
                    requester, index, memory_id, command=command, event_id=reserved_id
                )
            case DeleteMemory():
                return self._prepare_delete(requester, index, item, event_id=reserved_id)
            case InvalidBatchItem(error):
                raise error

    async def _prepare_create(
        self, requester: Requester, index: int, command: CreateMemory, *, reserved_id: str | None
    ) -> _BatchStep:
        at = self._runtime.clock.now()
        screened = await self._memories.parse_and_screen(
            command, at, source=MemorySource.API, reserved_id=reserved_id, may_divert=False
        )

        def create(tx: Tx) -> BatchSuccess:
            made = self._memories.fetch_reserved(tx, requester, reserved_id)
            written = made or self._writer.write(tx, requester, screened, at=at)
            memory_id, warnings = written.stored.memory.id, written.warnings
            return BatchSuccess(index, BatchOp.CREATE, memory_id, warnings=warnings)

        return create

    async def _prepare_update(
        self,
        requester: Requester,
        index: int,
        memory_id: MemoryId,
        *,
        command: PatchMemory,
        event_id: str | None,
    ) -> _BatchStep:
        at = self._runtime.clock.now()
        patch = await self._memories.parse_patch(requester, memory_id, command=command, now=at)
        patch = replace(patch, event_id=event_id)

        def update(tx: Tx) -> BatchSuccess:
            changed = self._changes.update(tx, requester, memory_id, patch=patch, at=at)
            approval = changed.approval
            return BatchSuccess(index, BatchOp.UPDATE, memory_id, approval.id if approval else None)

        return self._tolerate_repeat(
            update, BatchSuccess(index, BatchOp.UPDATE, memory_id), event_id
        )

    def _prepare_delete(
        self, requester: Requester, index: int, item: DeleteMemory, *, event_id: str | None
    ) -> _BatchStep:
        at, memory_id = self._runtime.clock.now(), MemoryId(item.id)

        def delete(tx: Tx) -> BatchSuccess:
            self._changes.delete(
                tx, requester, memory_id, at=at, version=item.version, event_id=event_id
            )
            return BatchSuccess(index, BatchOp.DELETE, memory_id)

        return self._tolerate_repeat(
            delete, BatchSuccess(index, BatchOp.DELETE, memory_id), event_id
        )

    def _tolerate_repeat(
        self, step: _BatchStep, done: BatchSuccess, event_id: str | None
    ) -> _BatchStep:
        """A step that a retry may repeat.

        After a deletion the row is gone (NotFound), and after an update its version is another one
        (Conflict). If the audit event of the first attempt exists, the step was done and succeeds.
        """

        def work(tx: Tx) -> BatchSuccess:
            try:
                return step(tx)
            except (NotFound, Conflict):
                if event_id is None or not self._audit.has_event(tx, event_id, done.id):
                    raise
                return done

        return work

    async def _run_atomic(self, steps: Sequence[_BatchStep | BatchFailure]) -> list[BatchOutcome]:
        """Run all steps in one transaction. It goes on after a failure, to report all of them, and
        is then rolled back by an exception."""

        # Going on after a refusal is safe on PostgreSQL too: refusals come from checks, never from
        # a failed statement, which would end the transaction there.
        def work(tx: Tx) -> list[BatchOutcome]:
            outcomes = [_run_step(tx, index, step) for index, step in enumerate(steps)]
            if any(isinstance(outcome, BatchFailure) for outcome in outcomes):
                raise _RolledBack(outcomes)
            return outcomes

        try:
            return await self._database.write(work)
        except _RolledBack as rolled_back:
            return rolled_back.outcomes

    async def _run_each(self, steps: Sequence[_BatchStep | BatchFailure]) -> list[BatchOutcome]:
        """Run each step in its own transaction, one after the other: a later item may refer to what
        an earlier one created."""
        outcomes: list[BatchOutcome] = []
        for index, step in enumerate(steps):
            try:
                if isinstance(step, BatchFailure):
                    outcomes.append(step)
                else:
                    outcomes.append(await self._database.write(step))
            except RecollectError as error:
                outcomes.append(BatchFailure(index, error))
        return outcomes


def _run_step(tx: Tx, index: int, step: _BatchStep | BatchFailure) -> BatchOutcome:
    if isinstance(step, BatchFailure):
        return step
    try:
        return step(tx)
    except (Internal, Unavailable):
        # Faults of the server are no result of an item: they end the whole batch.
        raise
    except RecollectError as error:
        return BatchFailure(index, error)


class _RolledBack(Exception):
    """Carries the outcomes out of a transaction that is rolled back."""

    def __init__(self, outcomes: list[BatchOutcome]) -> None:
        super().__init__()
        self.outcomes = outcomes
