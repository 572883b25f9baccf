"""Handlers of the jobs that index entries. Each is idempotent: it may run again after a crash."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from recollect.conversations.entries.entry import Entry
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.embedding.port import Embedder, Vector
from recollect.jobs.model import Job, JobHandler, NewJob
from recollect.kernel.errors import Unavailable
from recollect.kernel.ids import ConversationId, EntryId, TreeId
from recollect.observability.metrics import Metrics
from recollect.search.entries.indexing import VECTOR_INDEX, EntryIndexer, compute_indexed_words
from recollect.search.memories.indexing import MemoryIndexJobs
from recollect.search.model import IndexedWords
from recollect.search.ports import (
    NewVectors,
    PendingText,
    PositionedText,
    VectorIndex,
)
from recollect.search.store.bundle import SearchStores

VECTOR_INDEX_RETRY = "vector_store_index_retry"
REINDEX = "vector_store_reindex"
BACKFILL = "search_backfill"
PREPARE_NEAREST = "vector_index_build"

WINDOW_OWN_CHARS = 700
WINDOW_NEIGHBOUR_CHARS = 200

_TEXTS_PER_BATCH = 64
_ROWS_PER_TRANSACTION = 200
_TREES_PER_TRANSACTION = 100
_PREPARE_EVERY = timedelta(hours=1)
_CHECK_EVERY = timedelta(hours=1)
_CHECK_AGAIN = timedelta(minutes=1)
_EMBEDDED_BY = "embedding_model"
_COPIED_TO = "vector_database"


# A pending text with the texts around it; vectors by text.
_TextWindow = tuple[PendingText, Sequence[PositionedText]]
_Vectors = Mapping[str, Vector]


@dataclass(frozen=True, slots=True)
class ReindexProgress:
    """The progress of a reindex. It first marks texts as pending and queues their jobs, which is
    quick (`queueing`). Only when that is done does `pending` count all entries and memories that
    still have to be embedded."""

    entries: int
    pending: int
    queueing: int
    waiting: int
    stuck: int

    @property
    def is_done(self) -> bool:
        """Whether no job is left that could make progress."""
        return not self.queueing and not self.waiting


class IndexJobs:
    """Embeds new texts, embeds all texts again, and indexes entries stored before there was an
    index.

    Without an embedder no vectors are made. `vector_index` is an optional vector database. Above
    `exact_max` entries an index for nearest neighbours is built.
    """

    def __init__(
        self,
        context: ServiceContext[SearchStores],
        metrics: Metrics,
        indexer: EntryIndexer,
        memories: MemoryIndexJobs,
        *,
        embedder: Embedder | None,
        vector_index: VectorIndex | None,
        exact_max: int,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._metrics = metrics
        self._indexer = indexer
        self._memories = memories
        self._embedder = embedder
        self._vector_index = vector_index
        self._exact_max = exact_max

    def handlers(self) -> Mapping[str, JobHandler]:
        """The handlers by job type."""
        return {
            VECTOR_INDEX: self.index_tree,
            VECTOR_INDEX_RETRY: self.index_tree,
            REINDEX: self.reindex,
            BACKFILL: self.backfill,
            PREPARE_NEAREST: self.prepare_nearest,
        }

    async def schedule(self) -> None:
        """Queue jobs at the start of a server: embed texts that have no vector of the present
        model, copy all vectors to a new vector database, and check for the nearest-neighbour index.
        """
        embedder = self._embedder
        if embedder is None:
            return

        def work(tx: Tx) -> None:
            now = self._runtime.clock.now()
            # The model configured last: servers with another one leave reindex jobs of this model
            # alone, and jobs of older models end.
            self._stores.maintenance.put_state(tx, _EMBEDDED_BY, embedder.model)
            self._stores.jobs.insert(tx, _reindex_job(embedder.model, now, "lacking"))
            if self._has_new_vector_index(tx):
                self._stores.jobs.insert(tx, _reindex_job(embedder.model, now, "every"))
            self._stores.jobs.insert(tx, NewJob(PREPARE_NEAREST, {}, now, PREPARE_NEAREST))

        await self._database.write(work)

    def _has_new_vector_index(self, tx: Tx) -> bool:
        """Whether the vector database is another one than at the last start. Stores its name."""
        name = self._vector_index.name if self._vector_index is not None else ""
        known = self._stores.maintenance.fetch_state(tx, _COPIED_TO) or ""
        if name != known:
            self._stores.maintenance.put_state(tx, _COPIED_TO, name)
        return name not in ("", known)

    async def start_reindex(self) -> None:
        """Queue jobs that embed everything again and index texts that are not in the index."""
        embedder = self._embedder
        if embedder is None:
            return
        now = self._runtime.clock.now()
        jobs = (
            NewJob(BACKFILL, {}, now, BACKFILL),
            _reindex_job(embedder.model, now, "every"),
        )

        def work(tx: Tx) -> None:
            for job in jobs:
                self._stores.jobs.insert(tx, job)

        await self._database.write(work)

    async def reindex_progress(self) -> ReindexProgress:

        def work(tx: Tx) -> ReindexProgress:
            state, found = self._stores.jobs.fetch_queue_state, self._stores.search.progress(tx)
            first = state(tx, types=(REINDEX, BACKFILL))
            then = state(tx, types=(VECTOR_INDEX, VECTOR_INDEX_RETRY))
            memories = self._memories.state(tx)
            return ReindexProgress(
                found.entries + memories.memories,
                found.pending + memories.pending,
                first.depth,
                then.depth + memories.waiting,
                first.stuck + then.stuck + memories.stuck,
            )

        return await self._database.read(work)

    async def index_tree(self, job: Job) -> NewJob | None:
        """Embed one batch of a tree's pending texts. If more are pending, a new job is returned, so
        that a large tree delays neither other trees nor the stop of a worker.

        When the embedder or the vector database is unavailable, the job is kept as the tree's retry
        job and raises; if the tree already has one, this job simply ends. Else an outage would
        leave one failed job for every append.
        """
        tree_id = TreeId(job.body["conversationGroupId"])
        try:
            more = await self._index_batch(job.id, tree_id)
        except Unavailable:
            if await self._database.write(lambda tx: self._keep_for_retry(tx, job.id, tree_id)):
                raise
            return None
        return self._indexer.vector_job(tree_id) if more else None

    async def reindex(self, job: Job) -> NewJob | None:
        """Mark texts as pending for the present model: all of them, or those without a vector of
        it. The latter job returns itself for later: during a rolling upgrade a server with another
        model may still store vectors of that model."""
        model, every = job.body["model"], job.body["every"]
        if self._embedder is None or self._embedder.model != model:
            return await self._defer_to_others(job)
        if every:
            await self._mark_all_pending()
            await self._memories.mark_pending()
            return None
        entries, memories = (
            await self._mark_without_vectors(model),
            await self._memories.mark_pending(lacking=model),
        )
        pause = _CHECK_AGAIN if entries or memories else _CHECK_EVERY
        return _reindex_job(model, self._runtime.clock.now() + pause, "again")

    async def _defer_to_others(self, job: Job) -> NewJob | None:
        """Leave a job for another model to the servers that have it: run it again later. If the job
        is not for the model that was configured last, it is obsolete and ends."""
        model, every = job.body["model"], job.body["every"]
        newest = await self._database.read(
            lambda tx: self._stores.maintenance.fetch_state(tx, _EMBEDDED_BY)
        )
        if newest != model:
            return None
        due_at = self._runtime.clock.now() + _CHECK_AGAIN
        return _reindex_job(model, due_at, "every" if every else "again")

    async def _mark_all_pending(self) -> None:
        after: TreeId | None = None
        while True:
            done = await self._database.write(self._pending_marker(after))
            if len(done) < _TREES_PER_TRANSACTION:
                return
            after = done[-1]

    async def _mark_without_vectors(self, model: str) -> bool:
        """Returns whether anything was marked. Reading scans the whole index, so it runs apart from
        the short write transactions."""
        after: TreeId | None = None
        while True:
            found = await self._database.scan(self._without_vectors_reader(model, after))
            await self._database.write(self._without_vectors_marker(found, model))
            if len(found) < _TREES_PER_TRANSACTION:
                return after is not None or bool(found)
            after = found[-1]

    async def backfill(self, _: Job) -> None:
        """Index the texts of entries that were stored before there was an index."""

        after: EntryId | None = None
        while True:
            found = await self._database.read(self._backfill_reader(after))
            if not found:
                return
            after = found[-1][0].id
            words = await compute_indexed_words([text for _, text in found])
            texts = [(*one, its_words) for one, its_words in zip(found, words, strict=True)]
            await self._database.write(self._backfill_writer(texts))

    async def prepare_nearest(self, _: Job) -> NewJob | None:
        """Build the engine's nearest-neighbour index once there are enough vectors; check again
        later."""
        embedder = self._embedder
        if embedder is None:
            return None
        missing = await self._database.read(
            lambda tx: self._stores.search.index_build_statements(
                tx, dimensions=embedder.dimensions, from_entries=self._exact_max
            )
        )
        await self._database.run_outside_transaction(missing)
        due_at = self._runtime.clock.now() + _PREPARE_EVERY
        return NewJob(PREPARE_NEAREST, {}, due_at, PREPARE_NEAREST)

    async def _index_batch(self, job_id: str, tree_id: TreeId) -> bool:
        """Embed one batch; returns whether more may be pending.

        Three transactions with the slow part between them, so that no lock is held while a model or
        an endpoint computes: claim the pending texts, read their windows, then store. Texts may
        change meanwhile; `_store_vectors` checks for that. Without an embedder the texts only stop
        being pending.
        """
        waiting = await self._database.write(lambda tx: self._claim_texts(tx, job_id, tree_id))
        if not waiting:
            return False
        near = await self._database.read(lambda tx: self._read_windows(tx, waiting))
        texts = list(zip(waiting, near, strict=True))
        vectors = await self._embed_texts(tree_id, texts)
        done = await self._database.write(
            lambda tx: self._store_vectors(tx, tree_id, texts, vectors)
        )
        self._metrics.record_indexed(done)
        # A full batch may have more behind it; texts that changed meanwhile are still pending.
        return len(waiting) == _TEXTS_PER_BATCH or done < len(waiting)

    async def _embed_texts(self, tree_id: TreeId, texts: Sequence[_TextWindow]) -> _Vectors:
        embedder, vector_index = self._embedder, self._vector_index
        if embedder is None:
            return {}
        # Equal texts are embedded once. The vector database is written first: if our transaction
        # fails afterwards, the texts stay pending and are written again. The other way round a
        # failure would leave entries that the vector database never gets.
        distinct = _texts_to_embed(texts)
        vectors = dict(zip(distinct, await embedder.embed(distinct), strict=True))
        if vector_index is not None:
            await vector_index.put(tree_id, _new_vectors(texts, vectors))
        return vectors

    def _store_vectors(
        self, tx: Tx, tree_id: TreeId, texts: Sequence[_TextWindow], vectors: _Vectors
    ) -> int:
        """Store vectors under the tree's lock; returns how many texts are done.

        A window vector depends on the neighbours, too. So the windows are read again, and only
        texts whose whole window is unchanged are stored. Else this job could overwrite newer
        vectors that another job stored meanwhile. The others stay pending.
        """
        self._stores.conversations.lock(tx, ConversationId(tree_id))
        now_near = self._read_windows(tx, [text for text, _ in texts])
        current = [one for one, now in zip(texts, now_near, strict=True) if one[1] == now]
        embedder = self._embedder
        return self._stores.search.put_vectors(
            tx,
            tree_id,
            _new_vectors(current, vectors) if embedder is not None else [],
            [text for text, _ in current],
            model=embedder.model if embedder is not None else "",
            at=self._runtime.clock.now(),
        )

    def _claim_texts(self, tx: Tx, job_id: str, tree_id: TreeId) -> list[PendingText]:
        """Read pending texts and detach the job from its name, both under the tree's lock.

        Appends rely on the name: while a job has it, an append queues none. Under the lock there is
        no gap. An append before this transaction is among the texts read here; one after it finds
        the name free and queues a new job.
        """
        found = self._stores.search.pending_texts(tx, tree_id, limit=_TEXTS_PER_BATCH)
        self._stores.jobs.clear_name(tx, job_id)
        return found

    def _keep_for_retry(self, tx: Tx, job_id: str, tree_id: TreeId) -> bool:
        """Turn the job into the tree's retry job; False if there is one already. One is enough, as
        it takes everything pending. A running job has no name, so the one that has the name has
        not started yet."""
        self._stores.conversations.lock(tx, ConversationId(tree_id))
        name = f"{VECTOR_INDEX_RETRY}:{tree_id}"
        return self._stores.jobs.rename(tx, job_id, type_=VECTOR_INDEX_RETRY, name=name)

    def _read_windows(self, tx: Tx, waiting: Sequence[PendingText]) -> list[list[PositionedText]]:
        read = self._stores.search.window_texts
        # Two on each side: a changed text is part of its neighbours' windows, and these contain
        # the next neighbours in turn.
        return [read(tx, text.conversation_id, text.seq, reach=2) for text in waiting]

    def _backfill_reader(self, after: EntryId | None) -> Callable[[Tx], list[tuple[Entry, str]]]:
        read = self._stores.search.page_not_in_index
        return lambda tx: read(tx, after=after, limit=_ROWS_PER_TRANSACTION)

    def _backfill_writer(
        self, texts: Sequence[tuple[Entry, str, IndexedWords]]
    ) -> Callable[[Tx], None]:
        """Trees are locked in the order of their ids, so that two writers can't deadlock."""
        held_at = self._indexer.indexed_at(self._runtime.clock.now())

        def work(tx: Tx) -> None:
            for entry, text, found in sorted(texts, key=lambda text: text[0].tree_id):
                if self._needs_indexing(tx, entry):
                    self._stores.search.update_text(tx, entry.id, text, at=held_at)
                    self._indexer.reindex(tx, entry, found)

        return work

    def _needs_indexing(self, tx: Tx, entry: Entry) -> bool:
        """Whether the entry still exists and nobody indexed it meanwhile. Takes the tree's lock
        first, so the answer holds until the transaction ends."""
        written = self._stores.search.is_in_index(tx, entry)
        stored = self._stores.entries.fetch(tx, entry.id)
        return not written and stored is not None and stored.removed_at is None

    def _pending_marker(self, after: TreeId | None) -> Callable[[Tx], list[TreeId]]:
        def work(tx: Tx) -> list[TreeId]:
            found = self._stores.search.mark_pending(tx, after=after, limit=_TREES_PER_TRANSACTION)
            for tree_id in found:
                self._indexer.queue_job(tx, tree_id)
            return found

        return work

    def _without_vectors_reader(
        self, model: str, after: TreeId | None
    ) -> Callable[[Tx], list[TreeId]]:
        read, limit = self._stores.search.page_trees_without_vectors, _TREES_PER_TRANSACTION
        return lambda tx: read(tx, model=model, after=after, limit=limit)

    def _without_vectors_marker(
        self, tree_ids: Sequence[TreeId], model: str
    ) -> Callable[[Tx], None]:
        def work(tx: Tx) -> None:
            for tree_id in tree_ids:
                self._stores.search.mark_without_vectors(tx, tree_id, model=model)
                self._indexer.queue_job(tx, tree_id)

        return work


def _reindex_job(model: str, at: datetime, which: Literal["every", "lacking", "again"]) -> NewJob:
    body = {"model": model, "every": which == "every"}
    return NewJob(REINDEX, body, at, f"{REINDEX}:{model}:{which}")


def _texts_to_embed(texts: Sequence[_TextWindow]) -> list[str]:
    """The distinct texts to embed: own texts of the pending entries, and the windows of these
    and of their neighbours, whose windows contain the changed text."""
    own = (row.text for text, near in texts for row in near if row.entry_id == text.entry_id)
    windows = (window for text, near in texts for _, window in _windows_containing(text.seq, near))
    return list(dict.fromkeys([*own, *windows]))


def _new_vectors(texts: Sequence[_TextWindow], vectors: _Vectors) -> list[NewVectors]:
    own: dict[EntryId, str] = {}
    windows: dict[EntryId, tuple[ConversationId, str]] = {}
    for text, near in texts:
        own |= {row.entry_id: row.text for row in near if row.entry_id == text.entry_id}
        for entry_id, window in _windows_containing(text.seq, near):
            windows[entry_id] = (text.conversation_id, window)
    return [
        NewVectors(
            entry_id=entry_id,
            conversation_id=conversation_id,
            embedding=vectors[own[entry_id]] if entry_id in own else None,
            window=vectors[window],
        )
        for entry_id, (conversation_id, window) in windows.items()
    ]


def _windows_containing(
    seq: int, neighbours: Sequence[PositionedText]
) -> list[tuple[EntryId, str]]:
    """The windows that contain the text at this position: its own and its neighbours'."""
    place = next((i for i, row in enumerate(neighbours) if row.seq == seq), None)
    if place is None:
        return []
    nearby = range(max(place - 1, 0), min(place + 2, len(neighbours)))
    return [(neighbours[i].entry_id, window_text(neighbours, i)) for i in nearby]


def window_text(neighbours: Sequence[PositionedText], place: int) -> str:
    """A text between the openings of its two neighbours, joined for embedding."""
    before = neighbours[place - 1].text[:WINDOW_NEIGHBOUR_CHARS] if place else ""
    after = (
        neighbours[place + 1].text[:WINDOW_NEIGHBOUR_CHARS] if place + 1 < len(neighbours) else ""
    )
    return "\n".join(
        part for part in (before, neighbours[place].text[:WINDOW_OWN_CHARS], after) if part
    )
