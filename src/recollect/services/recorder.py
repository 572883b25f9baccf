"""Record, replay and cancel responses while they are being made.

The text of a recording stays on the node that takes it; the locator tells the others where that is.
A location lives for seconds and is renewed as long as its recording runs, so that of a dead node
vanishes by itself.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from recollect.domain.ids import ConversationId, TreeId
from recollect.domain.recordings import Piece, Place, RecorderLimits, RecordOutcome, Tempo
from recollect.errors import Conflict, RecollectError, Unavailable
from recollect.policy.actions import Action
from recollect.policy.principals import Principal
from recollect.ports.database import Database
from recollect.ports.recordings import Locator, Tape, Tapes
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services.recording import Ending, Recording
from recollect.services.recording_access import RecordingAccess
from recollect.services.recording_places import RecordingPlaces
from recollect.services.recording_renewal import Renewal
from recollect.services.recording_seats import Seats
from recollect.services.recording_shelf import Shelf
from recollect.services.replaying import Elsewhere, Replaying

CHECK_IDS_MAX = 1_000
_DISABLED = "recording is switched off: set recorder.locators"
_STOPS = "the server stops"
# Who is cancelled hears of it by then, also if the store of locations hangs. Mostly it answers
# sooner, and whoever is told can begin again.
_AT_ONCE_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class RecorderParts:
    """What a recorder works with. `keep_seconds` is how long a recording that ended can still be
    read by those who had begun; no locator is no recorder."""

    locator: Locator | None
    tapes: Tapes
    keep_seconds: float
    tempo: Tempo = field(default_factory=Tempo)
    limits: RecorderLimits = field(default_factory=RecorderLimits)


class RecorderService:
    """One node's recordings."""

    def __init__(
        self, database: Database, stores: Stores, runtime: Runtime, parts: RecorderParts
    ) -> None:
        self._runtime = runtime
        self._tapes = parts.tapes
        self.tempo = parts.tempo
        self._keep_seconds = parts.keep_seconds
        self._access = RecordingAccess(database, stores, runtime.clock)
        self._seats = Seats(parts.limits.recordings, "recordings")
        self._places: RecordingPlaces | None = None
        if parts.locator is not None:
            self._places = RecordingPlaces(
                parts.locator, lifetime=parts.tempo.lifetime, keep_seconds=parts.keep_seconds
            )
            self._renewal = Renewal(
                lambda: [*self._running.values()],
                self._access,
                places=self._places,
                tempo=parts.tempo,
            )
        self._running: dict[ConversationId, Recording] = {}
        self._shelf = Shelf(parts.keep_seconds, parts.limits.recordings, self._forget_kept)
        self._replaying = Replaying(
            self._running,
            self._shelf,
            places=self._places,
            access=self._access,
            seats=Seats(parts.limits.replays, "replays"),
            # A little more often than it has to be: to ask takes time too.
            check_seconds=0.8 * parts.tempo.renewal,
        )
        self._background: set[asyncio.Task[None]] = set()
        self._renewing: asyncio.Task[None] | None = None
        self._stopping = False

    @property
    def enabled(self) -> bool:
        """Is there a locator?"""
        return self._places is not None

    def listens_on(self, address: str) -> None:
        """Where other nodes reach this one."""
        if self._places is not None:
            self._places.address = address

    async def start(self) -> None:
        """Clean up after an earlier process, and begin to renew."""
        if self._places is not None:
            await self._tapes.start()
            self._renewing = asyncio.create_task(self._renewal.run())

    async def close(self) -> None:
        """End what runs, and tell those who record and follow. Nothing is left of it."""
        if self._places is None or self._stopping:
            return
        self._stopping = True
        for recording in self._running.values():
            recording.stop(Unavailable(_STOPS))
        with suppress(TimeoutError):
            async with asyncio.timeout(self.tempo.renewal):
                for recording in [*self._running.values()]:
                    await recording.closed.wait()
                await asyncio.gather(*map(self._places.forget, self._shelf), *self._background)
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.wait((self._renewing,))
        for recording in self._running.values():
            recording.end()
            recording.tape.close()
        self._shelf.clear()
        await self._places.close()

    async def record(
        self, principal: Principal, conversation_id: ConversationId, texts: AsyncIterator[str]
    ) -> RecordOutcome:
        """Take texts until there are no more, or until somebody cancels; Conflict if nothing can
        be recorded here now, Unavailable if too many are, RecordingFull if it grows too long.
        Whatever ends it, readers get what came."""
        tree_id = await self._access.enter(principal, Action.RECORD, conversation_id)
        if self._places is None:
            raise Conflict(_DISABLED)
        with self._seats.taken(principal.user_id):
            recording = await self._begin(principal, conversation_id, tree_id, self._places)
            try:
                outcome = await self._take(recording, texts)
            finally:
                await self._finished(recording)
        if isinstance(outcome, RecollectError):
            raise outcome
        return outcome

    async def replay(
        self,
        principal: Principal,
        conversation_id: ConversationId,
        after: Place | None = None,
        *,
        forwarded: bool = False,
    ) -> AsyncIterator[Piece] | Elsewhere | None:
        """From the beginning, or from behind a place; None if there is nothing to follow. A place
        in what is gone, or was never of this conversation, counts as none. Unavailable if too many
        follow. `forwarded` means that another node sent the caller here."""
        return await self._replaying.replay(principal, conversation_id, after, forwarded=forwarded)

    async def cancel(
        self, principal: Principal, conversation_id: ConversationId
    ) -> Elsewhere | None:
        """End the recording; None once it is closed, or if there was none."""
        await self._access.enter(principal, Action.RECORD, conversation_id)
        if self._places is None:
            raise Conflict(_DISABLED)
        recording = self._running.get(conversation_id)
        if recording is None:
            return await self._replaying.elsewhere(conversation_id)
        recording.stop(RecordOutcome.CANCELLED)
        try:
            async with asyncio.timeout(self.tempo.cancel):
                await recording.closed.wait()
        except TimeoutError:
            await self._finish(recording)
        return None

    async def is_gone(self, conversation_id: ConversationId, elsewhere: Elsewhere) -> bool:
        """Has a recording left the node where it was? False as long as nobody can say."""
        try:
            return await self._replaying.elsewhere(conversation_id) != elsewhere
        except Unavailable:
            return False

    async def check(
        self, principal: Principal, conversation_ids: Sequence[ConversationId]
    ) -> list[ConversationId]:
        """Which of these are being recorded, of those that the caller may read; `CHECK_IDS_MAX` at
        most."""
        if self._places is None:
            return []
        readable = await self._access.readable(principal, conversation_ids)
        return await self._places.taken(readable)

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
        places: RecordingPlaces,
    ) -> Recording:
        recording_id = self._runtime.ids.new()
        asked_at = asyncio.get_running_loop().time()
        try:
            claimed = await places.claim(conversation_id, recording_id)
            tape = await self._tape(recording_id) if claimed else None
        except BaseException:
            # Also where nobody knows whether it was claimed: the answer was lost, or not awaited.
            self._in_background(places.withdraw(conversation_id, recording_id))
            raise
        if tape is None:
            raise Conflict("another recording of this conversation is running")
        recording = Recording(recording_id, conversation_id, tree_id, principal, tape, asked_at)
        self._running[conversation_id] = recording
        return recording

    async def _tape(self, recording_id: str) -> Tape:
        if self._stopping:
            raise Unavailable(_STOPS)
        return await self._tapes.create(recording_id)

    async def _take(self, recording: Recording, texts: AsyncIterator[str]) -> Ending:
        pump = asyncio.ensure_future(self._pump(recording, texts))
        halted = asyncio.ensure_future(recording.halted.wait())
        try:
            await asyncio.wait((pump, halted), return_when=asyncio.FIRST_COMPLETED)
            return pump.result() if recording.stopped is None else recording.stopped
        finally:
            halted.cancel()
            pump.cancel()
            # What the one raised who was stopped is of no interest, but has to be looked at.
            await asyncio.gather(pump, halted, return_exceptions=True)

    async def _pump(self, recording: Recording, texts: AsyncIterator[str]) -> Ending:
        async for text in texts:
            if self._renewal.is_over(recording):  # this process slept
                await self._renewal.renew(recording)
            if recording.stopped is not None:
                return recording.stopped
            if text:
                await recording.append(text)
        return RecordOutcome.SUCCESS

    async def _finished(self, recording: Recording) -> None:
        """It goes on also if nobody waits. A store of locations that hangs keeps nobody from being
        told of a cancel."""
        finishing = self._in_background(self._finish(recording))
        cancelled = recording.stopped is RecordOutcome.CANCELLED
        with suppress(TimeoutError):
            async with asyncio.timeout(_AT_ONCE_SECONDS if cancelled else None):
                await asyncio.shield(finishing)

    async def _finish(self, recording: Recording) -> None:
        """Readers get what came; then nothing of it is left but for those who lost their way."""
        if recording.ended:
            return
        recording.end()
        keep = self._keep_seconds > 0 and not self._stopping
        try:
            await self._leave(recording, keep=keep)
        finally:
            # The next one may be there already: its place was free before we came back here.
            if self._running.get(recording.conversation_id) is recording:
                del self._running[recording.conversation_id]
            recording.closed.set()
            if keep:
                self._shelf.put(recording)
            else:
                recording.tape.close()

    async def _leave(self, recording: Recording, *, keep: bool) -> None:
        if self._places is None:
            return
        place = recording.conversation_id, recording.id
        if not await self._places.leave(*place, keep=keep) and not self._stopping:
            self._in_background(self._places.withdraw(*place))

    def _forget_kept(self, recording: Recording) -> None:
        if self._places is not None:
            self._in_background(self._places.forget(recording))

    def _in_background(self, work: Coroutine[None, None, None]) -> "asyncio.Task[None]":
        """Done even if nobody waits for it."""
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task
