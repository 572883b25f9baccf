"""A recording that runs on this node, and those who follow it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field

from recollect.domain.ids import ConversationId, TreeId
from recollect.domain.recordings import Piece, Place, RecordOutcome
from recollect.errors import InvalidInput, RecollectError
from recollect.policy.principals import Principal
from recollect.ports.recordings import Tape

Check = Callable[[], Awaitable[None]]
Ending = RecordOutcome | RecollectError


@dataclass(eq=False, slots=True)
class Recording:
    """One that runs, or has ended and is kept for a while.

    `stopped` is why it was ended from outside; who records hears of it through `halted`. `ended`
    means that no more text comes, `closed` that another recording can begin in its place.
    """

    id: str
    conversation_id: ConversationId
    tree_id: TreeId
    principal: Principal
    tape: Tape
    renewed_at: float
    ended: bool = False
    stopped: Ending | None = None
    halted: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    _waiting: set[asyncio.Future[None]] = field(default_factory=set)

    async def append(self, text: str) -> None:
        """Some more text; followers are woken."""
        await self.tape.write(text)
        self._wake()

    def stop(self, why: Ending) -> None:
        """End it from outside: who records is told why."""
        if self.stopped is None and not self.ended:
            self.stopped = why
            self.halted.set()

    def end(self) -> None:
        """No more text will come."""
        self.ended = True
        self._wake()

    async def follow(self, offset: int, check: Check, *, every: float) -> AsyncGenerator[Piece]:
        """All text from an offset on, until the recording ends. `check` is asked every so many
        seconds whether the reader may still have it, and raises if not; in a silence a piece
        without text tells as often that the recording goes on."""
        loop = asyncio.get_running_loop()
        due = loop.time() + every
        self.tape.hold()
        try:
            while True:
                ended = self.ended
                text, offset = await self._read(offset)
                if loop.time() >= due:
                    await check()
                    due = loop.time() + every
                    if not text and not ended:
                        yield Piece("", Place(self.id, offset))
                if text:
                    yield Piece(text, Place(self.id, offset))
                elif ended:
                    return
                else:
                    await self._grown(max(0.0, due - loop.time()))
        finally:
            self.tape.let_go()

    async def _read(self, offset: int) -> tuple[str, int]:
        """An offset that was made up may look like a place at first."""
        try:
            return await self.tape.read(offset)
        except ValueError:
            raise InvalidInput("no such place in the recording", field="Last-Event-ID") from None

    async def _grown(self, seconds: float) -> None:
        """Wait for more text, the end, or so many seconds."""
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.add(waiting)
        try:
            await asyncio.wait((waiting,), timeout=seconds)
        finally:
            self._waiting.discard(waiting)

    def _wake(self) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)
        self._waiting.clear()
