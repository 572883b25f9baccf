"""How memories get into the search index: their words with the write, their vectors by a job."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from recollect.domain.jobs import Job, NewJob
from recollect.domain.memories import MemoryId
from recollect.domain.search import IndexedWords, index_words
from recollect.errors import Unavailable
from recollect.ports.database import Database, Tx
from recollect.ports.embedding import Embedder
from recollect.ports.memories import Stored
from recollect.ports.memory_search import BUCKETS, VectorOf, WaitingText
from recollect.ports.metrics import Metrics
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services.jobs import Handler

MEMORY_VECTORS = "memory_vectors"
MEMORY_VECTORS_RETRY = "memory_vectors_retry"

# What is to happen to the texts of these rows, now that they have vectors.
Follower = Callable[[Tx, Sequence[int]], None]

_TEXTS_PER_BATCH = 64
_ROWS_PER_TRANSACTION = 1_000


class MemoryIndexer:
    """Puts words into the index at once, and queues the vectors where there are any."""

    def __init__(self, stores: Stores, runtime: Runtime, *, vectors: bool) -> None:
        self._stores = stores
        self._runtime = runtime
        self._vectors = vectors

    def write(self, tx: Tx, stored: Stored, found: IndexedWords | None = None) -> None:
        """A memory that is new or changed, behind its row. What holds the same words as before
        costs nothing. Words of a long text are better made before, where nobody waits for them:
        see `words_of`."""
        words = index_words(stored.memory.content) if found is None else found
        if self._stores.memory_search.put(tx, stored, words, pending=self._vectors):
            self.queue(tx)

    def drop(self, tx: Tx, memory_id: MemoryId) -> None:
        """A memory that nobody shall find any more."""
        self._stores.memory_search.drop(tx, memory_id)

    def queue(self, tx: Tx) -> None:
        """A job that makes what is waited for. There are a few names for it, of which a transaction
        uses one alone: two that used several could wait for each other."""
        if self._vectors:
            self._stores.jobs.insert_held(tx, self.job(hash(tx) % BUCKETS))

    def job(self, bucket: int) -> NewJob:
        """The job that begins with the vectors of a bucket."""
        return NewJob(
            MEMORY_VECTORS,
            {"bucket": bucket},
            self._runtime.clock.now(),
            f"{MEMORY_VECTORS}:{bucket}",
        )


@dataclass(frozen=True, slots=True)
class MemoryIndexState:
    """How far the vectors of memories are."""

    memories: int
    pending: int
    waiting: int
    stuck: int


class MemoryIndexJobs:
    """Vectors of new texts, and of all texts anew. Each job may run again after a crash."""

    def __init__(
        self,
        database: Database,
        stores: Stores,
        runtime: Runtime,
        metrics: Metrics,
        indexer: MemoryIndexer,
        embedder: Embedder | None,
        followed_by: Follower | None = None,
    ) -> None:
        self._database = database
        self._stores = stores
        self._runtime = runtime
        self._metrics = metrics
        self._indexer = indexer
        self._embedder = embedder
        self._followed_by = followed_by

    def handlers(self) -> Mapping[str, Handler]:
        """By job type. Who makes no vectors leaves these jobs to those who do."""
        if self._embedder is None:
            return {}
        return {MEMORY_VECTORS: self.make_vectors, MEMORY_VECTORS_RETRY: self.make_vectors}

    async def make_vectors(self, job: Job) -> NewJob | None:
        """A batch of the vectors that are waited for; the rest is another job, so that nobody
        waits long behind it. Of jobs that failed one a bucket is kept, as a retry."""
        bucket = job.body["bucket"]
        try:
            more = await self._make_batch(job.id, bucket)
        except Unavailable:
            if await self._database.write(lambda tx: self._keep_for_retry(tx, job.id, bucket)):
                raise
            return None
        return self._indexer.job(bucket) if more else None

    async def mark(self, *, lacking: str | None = None) -> int:
        """Let memories wait for vectors: all of them, or those that have none of a model. How many
        there were; none where nobody makes vectors of memories."""
        after = marked = 0
        while self._embedder is not None:
            docs = await self._database.write(self._marking(after, lacking))
            marked += len(docs)
            if len(docs) < _ROWS_PER_TRANSACTION:
                break
            after = docs[-1]
        return marked

    def state(self, tx: Tx) -> MemoryIndexState:
        """How far they are."""
        found = self._stores.memory_search.progress(tx)
        jobs = self._stores.jobs.state(tx, types=(MEMORY_VECTORS, MEMORY_VECTORS_RETRY))
        return MemoryIndexState(found.entries, found.pending, jobs.depth, jobs.stuck)

    async def _make_batch(self, job_id: str, bucket: int) -> bool:
        """False when nothing is left."""
        waiting = await self._database.write(lambda tx: self._take(tx, job_id, bucket))
        if not waiting or self._embedder is None:
            return False
        model = self._embedder.model
        vectors = await self._embedder.embed([one.text for one in waiting])
        made = [
            VectorOf(one.doc, one.revision, vector)
            for one, vector in zip(waiting, vectors, strict=True)
        ]
        self._metrics.indexed(await self._database.write(lambda tx: self._put(tx, made, model)))
        return len(waiting) == _TEXTS_PER_BATCH

    def _put(self, tx: Tx, made: Sequence[VectorOf], model: str) -> int:
        """How many were stored. What follows from a text follows once, not at each reindexing."""
        done = self._stores.memory_search.put_vectors(tx, made, model=model)
        first = [one.doc for one in done if one.first]
        if first and self._followed_by is not None:
            self._followed_by(tx, first)
        return len(done)

    def _take(self, tx: Tx, job_id: str, bucket: int) -> list[WaitingText]:
        """The job gives up its name first, which waits for every write that relies on it: a later
        one queues a job of its own, and an earlier one is seen here."""
        self._stores.jobs.detach(tx, job_id)
        return self._stores.memory_search.pending(tx, bucket, limit=_TEXTS_PER_BATCH)

    def _keep_for_retry(self, tx: Tx, job_id: str, bucket: int) -> bool:
        """One is enough: it takes all that waits."""
        name = f"{MEMORY_VECTORS_RETRY}:{bucket}"
        return self._stores.jobs.rename(tx, job_id, type_=MEMORY_VECTORS_RETRY, name=name)

    def _marking(self, after: int, lacking: str | None) -> Callable[[Tx], list[int]]:
        def work(tx: Tx) -> list[int]:
            docs = self._stores.memory_search.mark(
                tx, after_doc=after, limit=_ROWS_PER_TRANSACTION, lacking=lacking
            )
            if docs:
                self._indexer.queue(tx)
            return docs

        return work
