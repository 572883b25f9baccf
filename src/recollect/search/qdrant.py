"""Vectors in Qdrant. The client is an optional dependency: import this only if Qdrant is used.

A point is an entry: its id, its own vector, and the tree it belongs to. No text is sent.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from heapq import nlargest
from urllib.parse import urlsplit

import httpx
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from recollect.embedding.port import Vector
from recollect.kernel.errors import Unavailable
from recollect.kernel.ids import EntryId, TreeId
from recollect.search.ports import NewVectors

SEARCH_SECONDS_MAX = 5
WRITE_SECONDS_MAX = 30
# After a failure Qdrant is not asked for so long: not every search shall wait for a timeout.
REST_SECONDS = 5
# Most trees in the filter of one request, which keeps it below half a megabyte.
TREES_PER_REQUEST = 10_000

_TREE = "tree"
_CONFLICT = 409
_FAILURES = (ApiException, QdrantException, httpx.HTTPError, OSError, ValueError)


@dataclass(frozen=True, slots=True, kw_only=True)
class QdrantServer:
    """The server's address, and the prefix of our collections' names."""

    url: str
    collection: str
    api_key: str | None = field(default=None, repr=False)

    def connect(self) -> AsyncQdrantClient:
        """Create a client. Nothing is sent yet."""
        return AsyncQdrantClient(
            url=self.url,
            # As a header, because the client warns about a key over plain HTTP. The operator has
            # decided that.
            headers={"api-key": self.api_key} if self.api_key else None,
            timeout=WRITE_SECONDS_MAX,
            # The check would run on a thread of its own and only print a warning.
            check_compatibility=False,
        )


class QdrantIndex:
    """Implements VectorIndex. One collection per model, created at first use."""

    def __init__(
        self,
        server: QdrantServer,
        *,
        model: str,
        dimensions: int,
        client: AsyncQdrantClient | None = None,
    ) -> None:
        self._client = client or server.connect()
        self._dimensions = dimensions
        self._collection = collection_name(server.collection, model, dimensions)
        self._host = urlsplit(server.url).netloc.rpartition("@")[2]
        self._ready = False
        self._preparing = asyncio.Lock()
        self._resting_until = 0.0

    @property
    def name(self) -> str:
        return f"{self._host}/{self._collection}"

    async def put(self, tree_id: TreeId, made: Sequence[NewVectors]) -> None:
        points = [
            models.PointStruct(
                id=one.entry_id, vector=one.embedding.tolist(), payload={_TREE: tree_id}
            )
            for one in made
            # A zero vector stands for a text that could not be embedded; cosine needs a length.
            if one.embedding is not None and one.embedding.any()
        ]
        if points:
            async with self._guard_request(WRITE_SECONDS_MAX):
                await self._client.upsert(self._collection, points, wait=True)

    async def delete_tree(self, tree_id: TreeId, *, keep: Sequence[EntryId] = ()) -> None:
        conditions = models.Filter(
            must=[models.FieldCondition(key=_TREE, match=models.MatchValue(value=tree_id))],
            must_not=[models.HasIdCondition(has_id=list(keep))] if keep else None,
        )
        async with self._guard_request(WRITE_SECONDS_MAX):
            await self._client.delete(
                self._collection, models.FilterSelector(filter=conditions), wait=True
            )

    async def nearest_entries(
        self, trees: Sequence[TreeId] | None, vector: Vector, *, limit: int
    ) -> list[EntryId]:
        wanted = vector.tolist()
        async with self._guard_request(SEARCH_SECONDS_MAX):
            found = [
                point
                for conditions in _tree_filters(trees)
                for point in await self._query_points(conditions, wanted, limit)
            ]
        best = nlargest(limit, found, key=lambda point: point.score)
        return [EntryId(str(point.id)) for point in best]

    async def close(self) -> None:
        await self._client.close()

    async def _query_points(
        self, conditions: models.Filter | None, wanted: list[float], limit: int
    ) -> list[models.ScoredPoint]:
        answer = await self._client.query_points(
            self._collection, wanted, query_filter=conditions, limit=limit, with_payload=False
        )
        return answer.points

    @asynccontextmanager
    async def _guard_request(self, seconds: float) -> AsyncIterator[None]:
        """Wraps requests to the collection: limits their time, and turns every failure into
        Unavailable. The original error is not chained, as it may quote the request and its key."""
        if time.monotonic() < self._resting_until:
            raise Unavailable(f"Qdrant at {self._host} failed a moment ago")
        try:
            async with asyncio.timeout(seconds):
                await self._ensure_collection()
                yield
        except _FAILURES as error:
            self._ready = False  # somebody may have removed the collection
            self._resting_until = time.monotonic() + REST_SECONDS
            raise Unavailable(f"Qdrant at {self._host} failed: {_failure_reason(error)}") from None

    async def _ensure_collection(self) -> None:
        # Once until the next failure, and one at a time: the first requests may come together.
        async with self._preparing:
            if self._ready:
                return
            if not await self._client.collection_exists(self._collection):
                await self._create_collection()
            # Does nothing if the index exists.
            keyword = models.KeywordIndexType.KEYWORD
            by_tree = models.KeywordIndexParams(type=keyword, is_tenant=True)
            await self._client.create_payload_index(self._collection, _TREE, by_tree, wait=True)
            self._ready = True

    async def _create_collection(self) -> None:
        """Create the collection. Another server may do so at the same time: a conflict is fine."""
        size = models.VectorParams(size=self._dimensions, distance=models.Distance.COSINE)
        try:
            await self._client.create_collection(self._collection, vectors_config=size)
        except UnexpectedResponse as error:
            if error.status_code != _CONFLICT:
                raise


def collection_name(prefix: str, model: str, dimensions: int) -> str:
    """A name of its own for each model, so that vectors of two models are never compared."""
    slug = re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")
    return f"{prefix}_{slug}_{dimensions}"


def _tree_filters(trees: Sequence[TreeId] | None) -> list[models.Filter | None]:
    if trees is None:
        return [None]
    parts = (
        list(trees[first : first + TREES_PER_REQUEST])
        for first in range(0, len(trees), TREES_PER_REQUEST)
    )
    return [
        models.Filter(must=[models.FieldCondition(key=_TREE, match=models.MatchAny(any=part))])
        for part in parts
    ]


def _failure_reason(error: Exception) -> str:
    """The kind of failure, without the server's answer: it may quote the request and its key."""
    if isinstance(error, UnexpectedResponse):
        return f"status {error.status_code}"
    return "no answer in time" if isinstance(error, TimeoutError) else "no usable answer"
