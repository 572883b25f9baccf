"""Records responses while they are generated, replays them to readers, and cancels them.

The text of a recording stays on the node that receives it. A locator, shared by all nodes,
finds that node. A location expires after seconds and is renewed while the recording runs, so the
location of a dead node vanishes by itself (see docs/adr/0020).
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import suppress

from recollect.db.context import ServiceContext
from recollect.identity.actions import Action
from recollect.identity.model import Principal
from recollect.kernel.errors import Conflict, RecollectError, Unavailable
from recollect.kernel.ids import ConversationId, TreeId
from recollect.recordings.access import RecordingAccess
from recollect.recordings.ended import EndedRecordings
from recollect.recordings.heartbeat import RecordingHeartbeat
from recollect.recordings.model import (
    RecorderLimits,
    RecordingStatus,
    RecordingTiming,
    ReplayCursor,
    ReplayItem,
)
from recollect.recordings.ports import Locator, RecordingFile, RecordingFiles, RecordingStores
from recollect.recordings.recording import Recording, RecordingResult
from recollect.recordings.registry import RecordingRegistry
from recollect.recordings.replay import RecordingReplayer, RemoteNode
from recollect.recordings.stream_limits import StreamLimits

CHECK_IDS_MAX = 1_000
_DISABLED = "recording is switched off: set recorder.locators"
_SHUTTING_DOWN = "the server is shutting down"
# A cancelled writer gets its answer after this time at the latest, even if the locator hangs.
# Usually the locator answers sooner, and then the writer can start a new recording at once.
_CANCEL_NOTICE_SECONDS = 0.3


class RecorderService:
    """The recordings of this node.

    A conversation has at most one running recording over all nodes: the locator's claim decides.
    A recording ends when its writer is done, when somebody cancels it, when its writer loses
    access, when its location is lost, or when the node stops. Whatever the reason, it is finished
    exactly once, and readers get all text that was written.

    Without a locator recording is disabled. `keep_seconds` is how long readers who had begun a
    recording can still read it after its end.
    """

    def __init__(
        self,
        context: ServiceContext[RecordingStores],
        *,
        locator: Locator | None,
        tapes: RecordingFiles,
        keep_seconds: float,
        timing: RecordingTiming | None = None,
        limits: RecorderLimits | None = None,
    ) -> None:
        limits = limits or RecorderLimits()
        self._runtime = context.runtime
        self._tapes = tapes
        self.timing = timing = timing or RecordingTiming()
        self._keep_seconds = keep_seconds
        self._access = RecordingAccess(context)
        self._stream_limits = StreamLimits(limits.recordings, "recordings")
        self._registry: RecordingRegistry | None = None
        if locator is not None:
            self._registry = RecordingRegistry(
                locator, lifetime=timing.lifetime, keep_seconds=keep_seconds
            )
            self._renewal = RecordingHeartbeat(
                lambda: [*self._running.values()],
                self._access,
                registry=self._registry,
                timing=timing,
            )
        self._running: dict[ConversationId, Recording] = {}
        self._ended = EndedRecordings(keep_seconds, limits.recordings, self._release_ended)
        self._replaying = RecordingReplayer(
            self._running,
            self._ended,
            registry=self._registry,
            access=self._access,
            stream_limits=StreamLimits(limits.replays, "replays"),
            # Slightly more often than a location is renewed, because the check takes time too.
            check_seconds=0.8 * timing.renewal,
        )
        self._background: set[asyncio.Task[None]] = set()
        self._renewing: asyncio.Task[None] | None = None
        self._stopping = False

    @property
    def enabled(self) -> bool:
        """True if a locator is configured."""
        return self._registry is not None

    def set_address(self, address: str) -> None:
        """Set the `host:port` at which other nodes reach this one."""
        if self._registry is not None:
            self._registry.address = address

    async def start(self) -> None:
        """Remove files of an earlier process, and start to renew locations."""
        if self._registry is not None:
            await self._tapes.start()
            self._renewing = asyncio.create_task(self._renewal.run())

    async def close(self) -> None:
        """Stop all recordings, tell their writers and readers, and remove their files.

        Waits for one renewal period at most: locations that can't be released by then expire.
        """
        if self._registry is None or self._stopping:
            return
        self._stopping = True
        # First the writers: each one finishes its own recording, which also ends its readers.
        for recording in self._running.values():
            recording.stop(Unavailable(_SHUTTING_DOWN))
        with suppress(TimeoutError):
            async with asyncio.timeout(self.timing.renewal):
                for recording in [*self._running.values()]:
                    await recording.closed.wait()
                await asyncio.gather(
                    *map(self._registry.release_ended, self._ended), *self._background
                )
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.wait((self._renewing,))
        # What has not finished in time is ended by force, so that no reader hangs and no file
        # stays.
        for recording in self._running.values():
            recording.end()
            recording.tape.close()
        self._ended.clear()
        await self._registry.close()

    async def record(
        self, principal: Principal, conversation_id: ConversationId, texts: AsyncIterator[str]
    ) -> RecordingStatus:
        """Record texts until there are no more, or until the recording is stopped. Returns how it
        ended: completed, cancelled or forbidden.

        Raises Conflict if recording is disabled or another recording of the conversation runs,
        Unavailable over the stream limits, and RecordingFull if it grows too long. Readers get
        what was written before the end in every case.
        """
        branch = await self._access.authorize(principal, Action.RECORD, conversation_id)
        if self._registry is None:
            raise Conflict(_DISABLED)
        with self._stream_limits.reserve(principal.user_id):
            recording = await self._start_recording(
                principal, conversation_id, branch.tree_id, self._registry
            )
            try:
                await self._access.confirm_writer(principal, branch)
                outcome = await self._record_texts(recording, texts)
            finally:
                await self._await_finish(recording)
        if isinstance(outcome, RecollectError):
            raise outcome
        return outcome

    async def replay(
        self,
        principal: Principal,
        conversation_id: ConversationId,
        after: ReplayCursor | None = None,
        *,
        forwarded: bool = False,
    ) -> AsyncIterator[ReplayItem] | RemoteNode | None:
        """Follow a recording from its beginning, or from a cursor on.

        Returns the chunks and the end, the node that has the recording, or None if there is
        nothing to follow. A cursor of a recording that is gone, or of another conversation, is
        ignored: a browser that reconnects would not come back after an error. Raises Unavailable
        over the stream limits. `forwarded` means that another node sent the request here.
        """
        return await self._replaying.replay(principal, conversation_id, after, forwarded=forwarded)

    async def cancel(
        self, principal: Principal, conversation_id: ConversationId
    ) -> RemoteNode | None:
        """End the recording. Returns None once it is closed, or if there was none, and the node
        if another one has it."""
        await self._access.authorize(principal, Action.RECORD, conversation_id)
        if self._registry is None:
            raise Conflict(_DISABLED)
        recording = self._running.get(conversation_id)
        if recording is None:
            return await self._replaying.find_remote(conversation_id)
        recording.stop(RecordingStatus.CANCELLED)
        try:
            async with asyncio.timeout(self.timing.cancel):
                await recording.closed.wait()
        except TimeoutError:
            # The writer's task does not react. Close the recording in its place, so that the next
            # one can begin.
            await self._finish(recording)
        return None

    async def has_left_node(self, conversation_id: ConversationId, elsewhere: RemoteNode) -> bool:
        """Has the recording left that node? False while the locator does not answer."""
        try:
            return await self._replaying.find_remote(conversation_id) != elsewhere
        except Unavailable:
            return False

    async def check(
        self, principal: Principal, conversation_ids: Sequence[ConversationId]
    ) -> list[ConversationId]:
        """Those of the conversations that are being recorded and that the caller may read.
        Callers pass at most `CHECK_IDS_MAX` ids."""
        if self._registry is None:
            return []
        readable = await self._access.filter_readable(principal, conversation_ids)
        return await self._registry.filter_recorded(readable)

    def cancel_for_tree(self, tree_id: TreeId) -> None:
        """Cancel the recordings of a deleted tree on this node. Other nodes notice the deletion
        when they check access at the next renewal."""
        for recording in self._running.values():
            if recording.tree_id == tree_id:
                recording.stop(RecordingStatus.CANCELLED)

    async def _start_recording(
        self,
        principal: Principal,
        conversation_id: ConversationId,
        tree_id: TreeId,
        registry: RecordingRegistry,
    ) -> Recording:
        recording_id = self._runtime.ids.new()
        # Taken before the claim: the location expires no earlier than this time plus its lifetime.
        claimed_at = asyncio.get_running_loop().time()
        try:
            claimed = await registry.claim(conversation_id, recording_id)
            tape = await self._create_file(recording_id) if claimed else None
        except BaseException:
            # The claim may have succeeded even if its answer was lost, or if this task was
            # cancelled before it came. So it is released in any case. Otherwise the conversation
            # could not be recorded until the location expires.
            self._run_in_background(registry.release_with_retry(conversation_id, recording_id))
            raise
        if tape is None:
            raise Conflict("another recording of this conversation is running")
        recording = Recording(recording_id, conversation_id, tree_id, principal, tape, claimed_at)
        self._running[conversation_id] = recording
        return recording

    async def _create_file(self, recording_id: str) -> RecordingFile:
        if self._stopping:
            raise Unavailable(_SHUTTING_DOWN)
        return await self._tapes.create(recording_id)

    async def _record_texts(
        self, recording: Recording, texts: AsyncIterator[str]
    ) -> RecordingResult:
        # The writer may wait for text for minutes, so a stop can't be noticed between texts only.
        # Two tasks race: one that writes, and one that waits for the stop.
        pump = asyncio.ensure_future(self._write_texts(recording, texts))
        halted = asyncio.ensure_future(recording.halted.wait())
        try:
            await asyncio.wait((pump, halted), return_when=asyncio.FIRST_COMPLETED)
            return pump.result() if recording.stopped is None else recording.stopped
        finally:
            halted.cancel()
            pump.cancel()
            # Both have to end before the file is closed. Exceptions of a cancelled writer don't
            # matter, but must be retrieved, or asyncio logs them.
            await asyncio.gather(pump, halted, return_exceptions=True)

    async def _write_texts(
        self, recording: Recording, texts: AsyncIterator[str]
    ) -> RecordingResult:
        async for text in texts:
            # The process may have been suspended for longer than the lifetime. Then another node
            # may have claimed the conversation, and no text may be written before we know.
            if self._renewal.is_expired(recording):
                await self._renewal.renew(recording)
            if recording.stopped is not None:
                return recording.stopped
            if text:
                await recording.append(text)
        recording.completed = True
        return RecordingStatus.COMPLETED

    async def _await_finish(self, recording: Recording) -> None:
        """Finish the recording, also if the caller's task is cancelled meanwhile.

        A cancelled writer waits for a short time only: a locator that hangs must not delay its
        answer. Other writers wait until the location is released.
        """
        finishing = self._run_in_background(self._finish(recording))
        cancelled = recording.stopped is RecordingStatus.CANCELLED
        with suppress(TimeoutError):
            async with asyncio.timeout(_CANCEL_NOTICE_SECONDS if cancelled else None):
                await asyncio.shield(finishing)

    async def _finish(self, recording: Recording) -> None:
        """End the recording, release its location, and keep or remove its text.

        The order matters. `end` wakes the readers, who then read the rest. The location is
        released next, and only then `closed` is set: whoever waits for it may start the next
        recording at once. Readers who are connected can read to the end in any case; a kept
        recording can also be read by those who reconnect.
        """
        # Both the writer and a cancel that timed out come here; there is no await between the
        # check and `end`, so only the first one goes on.
        if recording.ended:
            return
        recording.end()
        keep = self._keep_seconds > 0 and not self._stopping
        try:
            await self._release_location(recording, keep=keep)
        finally:
            # The next recording of this conversation may already be running: it could begin as
            # soon as the location was released, before this task continued.
            if self._running.get(recording.conversation_id) is recording:
                del self._running[recording.conversation_id]
            recording.closed.set()
            if keep:
                self._ended.add(recording)
            else:
                recording.tape.close()

    async def _release_location(self, recording: Recording, *, keep: bool) -> None:
        if self._registry is None:
            return
        place = recording.conversation_id, recording.id
        # If the release failed, the location blocks the conversation until it expires. Retry in
        # the background, so that the writer does not wait for it.
        if not await self._registry.release(*place, keep=keep) and not self._stopping:
            self._run_in_background(self._registry.release_with_retry(*place))

    def _release_ended(self, recording: Recording) -> None:
        if self._registry is not None:
            self._run_in_background(self._registry.release_ended(recording))

    def _run_in_background(self, work: Coroutine[None, None, None]) -> "asyncio.Task[None]":
        """Run it as a task of its own. The reference keeps it from being garbage-collected."""
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task
