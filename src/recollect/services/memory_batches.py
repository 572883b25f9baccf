"""Batches: many writes, changes and deletions in one call, in one transaction or one each."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from recollect.domain.ids import numbered
from recollect.domain.memories import MemoryId, Source
from recollect.errors import Conflict, Internal, NotFound, RecollectError, Unavailable
from recollect.policy.requesters import Requester
from recollect.ports.database import Database, Tx
from recollect.ports.runtime import Runtime
from recollect.services.drafts import Members
from recollect.services.memories import MemoryParts, MemoryService
from recollect.services.memory_audit import MemoryAudit

ITEMS_MAX = 1_000
_OPERATION = "batchMemories"


class Op(StrEnum):
    """The operation of an item."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Creation:
    """An item that writes a memory."""

    members: Members


@dataclass(frozen=True, slots=True)
class Update:
    """An item that changes a memory."""

    id: MemoryId
    members: Members


@dataclass(frozen=True, slots=True)
class Deletion:
    """An item that deletes a memory, if it still has the version that was seen."""

    id: MemoryId
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Broken:
    """An item that could not be parsed. It takes its place in the results."""

    error: RecollectError


Item = Creation | Update | Deletion | Broken


@dataclass(frozen=True, slots=True)
class Done:
    """An item that succeeded. With `approval_id` its change waits for an approval."""

    index: int
    op: Op
    id: MemoryId
    approval_id: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """An item that was refused."""

    index: int
    error: RecollectError


Outcome = Done | Failure
_Step = Callable[[Tx], Done]


class BatchRefused(RecollectError):
    """An atomic batch was refused because of these items, and nothing was stored."""

    default_code = "validation_error"

    def __init__(self, failures: Sequence[Failure]) -> None:
        super().__init__("an item of the batch was refused")
        self.failures = tuple(failures)


class BatchService:
    """Runs the items of a batch in their order."""

    def __init__(
        self,
        database: Database,
        runtime: Runtime,
        audit: MemoryAudit,
        *,
        memories: MemoryService,
        parts: MemoryParts,
    ) -> None:
        self._database = database
        self._runtime = runtime
        self._audit = audit
        self._memories = memories
        self._writer = parts.writer
        self._changes = parts.changes

    async def run(
        self,
        requester: Requester,
        items: Sequence[Item],
        *,
        atomic: bool = True,
        reserved_id: str | None = None,
    ) -> list[Outcome]:
        """The outcome of each item, in order.

        An atomic batch succeeds as a whole, or raises BatchRefused with every failure and stores
        nothing. Refusals are audited in both modes.

        A retry with the same `reserved_id` does nothing twice. Each item has an id derived from it:
        the id of the memory that it creates, or of the audit event of its change or deletion. So a
        retry finds the memory or the event of the first attempt.
        """
        # Every item is parsed and screened before any transaction begins. A failure there takes the
        # place of the item's step, so outcomes keep the order of the items.
        own = [None if reserved_id is None else numbered(reserved_id, n) for n in range(len(items))]
        steps: list[_Step | Failure] = []
        for index, item in enumerate(items):
            steps.append(await self._step(requester, index, item, reserved_id=own[index]))
            # Screening a thousand texts takes long: let other requests run in between.
            await asyncio.sleep(0)
        outcomes = await (self._together(steps) if atomic else self._apart(steps))
        failures = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
        for failure in failures:
            await self._audit.tell_refusal(requester, _OPERATION, failure.error)
        if failures and atomic:
            raise BatchRefused(failures)
        return outcomes

    async def _step(
        self, requester: Requester, index: int, item: Item, *, reserved_id: str | None
    ) -> _Step | Failure:
        """The work of an item for a transaction, or the failure if it can't be prepared."""
        try:
            return await self._prepared(requester, index, item, reserved_id=reserved_id)
        except RecollectError as error:
            return Failure(index, error)

    async def _prepared(
        self, requester: Requester, index: int, item: Item, *, reserved_id: str | None
    ) -> _Step:
        match item:
            case Creation(members):
                return await self._creation(requester, index, members, reserved_id=reserved_id)
            case Update(id=memory_id, members=members):
                return await self._update(
                    requester, index, memory_id, members=members, event_id=reserved_id
                )
            case Deletion():
                return self._deletion(requester, index, item, event_id=reserved_id)
            case Broken(error):
                raise error

    async def _creation(
        self, requester: Requester, index: int, members: Members, *, reserved_id: str | None
    ) -> _Step:
        at = self._runtime.clock.now()
        screened = await self._memories.drafted(
            members, at, source=Source.API, reserved_id=reserved_id
        )

        def create(tx: Tx) -> Done:
            made = self._memories.made(tx, requester, reserved_id)
            written = made or self._writer.write(tx, requester, screened, at=at)
            return Done(index, Op.CREATE, written.stored.memory.id)

        return create

    async def _update(
        self,
        requester: Requester,
        index: int,
        memory_id: MemoryId,
        *,
        members: Members,
        event_id: str | None,
    ) -> _Step:
        at = self._runtime.clock.now()
        patch = await self._memories.patch(requester, memory_id, members=members, now=at)
        patch = replace(patch, event_id=event_id)

        def update(tx: Tx) -> Done:
            changed = self._changes.update(tx, requester, memory_id, patch=patch, at=at)
            approval = changed.approval
            return Done(index, Op.UPDATE, memory_id, approval.id if approval else None)

        return self._once(update, Done(index, Op.UPDATE, memory_id), event_id)

    def _deletion(
        self, requester: Requester, index: int, item: Deletion, *, event_id: str | None
    ) -> _Step:
        at = self._runtime.clock.now()

        def delete(tx: Tx) -> Done:
            self._changes.delete(
                tx, requester, item.id, at=at, version=item.version, event_id=event_id
            )
            return Done(index, Op.DELETE, item.id)

        return self._once(delete, Done(index, Op.DELETE, item.id), event_id)

    def _once(self, step: _Step, done: Done, event_id: str | None) -> _Step:
        """A step that a retry may repeat.

        After a deletion the row is gone (NotFound), and after an update its version is another one
        (Conflict). If the audit event of the first attempt exists, the step was done and succeeds.
        """

        def work(tx: Tx) -> Done:
            try:
                return step(tx)
            except (NotFound, Conflict):
                if event_id is None or not self._audit.told(tx, event_id, done.id):
                    raise
                return done

        return work

    async def _together(self, steps: Sequence[_Step | Failure]) -> list[Outcome]:
        """Run all steps in one transaction. It goes on after a failure, to report all of them, and
        is then rolled back by an exception."""

        # Going on after a refusal is safe on PostgreSQL too: refusals come from checks, never from
        # a failed statement, which would end the transaction there.
        def work(tx: Tx) -> list[Outcome]:
            outcomes = [_outcome(tx, index, step) for index, step in enumerate(steps)]
            if any(isinstance(outcome, Failure) for outcome in outcomes):
                raise _RolledBack(outcomes)
            return outcomes

        try:
            return await self._database.write(work)
        except _RolledBack as rolled_back:
            return rolled_back.outcomes

    async def _apart(self, steps: Sequence[_Step | Failure]) -> list[Outcome]:
        """Run each step in its own transaction, one after the other: a later item may refer to what
        an earlier one created."""
        outcomes: list[Outcome] = []
        for index, step in enumerate(steps):
            try:
                if isinstance(step, Failure):
                    outcomes.append(step)
                else:
                    outcomes.append(await self._database.write(step))
            except RecollectError as error:
                outcomes.append(Failure(index, error))
        return outcomes


def _outcome(tx: Tx, index: int, step: _Step | Failure) -> Outcome:
    if isinstance(step, Failure):
        return step
    try:
        return step(tx)
    except (Internal, Unavailable):
        # Faults of the server are no result of an item: they end the whole batch.
        raise
    except RecollectError as error:
        return Failure(index, error)


class _RolledBack(Exception):
    """Carries the outcomes out of a transaction that is rolled back."""

    def __init__(self, outcomes: list[Outcome]) -> None:
        super().__init__()
        self.outcomes = outcomes
