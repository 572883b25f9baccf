"""Writes memories into the search index: their words with the write, their vectors by a job."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.embedding.port import Embedder
from recollect.jobs.model import Job, JobHandler, NewJob
from recollect.kernel.errors import Unavailable
from recollect.kernel.ids import MemoryId
from recollect.kernel.runtime import Runtime
from recollect.memories.model import StoredMemory
from recollect.observability.metrics import Metrics
from recollect.search.memories.rows import BUCKETS, MemoryVector, PendingMemoryText
from recollect.search.model import IndexedWords, index_words
from recollect.search.store.bundle import SearchStores

MEMORY_VECTORS = "memory_vectors"
MEMORY_VECTORS_RETRY = "memory_vectors_retry"

# Called with the rows whose texts just got their first vector.
VectorsStoredHook = Callable[[Tx, Sequence[int]], None]

_TEXTS_PER_BATCH = 64
_ROWS_PER_TRANSACTION = 1_000


class MemoryIndexer:
    """Writes words to the index in the caller's transaction, and queues a job for the vectors."""

    def __init__(self, stores: SearchStores, runtime: Runtime, *, vectors: bool) -> None:
        self._stores = stores
        self._runtime = runtime
        self._vectors = vectors

    def write(self, tx: Tx, stored: StoredMemory, found: IndexedWords | None = None) -> None:
        """Index a new or changed memory, after its row was written. Does nothing if the words are
        the same as before. For a long text compute the words before the transaction, with
        `compute_indexed_words`."""
        words = index_words(stored.memory.content) if found is None else found
        if self._stores.memory_search.put(tx, stored, words, pending=self._vectors):
            self.queue_job(tx)

    def drop(self, tx: Tx, memory_id: MemoryId) -> None:
        """Remove a memory from the index."""
        self._stores.memory_search.drop(tx, memory_id)

    def is_pending(self, tx: Tx, stored: StoredMemory) -> bool:
        """Whether the memory waits for its vector. Never, where nothing makes vectors."""
        return self._vectors and self._stores.memory_search.is_pending(tx, stored.memory.id)

    def queue_job(self, tx: Tx) -> None:
        """Queue a job for pending vectors.

        A job's name is unique, so an insert waits for another transaction that inserted the same
        name and has not committed yet. Several names (`BUCKETS`) keep writers from queueing up
        behind one. A transaction uses one name only, chosen by its hash: two transactions that
        inserted several names in different orders could deadlock. `insert_and_lock` also holds a
        shared lock on the job until the commit, which `_claim_texts` of the job handler relies on.
        """
        if self._vectors:
            self._stores.jobs.insert_and_lock(tx, self.vector_job(hash(tx) % BUCKETS))

    def vector_job(self, bucket: int) -> NewJob:
        """The job that embeds pending texts, those of a bucket first."""
        return NewJob(
            MEMORY_VECTORS,
            {"bucket": bucket},
            self._runtime.clock.now(),
            f"{MEMORY_VECTORS}:{bucket}",
        )


@dataclass(frozen=True, slots=True)
class MemoryIndexState:
    """Counts of memories, of pending vectors, and of waiting and stuck jobs."""

    memories: int
    pending: int
    waiting: int
    stuck: int


class MemoryVectorWriter:
    """Stores vectors of pending texts, whoever made them."""

    def __init__(
        self,
        context: ServiceContext[SearchStores],
        metrics: Metrics,
        followed_by: VectorsStoredHook | None = None,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._metrics = metrics
        self._followed_by = followed_by

    async def store(self, made: Sequence[MemoryVector], *, model: str) -> None:
        """Store those whose text is unchanged and still pending. The follow-up runs only for texts
        that had no vector before, so a reindex does not repeat it."""
        stored = await self._database.write(lambda tx: self._store(tx, made, model))
        self._metrics.record_indexed(stored)

    def _store(self, tx: Tx, made: Sequence[MemoryVector], model: str) -> int:
        done = self._stores.memory_search.put_vectors(tx, made, model=model)
        first = [one.doc for one in done if one.first]
        if first and self._followed_by is not None:
            self._followed_by(tx, first)
        return len(done)


class MemoryIndexJobs:
    """Embeds new texts, and all texts again. A job may run again after a crash."""

    def __init__(
        self,
        context: ServiceContext[SearchStores],
        indexer: MemoryIndexer,
        writer: MemoryVectorWriter,
        embedder: Embedder | None,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._indexer = indexer
        self._writer = writer
        self._embedder = embedder

    def handlers(self) -> Mapping[str, JobHandler]:
        """The handlers by job type. A server without an embedder has none: it leaves these jobs to
        servers that have one."""
        if self._embedder is None:
            return {}
        return {MEMORY_VECTORS: self.make_vectors, MEMORY_VECTORS_RETRY: self.make_vectors}

    async def make_vectors(self, job: Job) -> NewJob | None:
        """Embed one batch of pending texts. If more are pending, a new job is returned, so that
        other jobs don't wait long. When the embedder is unavailable, one retry job per bucket is
        kept."""
        bucket = job.body["bucket"]
        try:
            more = await self._make_batch(job.id, bucket)
        except Unavailable:
            if await self._database.write(lambda tx: self._keep_for_retry(tx, job.id, bucket)):
                raise
            return None
        return self._indexer.vector_job(bucket) if more else None

    async def mark_pending(self, *, lacking: str | None = None) -> int:
        """Mark memories as pending: all of them, or those without a vector of the model `lacking`.
        Returns how many; 0 without an embedder."""
        after = marked = 0
        while self._embedder is not None:
            docs = await self._database.write(self._pending_marker(after, lacking))
            marked += len(docs)
            if len(docs) < _ROWS_PER_TRANSACTION:
                break
            after = docs[-1]
        return marked

    def state(self, tx: Tx) -> MemoryIndexState:
        found = self._stores.memory_search.progress(tx)
        jobs = self._stores.jobs.fetch_queue_state(tx, types=(MEMORY_VECTORS, MEMORY_VECTORS_RETRY))
        return MemoryIndexState(found.entries, found.pending, jobs.depth, jobs.stuck)

    async def _make_batch(self, job_id: str, bucket: int) -> bool:
        """Embed one batch; returns whether more may be pending."""
        waiting = await self._database.write(lambda tx: self._claim_texts(tx, job_id, bucket))
        if not waiting or self._embedder is None:
            return False
        model = self._embedder.model
        vectors = await self._embedder.embed([one.text for one in waiting])
        made = [
            MemoryVector(one.doc, one.revision, vector)
            for one, vector in zip(waiting, vectors, strict=True)
        ]
        await self._writer.store(made, model=model)
        return len(waiting) == _TEXTS_PER_BATCH

    def _claim_texts(self, tx: Tx, job_id: str, bucket: int) -> list[PendingMemoryText]:
        """Detach the job from its name, then read pending texts: in this order.

        A write holds the row of the name it relies on until it commits (`insert_and_lock`), so
        the detach waits for all such writes, and their texts are visible to the read that follows.
        A later write finds the name free and queues a new job. Read first, and a text committed
        between the two statements would have no job.
        """
        self._stores.jobs.clear_name(tx, job_id)
        return self._stores.memory_search.pending_texts(tx, bucket, limit=_TEXTS_PER_BATCH)

    def _keep_for_retry(self, tx: Tx, job_id: str, bucket: int) -> bool:
        """Turn the job into the bucket's retry job; False if there is one already. One is enough,
        as it takes everything pending."""
        name = f"{MEMORY_VECTORS_RETRY}:{bucket}"
        return self._stores.jobs.rename(tx, job_id, type_=MEMORY_VECTORS_RETRY, name=name)

    def _pending_marker(self, after: int, lacking: str | None) -> Callable[[Tx], list[int]]:
        def work(tx: Tx) -> list[int]:
            docs = self._stores.memory_search.mark_pending(
                tx, after_doc=after, limit=_ROWS_PER_TRANSACTION, lacking=lacking
            )
            if docs:
                self._indexer.queue_job(tx)
            return docs

        return work
