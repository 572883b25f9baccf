"""Record, replay and cancel responses while they are being made.

The text of a recording stays on the node that takes it; the locator tells the others where that is.
A location lives for seconds and is renewed as long as its recording runs, so that of a dead node
vanishes by itself.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import structlog

from recollect.domain.ids import ConversationId, TreeId
from recollect.domain.recordings import (
    Location,
    Piece,
    Place,
    RecordOutcome,
    Tempo,
    location_key,
    tail_key,
)
from recollect.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    LimitExceeded,
    NotFound,
    RecollectError,
    Unavailable,
)
from recollect.policy.actions import Action
from recollect.policy.principals import Principal
from recollect.ports.database import Database, Tx
from recollect.ports.recordings import Locator, Tapes
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services.access import enter
from recollect.services.recording import Recording

CHECK_IDS_MAX = 1_000
_DISABLED = "recording is switched off: set recorder.locators"
_Ending = RecordOutcome | RecollectError
log = structlog.get_logger("recollect.recorder")


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another node has the recording: `host:port`."""

    address: str


@dataclass(frozen=True, slots=True)
class RecorderParts:
    """What a recorder works with. `bytes_max` limits one recording, `keep_seconds` is how long one
    that ended can still be read by those who had begun; no locator is no recorder."""

    locator: Locator | None
    tapes: Tapes
    bytes_max: int
    keep_seconds: float
    tempo: Tempo = field(default_factory=Tempo)


class RecorderService:
    """One node's recordings."""

    def __init__(
        self, database: Database, stores: Stores, runtime: Runtime, parts: RecorderParts
    ) -> None:
        self._database = database
        self._stores = stores
        self._runtime = runtime
        self._parts = parts
        self._running: dict[ConversationId, Recording] = {}
        self._kept: dict[str, Recording] = {}
        self._renewing: asyncio.Task[None] | None = None
        # Where other nodes reach this one; told once it listens.
        self.address = ""

    @property
    def enabled(self) -> bool:
        """Is there a locator?"""
        return self._parts.locator is not None

    async def start(self) -> None:
        """Clean up after an earlier process, and begin to renew."""
        if self.enabled:
            await self._parts.tapes.start()
            self._renewing = asyncio.create_task(self._renew_for_ever())

    async def close(self) -> None:
        """End what runs, and tell those who record and follow."""
        for recording in [*self._running.values()]:
            recording.stop(Unavailable("the server stops"))
        with suppress(TimeoutError):
            async with asyncio.timeout(self._parts.tempo.renewal):
                for recording in [*self._running.values()]:
                    await recording.closed.wait()
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.wait((self._renewing,))
        for recording in [*self._running.values(), *self._kept.values()]:
            recording.end()
            recording.tape.close()
        if self._parts.locator is not None:
            await self._parts.locator.close()

    async def record(
        self, principal: Principal, conversation_id: ConversationId, texts: AsyncIterator[str]
    ) -> RecordOutcome:
        """Take texts until there are no more, or until somebody cancels; Conflict if nothing can
        be recorded here now, LimitExceeded if it grows too long. Whatever ends it, readers get
        what came."""
        tree_id = await self._enter(principal, Action.RECORD, conversation_id)
        if self._parts.locator is None:
            raise Conflict(_DISABLED)
        recording = await self._begin(principal, conversation_id, tree_id, self._parts.locator)
        try:
            outcome = await self._take(recording, texts)
        finally:
            await asyncio.shield(self._finish(recording))
        if isinstance(outcome, RecollectError):
            raise outcome
        return outcome

    async def replay(
        self, principal: Principal, conversation_id: ConversationId, after: Place | None = None
    ) -> AsyncIterator[Piece] | Elsewhere | None:
        """From the beginning, or from behind a place; None if there is nothing to follow."""
        await self._enter(principal, Action.READ, conversation_id)
        here = self._here(conversation_id, after)
        if here is None:
            return await self._elsewhere(conversation_id, after)
        offset = after.offset if after is not None and after.recording_id == here.id else 0
        try:
            await here.tape.read(offset)
        except ValueError:
            message = "no such place in the recording"
            raise InvalidInput(message, field="Last-Event-ID") from None
        return here.follow(
            offset,
            lambda: self._may_follow(principal, conversation_id),
            every=self._parts.tempo.renewal,
        )

    async def cancel(
        self, principal: Principal, conversation_id: ConversationId
    ) -> Elsewhere | None:
        """End the recording; None once it is closed, or if there was none."""
        await self._enter(principal, Action.RECORD, conversation_id)
        if not self.enabled:
            raise Conflict(_DISABLED)
        recording = self._running.get(conversation_id)
        if recording is None:
            return await self._elsewhere(conversation_id, None)
        recording.stop(RecordOutcome.CANCELLED)
        try:
            async with asyncio.timeout(self._parts.tempo.cancel):
                await recording.closed.wait()
        except TimeoutError:
            await self._finish(recording)
        return None

    async def check(
        self, principal: Principal, conversation_ids: Sequence[ConversationId]
    ) -> list[ConversationId]:
        """Which of these are being recorded, of those that the caller may read."""
        if len(conversation_ids) > CHECK_IDS_MAX:
            raise InvalidInput(f"must be at most {CHECK_IDS_MAX} ids", field="conversation_ids")
        if self._parts.locator is None:
            return []
        wanted = dict.fromkeys(conversation_ids)
        readable = await self._database.read(
            lambda tx: [i for i in wanted if self._may(tx, principal, Action.READ, i)]
        )
        found = await self._parts.locator.find(map(location_key, readable))
        return [i for i in readable if location_key(i) in found]

    def forget(self, tree_id: TreeId) -> None:
        """The tree is gone: whoever records in it here is told so. Other nodes see it when they
        renew."""
        for recording in self._running.values():
            if recording.tree_id == tree_id:
                recording.stop(RecordOutcome.CANCELLED)

    async def _begin(
        self,
        principal: Principal,
        conversation_id: ConversationId,
        tree_id: TreeId,
        locator: Locator,
    ) -> Recording:
        recording_id = self._runtime.ids.new()
        location = str(Location(self.address, recording_id))
        key = location_key(conversation_id)
        if not await locator.claim(key, location, self._parts.tempo.lifetime):
            raise Conflict("another recording of this conversation is running")
        try:
            tape = await self._parts.tapes.create(recording_id)
        except RecollectError:
            await locator.release(key, location)
            raise
        recording = Recording(recording_id, conversation_id, tree_id, principal, tape)
        recording.renewed_at = asyncio.get_running_loop().time()
        self._running[conversation_id] = recording
        return recording

    async def _take(self, recording: Recording, texts: AsyncIterator[str]) -> _Ending:
        pump = asyncio.ensure_future(self._pump(recording, texts))
        halted = asyncio.ensure_future(recording.halted.wait())
        try:
            await asyncio.wait((pump, halted), return_when=asyncio.FIRST_COMPLETED)
            if recording.stopped is not None:
                return recording.stopped
            return pump.result()
        finally:
            halted.cancel()
            pump.cancel()
            await asyncio.wait((pump, halted))

    async def _pump(self, recording: Recording, texts: AsyncIterator[str]) -> _Ending:
        async for text in texts:
            if recording.tape.end + len(text) > self._parts.bytes_max:
                return LimitExceeded(
                    f"a recording may have {self._parts.bytes_max} bytes (recorder.max_bytes)"
                )
            if text:
                await recording.append(text)
        return RecordOutcome.SUCCESS

    async def _finish(self, recording: Recording) -> None:
        """Readers get what came; then nothing of it is left but for those who lost their way."""
        if self._running.get(recording.conversation_id) is not recording:
            return
        del self._running[recording.conversation_id]
        recording.end()
        await self._settle_location(recording)
        if self._parts.keep_seconds <= 0:
            recording.tape.close()
            return
        self._kept[recording.id] = recording
        loop = asyncio.get_running_loop()
        loop.call_later(self._parts.keep_seconds, self._drop, recording)

    async def _settle_location(self, recording: Recording) -> None:
        locator = self._parts.locator
        if locator is None:
            return
        location = str(Location(self.address, recording.id))
        try:
            if self._parts.keep_seconds > 0:
                await locator.claim(tail_key(recording.id), location, self._parts.keep_seconds)
            await locator.release(location_key(recording.conversation_id), location)
        except RecollectError:  # it runs out by itself
            log.warning("the location of a recording was not removed", recording_id=recording.id)

    def _drop(self, recording: Recording) -> None:
        self._kept.pop(recording.id, None)
        recording.tape.close()

    def _here(self, conversation_id: ConversationId, after: Place | None) -> Recording | None:
        kept = self._kept.get(after.recording_id) if after is not None else None
        if kept is not None and kept.conversation_id == conversation_id:
            return kept
        return self._running.get(conversation_id)

    async def _elsewhere(
        self, conversation_id: ConversationId, after: Place | None
    ) -> Elsewhere | None:
        if self._parts.locator is None:
            return None
        keys = [location_key(conversation_id)]
        keys += [tail_key(after.recording_id)] if after is not None else []
        found = await self._parts.locator.find(keys)
        for key in reversed(keys):
            location = Location.parse(found.get(key, ""))
            if location is not None and location.address != self.address:
                return Elsewhere(location.address)
        return None

    async def _may_follow(self, principal: Principal, conversation_id: ConversationId) -> None:
        await self._enter(principal, Action.READ, conversation_id)

    async def _enter(
        self, principal: Principal, action: Action, conversation_id: ConversationId
    ) -> TreeId:
        branch = await self._database.read(
            lambda tx: enter(tx, self._stores, principal, action, conversation_id)
        )
        return branch.tree_id

    def _may(
        self, tx: Tx, principal: Principal, action: Action, conversation_id: ConversationId
    ) -> bool:
        try:
            enter(tx, self._stores, principal, action, conversation_id)
        except (Forbidden, NotFound):
            return False
        return True

    async def _renew_for_ever(self) -> None:
        while True:
            await asyncio.sleep(self._parts.tempo.renewal)
            for recording in [*self._running.values()]:
                try:
                    await self._renew(recording)
                except RecollectError:
                    self._bear(recording)

    async def _renew(self, recording: Recording) -> None:
        """Let its location live on, unless it is another's or the one who records may no more."""
        may = await self._database.read(
            lambda tx: self._may(tx, recording.principal, Action.RECORD, recording.conversation_id)
        )
        if not may:
            recording.stop(RecordOutcome.CANCELLED)
        elif await self._hold_location(recording):
            recording.renewed_at = asyncio.get_running_loop().time()
        else:
            recording.stop(Conflict("another recording of this conversation took its place"))

    async def _hold_location(self, recording: Recording) -> bool:
        """One that ran out, on a node that slept, is taken again if nobody else has."""
        locator, lifetime = self._parts.locator, self._parts.tempo.lifetime
        if locator is None:
            return False
        key = location_key(recording.conversation_id)
        location = str(Location(self.address, recording.id))
        return await locator.renew(key, location, lifetime) or await locator.claim(
            key, location, lifetime
        )

    def _bear(self, recording: Recording) -> None:
        """Nobody could be asked. Once the location must have run out, another node may record."""
        silent_for = asyncio.get_running_loop().time() - recording.renewed_at
        if silent_for > self._parts.tempo.lifetime:
            recording.stop(Unavailable("the store of recordings' locations was away too long"))
