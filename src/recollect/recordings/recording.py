"""One recording on this node: its writer, its readers and its state."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field

from recollect.identity.model import Principal
from recollect.kernel.errors import InvalidInput, RecollectError, Unauthenticated
from recollect.kernel.ids import ConversationId, TreeId
from recollect.recordings.model import (
    RecordingChunk,
    RecordingEnd,
    RecordingStatus,
    ReplayCursor,
    ReplayItem,
)
from recollect.recordings.ports import RecordingFile

AccessCheck = Callable[[], Awaitable[None]]
RecordingResult = RecordingStatus | RecollectError


@dataclass(eq=False, slots=True)
class Recording:
    """A recording that runs, or that has ended and is kept for a while.

    `stopped` is the reason if it was stopped from outside; the event `halted` tells the writer.
    `completed` means that the writer said all, `ended` that no more text comes. The event `closed`
    means that another recording of the conversation can begin. `renewed_at` is the loop time of
    the last successful renewal.
    """

    id: str
    conversation_id: ConversationId
    tree_id: TreeId
    principal: Principal
    tape: RecordingFile
    renewed_at: float
    completed: bool = False
    ended: bool = False
    stopped: RecordingResult | None = None
    halted: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    _waiting: set[asyncio.Future[None]] = field(default_factory=set)

    @property
    def status(self) -> RecordingStatus:
        """How it ended, once it has ended."""
        if isinstance(self.stopped, RecordingStatus):
            return self.stopped
        if isinstance(self.stopped, Unauthenticated):
            return RecordingStatus.FORBIDDEN
        done = self.completed and self.stopped is None
        return RecordingStatus.COMPLETED if done else RecordingStatus.INTERRUPTED

    async def append(self, text: str) -> None:
        """Write more text and wake the readers."""
        await self.tape.write(text)
        self._wake_readers()

    def stop(self, why: RecordingResult) -> None:
        """Stop it from outside. The first reason counts, and goes to the writer."""
        if self.stopped is None and not self.ended:
            self.stopped = why
            self.halted.set()

    def end(self) -> None:
        """Mark that no more text will come, and wake the readers."""
        self.ended = True
        self._wake_readers()

    async def follow(
        self, offset: int, check: AccessCheck, *, every: float
    ) -> AsyncGenerator[ReplayItem]:
        """Yield all text from an offset on, until the recording ends, and then how it ended.

        Every `every` seconds `check` is called; it raises if the reader has lost access. If there
        was no text meanwhile, an empty chunk follows as a keep-alive, so that proxies and clients
        do not take a pause for a dead connection.
        """
        loop = asyncio.get_running_loop()
        due = loop.time() + every
        self.tape.acquire()
        try:
            while True:
                # Read the flag before the text. If it was set by then, this read sees the last
                # of the text. The other way round, text that is written between the two would
                # be lost.
                ended = self.ended
                text, offset = await self._read_text(offset)
                if loop.time() >= due:
                    await check()
                    due = loop.time() + every
                    if not text and not ended:
                        yield RecordingChunk("", ReplayCursor(self.id, offset))
                if text:
                    yield RecordingChunk(text, ReplayCursor(self.id, offset))
                elif ended:
                    yield RecordingEnd(self.status)
                    return
                else:
                    await self._wait_for_text(max(0.0, due - loop.time()))
        finally:
            self.tape.release()

    async def _read_text(self, offset: int) -> tuple[str, int]:
        """An invented offset may pass the first check by chance, and turn out wrong later."""
        try:
            return await self.tape.read(offset)
        except ValueError:
            raise InvalidInput("no such position in the recording", field="Last-Event-ID") from None

    async def _wait_for_text(self, seconds: float) -> None:
        """Wait for more text, the end of the recording, or the time-out."""
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.add(waiting)
        try:
            await asyncio.wait((waiting,), timeout=seconds)
        finally:
            self._waiting.discard(waiting)

    def _wake_readers(self) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)
        self._waiting.clear()
