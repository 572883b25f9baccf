"""Vectors of memories that were written a moment ago, made while a search of their writer waits.

Without them what somebody just said is found by its words alone until a job has run. The wait is
short and never longer: what is not ready by then stays for the job, and the search says so.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence

import structlog

from recollect.embedding.port import Embedder, Vector
from recollect.kernel.errors import RecollectError
from recollect.search.memories.indexing import MemoryVectorWriter
from recollect.search.memories.rows import MemoryVector, PendingMemoryText

# What a person does not notice in an answer. Not a setting: more would be felt, less finds nothing.
ON_THE_SPOT_SECONDS = 0.150
# Texts that one search asks for; more would not be ready in time.
FRESH_TEXTS_MAX = 64
# A step of this many characters takes the built-in model some 20 ms, and a step is not interrupted.
_CHARS_PER_STEP = 1_000
# More of a text costs nothing, because the model does not read it.
_CHARS_READ = 1_200
_REMEMBERED_MAX = 512

_log = structlog.get_logger("recollect.search")


class FreshVectors:
    """Embeds fresh texts for searches, and stores the vectors so that the job has less to do.

    Without an embedder nothing is embedded: an endpoint may take seconds and be paid by the text,
    and vectors of another model can't be compared with it. For use on one event loop.
    """

    def __init__(self, writer: MemoryVectorWriter, embedder: Embedder | None) -> None:
        self._writer = writer
        self._embedder = embedder
        # One search embeds at a time. Searches at once have mostly the same fresh texts, and the
        # processor is needed by the others. Whoever waits finds them here, until they are stored.
        self._turn = asyncio.Lock()
        self._made: OrderedDict[tuple[int, int], Vector] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()

    async def embed(
        self, texts: Sequence[PendingMemoryText], *, seconds: float = ON_THE_SPOT_SECONDS
    ) -> list[MemoryVector]:
        """The vectors that are ready after at most `seconds`; the first texts come first. What is
        under way then is finished and stored for the next search."""
        embedder = self._embedder
        if embedder is not None and seconds > 0 and self._find_missing(texts):
            task = asyncio.create_task(
                self._make_and_store(embedder, texts, time.monotonic() + seconds)
            )
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            # Not `wait_for`, which would cancel a step whose work is nearly done.
            await asyncio.wait([task], timeout=seconds)
        return [
            MemoryVector(one.doc, one.revision, self._made[one.doc, one.revision])
            for one in texts
            if (one.doc, one.revision) in self._made
        ]

    async def close(self) -> None:
        """Wait until what is under way is stored."""
        await asyncio.gather(*self._tasks)

    async def _make_and_store(
        self, embedder: Embedder, texts: Sequence[PendingMemoryText], ends_at: float
    ) -> None:
        made: list[MemoryVector] = []
        try:
            async with self._turn:
                for step in _steps(self._find_missing(texts)):
                    if time.monotonic() >= ends_at:
                        break
                    made += await self._make(embedder, step)
            if made:
                await self._writer.store(made, model=embedder.model)
        except RecollectError as error:
            # The search goes on without, and the job makes them, with its own attempts and log.
            _log.warning("fresh memories got no vectors", error=type(error).__name__)

    async def _make(
        self, embedder: Embedder, step: Sequence[PendingMemoryText]
    ) -> list[MemoryVector]:
        vectors = await embedder.embed([one.text for one in step])
        made = [
            MemoryVector(one.doc, one.revision, vector)
            for one, vector in zip(step, vectors, strict=True)
        ]
        self._made.update(((one.doc, one.revision), one.vector) for one in made)
        while len(self._made) > _REMEMBERED_MAX:
            self._made.popitem(last=False)
        return made

    def _find_missing(self, texts: Sequence[PendingMemoryText]) -> list[PendingMemoryText]:
        return [one for one in texts if (one.doc, one.revision) not in self._made]


def _steps(texts: Sequence[PendingMemoryText]) -> Iterator[list[PendingMemoryText]]:
    """The texts in order, cut into steps of about the same work."""
    step: list[PendingMemoryText] = []
    chars = 0
    for one in texts:
        size = min(len(one.text), _CHARS_READ)
        if step and chars + size > _CHARS_PER_STEP:
            yield step
            step, chars = [], 0
        step.append(one)
        chars += size
    if step:
        yield step
