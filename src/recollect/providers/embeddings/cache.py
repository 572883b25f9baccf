"""Vectors of recent queries, remembered; the same query asked by many at once is embedded once."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Sequence

from recollect.ports.embedding import Embedder, Vectors

REMEMBERED = 1024


class CachedQueries:
    """Any embedder, with a memory for queries. Failures are not remembered. Belongs to one loop."""

    def __init__(self, inner: Embedder, *, remembered: int = REMEMBERED) -> None:
        self._inner = inner
        self._remembered = remembered
        self._vectors: OrderedDict[bytes, Vectors] = OrderedDict()
        self._pending: dict[bytes, asyncio.Task[Vectors]] = {}

    @property
    def model(self) -> str:
        """Name of the inner model."""
        return self._inner.model

    @property
    def dimensions(self) -> int:
        """Length of the inner model's vectors."""
        return self._inner.dimensions

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Texts to store pass through: they rarely come twice."""
        return await self._inner.embed(texts)

    async def embed_query(self, text: str) -> Vectors:
        """The query's vector, read-only because others get the same array."""
        key = _key(text)
        known = self._vectors.get(key)
        if known is not None:
            self._vectors.move_to_end(key)
            return known
        # Shielded: one caller that goes away doesn't take the vector from the others.
        return await asyncio.shield(self._pending.get(key) or self._start(key, text))

    async def close(self) -> None:
        """Stop what is under way, then close the inner embedder."""
        pending = list(self._pending.values())
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        await self._inner.close()

    def _start(self, key: bytes, text: str) -> asyncio.Task[Vectors]:
        task = asyncio.create_task(self._inner.embed_query(text))
        self._pending[key] = task
        task.add_done_callback(lambda done: self._finish(key, done))
        return task

    def _finish(self, key: bytes, task: asyncio.Task[Vectors]) -> None:
        del self._pending[key]
        # Asking for the exception also marks it as seen, should every caller have gone away.
        if task.cancelled() or task.exception() is not None:
            return
        vector = task.result()
        vector.setflags(write=False)
        self._vectors[key] = vector
        while len(self._vectors) > self._remembered:
            self._vectors.popitem(last=False)


def _key(text: str) -> bytes:
    """Of one size whatever the query's, and no query stays readable in memory."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
