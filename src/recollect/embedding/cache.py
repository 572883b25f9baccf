"""A cache for query vectors. Concurrent requests for the same query are embedded once."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Sequence

from recollect.embedding.port import Embedder, Vectors

CACHED_QUERIES_MAX = 1024


class QueryCachingEmbedder:
    """Wraps an embedder and caches query vectors, least recently used ones evicted. Failures are
    not cached. For use on one event loop."""

    def __init__(self, inner: Embedder, *, remembered: int = CACHED_QUERIES_MAX) -> None:
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
        """Texts to store are not cached: they rarely occur twice."""
        return await self._inner.embed(texts)

    async def embed_query(self, text: str) -> Vectors:
        """The query's vector. The array is read-only, because all callers get the same one."""
        key = _cache_key(text)
        known = self._vectors.get(key)
        if known is not None:
            self._vectors.move_to_end(key)
            return known
        # Shielded: a caller that is cancelled must not cancel the task that others wait for.
        return await asyncio.shield(self._pending.get(key) or self._start_embedding(key, text))

    async def close(self) -> None:
        """Cancel pending queries, then close the inner embedder."""
        pending = list(self._pending.values())
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        await self._inner.close()

    def _start_embedding(self, key: bytes, text: str) -> asyncio.Task[Vectors]:
        task = asyncio.create_task(self._inner.embed_query(text))
        self._pending[key] = task
        task.add_done_callback(lambda done: self._store_result(key, done))
        return task

    def _store_result(self, key: bytes, task: asyncio.Task[Vectors]) -> None:
        del self._pending[key]
        # `exception()` also marks it as retrieved: without it asyncio logs an error if every caller
        # was cancelled.
        if task.cancelled() or task.exception() is not None:
            return
        vector = task.result()
        vector.setflags(write=False)
        self._vectors[key] = vector
        while len(self._vectors) > self._remembered:
            self._vectors.popitem(last=False)


def _cache_key(text: str) -> bytes:
    """A digest: of constant size, and no query stays readable in memory."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
