"""Handlers of the index jobs. Each may run again after a crash, so each is idempotent."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from recollect.domain.entries import Entry
from recollect.domain.ids import ConversationId, EntryId, TreeId
from recollect.domain.jobs import Job, NewJob
from recollect.domain.search import IndexedWords
from recollect.errors import Unavailable
from recollect.ports.database import Database, Tx
from recollect.ports.embedding import Embedder
from recollect.ports.metrics import Metrics
from recollect.ports.runtime import Runtime
from recollect.ports.search import NewVectors, PendingText, PlacedText, Vector, VectorIndex
from recollect.ports.stores import Stores
from recollect.services.indexing import VECTOR_INDEX, Indexer, words_of
from recollect.services.jobs import Handler
from recollect.services.memory_indexing import MemoryIndexJobs

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
_LOOK_EVERY = timedelta(hours=1)
_LOOK_AGAIN = timedelta(minutes=1)
_EMBEDDED_BY = "embedding_model"
_COPIED_TO = "vector_database"


# A text that waits, with those around it, and the vectors of texts.
_Text = tuple[PendingText, Sequence[PlacedText]]
_Vectors = Mapping[str, Vector]


@dataclass(frozen=True, slots=True)
class IndexParts:
    """What makes and keeps vectors; without an embedder there are none."""

    embedder: Embedder | None
    beside: VectorIndex | None
    exact_max: int


@dataclass(frozen=True, slots=True)
class Reindexing:
    """How far a reindex is. What it asks for is queued first, which is quick; only then `pending`
    tells how many of all entries and memories still wait for a vector."""

    entries: int
    pending: int
    queueing: int
    waiting: int
    stuck: int

    @property
    def ended(self) -> bool:
        """Is there nothing left that somebody will do?"""
        return not self.queueing and not self.waiting


class IndexJobs:
    """Vectors of new texts, of all texts anew, and words of what was stored before."""

    def __init__(
        self,
        database: Database,
        stores: Stores,
        runtime: Runtime,
        metrics: Metrics,
        indexer: Indexer,
        parts: IndexParts,
        memories: MemoryIndexJobs,
    ) -> None:
        self._database = database
        self._stores = stores
        self._runtime = runtime
        self._metrics = metrics
        self._indexer = indexer
        self._parts = parts
        self._memories = memories

    def handlers(self) -> Mapping[str, Handler]:
        """By job type."""
        return {
            VECTOR_INDEX: self.index_tree,
            VECTOR_INDEX_RETRY: self.index_tree,
            REINDEX: self.reindex,
            BACKFILL: self.backfill,
            PREPARE_NEAREST: self.prepare_nearest,
        }

    async def schedule(self) -> None:
        """Queue what a change of the model or of the vector database asks for, and the regular
        looks at the vectors."""
        embedder = self._parts.embedder
        if embedder is None:
            return

        def work(tx: Tx) -> None:
            now = self._runtime.clock.now()
            self._stores.maintenance.put_state(tx, _EMBEDDED_BY, embedder.model)
            self._stores.jobs.insert(tx, _reindex_job(embedder.model, now, "lacking"))
            if self._is_new_beside(tx):
                self._stores.jobs.insert(tx, _reindex_job(embedder.model, now, "every"))
            self._stores.jobs.insert(tx, NewJob(PREPARE_NEAREST, {}, now, PREPARE_NEAREST))

        await self._database.write(work)

    def _is_new_beside(self, tx: Tx) -> bool:
        """Is there a vector database that was not there before? The answer is remembered."""
        name = self._parts.beside.name if self._parts.beside is not None else ""
        known = self._stores.maintenance.fetch_state(tx, _COPIED_TO) or ""
        if name != known:
            self._stores.maintenance.put_state(tx, _COPIED_TO, name)
        return name not in ("", known)

    async def start_reindex(self) -> None:
        """Queue new vectors for everything, and the index of texts that are in none yet."""
        embedder = self._parts.embedder
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

    async def reindexing(self) -> Reindexing:
        """How far a reindex is."""

        def work(tx: Tx) -> Reindexing:
            state, found = self._stores.jobs.state, self._stores.search.progress(tx)
            first = state(tx, types=(REINDEX, BACKFILL))
            then = state(tx, types=(VECTOR_INDEX, VECTOR_INDEX_RETRY))
            memories = self._memories.state(tx)
            return Reindexing(
                found.entries + memories.memories,
                found.pending + memories.pending,
                first.depth,
                then.depth + memories.waiting,
                first.stuck + then.stuck + memories.stuck,
            )

        return await self._database.read(work)

    async def index_tree(self, job: Job) -> NewJob | None:
        """Make a batch of the vectors that a tree waits for; the rest is another job, so that no
        tree keeps others waiting, nor a worker that shall stop. Of jobs that failed one is kept,
        as a retry."""
        tree_id = TreeId(job.body["conversationGroupId"])
        try:
            more = await self._index_batch(job.id, tree_id)
        except Unavailable:
            if await self._database.write(lambda tx: self._keep_for_retry(tx, job.id, tree_id)):
                raise
            return None
        return self._indexer.job(tree_id) if more else None

    async def reindex(self, job: Job) -> NewJob | None:
        """Let texts wait for vectors of today's model, all of them or those that have none. For
        the latter it comes back: a server with another model may still be at work."""
        model, every = job.body["model"], job.body["every"]
        if self._parts.embedder is None or self._parts.embedder.model != model:
            return await self._left_to_others(job)
        if every:
            await self._mark_every()
            await self._memories.mark()
            return None
        entries, memories = (
            await self._mark_lacking(model),
            await self._memories.mark(lacking=model),
        )
        pause = _LOOK_AGAIN if entries or memories else _LOOK_EVERY
        return _reindex_job(model, self._runtime.clock.now() + pause, "again")

    async def _left_to_others(self, job: Job) -> NewJob | None:
        """Those who have the model of the job. If it is not the newest, the job is out of date."""
        model, every = job.body["model"], job.body["every"]
        newest = await self._database.read(
            lambda tx: self._stores.maintenance.fetch_state(tx, _EMBEDDED_BY)
        )
        if newest != model:
            return None
        due_at = self._runtime.clock.now() + _LOOK_AGAIN
        return _reindex_job(model, due_at, "every" if every else "again")

    async def _mark_every(self) -> None:
        after: TreeId | None = None
        while True:
            done = await self._database.write(self._marking(after))
            if len(done) < _TREES_PER_TRANSACTION:
                return
            after = done[-1]

    async def _mark_lacking(self, model: str) -> bool:
        """Was there anything to mark?"""
        after: TreeId | None = None
        while True:
            found = await self._database.scan(self._reading_lacking(model, after))
            await self._database.write(self._marking_lacking(found, model))
            if len(found) < _TREES_PER_TRANSACTION:
                return after is not None or bool(found)
            after = found[-1]

    async def backfill(self, _: Job) -> None:
        """Index what was stored before there was an index."""

        after: EntryId | None = None
        while True:
            found = await self._database.read(self._reading_unwritten(after))
            if not found:
                return
            after = found[-1][0].id
            words = await words_of([text for _, text in found])
            texts = [(*one, its_words) for one, its_words in zip(found, words, strict=True)]
            await self._database.write(self._writing(texts))

    async def prepare_nearest(self, _: Job) -> NewJob | None:
        """Build the vector index of the engine once it pays, and look again later."""
        embedder = self._parts.embedder
        if embedder is None:
            return None
        missing = await self._database.read(
            lambda tx: self._stores.search.missing_index(
                tx, dimensions=embedder.dimensions, from_entries=self._parts.exact_max
            )
        )
        await self._database.apart(missing)
        due_at = self._runtime.clock.now() + _PREPARE_EVERY
        return NewJob(PREPARE_NEAREST, {}, due_at, PREPARE_NEAREST)

    async def _index_batch(self, job_id: str, tree_id: TreeId) -> bool:
        """One batch of waiting texts; False when none was left. Without an embedder there is
        nothing to wait for."""
        waiting = await self._database.write(lambda tx: self._take(tx, job_id, tree_id))
        if not waiting:
            return False
        near = await self._database.read(lambda tx: self._read_near(tx, waiting))
        texts = list(zip(waiting, near, strict=True))
        vectors = await self._embed(tree_id, texts)
        done = await self._database.write(lambda tx: self._put(tx, tree_id, texts, vectors))
        self._metrics.indexed(done)
        return len(waiting) == _TEXTS_PER_BATCH or done < len(waiting)

    async def _embed(self, tree_id: TreeId, texts: Sequence[_Text]) -> _Vectors:
        embedder, beside = self._parts.embedder, self._parts.beside
        if embedder is None:
            return {}
        distinct = _texts_to_embed(texts)
        vectors = dict(zip(distinct, await embedder.embed(distinct), strict=True))
        if beside is not None:
            await beside.put(tree_id, _new_vectors(texts, vectors))
        return vectors

    def _put(self, tx: Tx, tree_id: TreeId, texts: Sequence[_Text], vectors: _Vectors) -> int:
        """What was made of a text and those beside it while one of them changed is out of date: it
        might replace what another job made since. Such a text goes on waiting."""
        self._stores.conversations.lock(tx, ConversationId(tree_id))
        now_near = self._read_near(tx, [text for text, _ in texts])
        current = [one for one, now in zip(texts, now_near, strict=True) if one[1] == now]
        embedder = self._parts.embedder
        return self._stores.search.put_vectors(
            tx,
            tree_id,
            _new_vectors(current, vectors) if embedder is not None else [],
            [text for text, _ in current],
            model=embedder.model if embedder is not None else "",
            at=self._runtime.clock.now(),
        )

    def _take(self, tx: Tx, job_id: str, tree_id: TreeId) -> list[PendingText]:
        """Under the tree's lock the job gives up its name: an append that comes later queues a
        job of its own, and one that came before is seen here."""
        found = self._stores.search.pending(tx, tree_id, limit=_TEXTS_PER_BATCH)
        self._stores.jobs.detach(tx, job_id)
        return found

    def _keep_for_retry(self, tx: Tx, job_id: str, tree_id: TreeId) -> bool:
        """One job a tree is enough: it takes all that waits there. A job that is at hand has no
        name, so the one that has it waits still."""
        self._stores.conversations.lock(tx, ConversationId(tree_id))
        name = f"{VECTOR_INDEX_RETRY}:{tree_id}"
        return self._stores.jobs.rename(tx, job_id, type_=VECTOR_INDEX_RETRY, name=name)

    def _read_near(self, tx: Tx, waiting: Sequence[PendingText]) -> list[list[PlacedText]]:
        read = self._stores.search.texts_near
        return [read(tx, text.conversation_id, text.seq, reach=2) for text in waiting]

    def _reading_unwritten(self, after: EntryId | None) -> Callable[[Tx], list[tuple[Entry, str]]]:
        read = self._stores.search.page_unwritten
        return lambda tx: read(tx, after=after, limit=_ROWS_PER_TRANSACTION)

    def _writing(self, texts: Sequence[tuple[Entry, str, IndexedWords]]) -> Callable[[Tx], None]:
        """Trees are locked in the order of their ids."""
        held_at = self._indexer.held_at(self._runtime.clock.now())

        def work(tx: Tx) -> None:
            for entry, text, found in sorted(texts, key=lambda text: text[0].tree_id):
                if self._is_unwritten(tx, entry):
                    self._stores.search.update_text(tx, entry.id, text, at=held_at)
                    self._indexer.renew(tx, entry, found)

        return work

    def _is_unwritten(self, tx: Tx, entry: Entry) -> bool:
        """Nobody indexed it meanwhile, and it was not evicted. The tree's lock is taken first."""
        written = self._stores.search.is_written(tx, entry)
        return not written and self._stores.entries.fetch(tx, entry.id) is not None

    def _marking(self, after: TreeId | None) -> Callable[[Tx], list[TreeId]]:
        def work(tx: Tx) -> list[TreeId]:
            found = self._stores.search.mark_pending(tx, after=after, limit=_TREES_PER_TRANSACTION)
            for tree_id in found:
                self._indexer.queue(tx, tree_id)
            return found

        return work

    def _reading_lacking(self, model: str, after: TreeId | None) -> Callable[[Tx], list[TreeId]]:
        read, limit = self._stores.search.page_lacking, _TREES_PER_TRANSACTION
        return lambda tx: read(tx, model=model, after=after, limit=limit)

    def _marking_lacking(self, tree_ids: Sequence[TreeId], model: str) -> Callable[[Tx], None]:
        def work(tx: Tx) -> None:
            for tree_id in tree_ids:
                self._stores.search.mark_lacking(tx, tree_id, model=model)
                self._indexer.queue(tx, tree_id)

        return work


def _reindex_job(model: str, at: datetime, which: Literal["every", "lacking", "again"]) -> NewJob:
    body = {"model": model, "every": which == "every"}
    return NewJob(REINDEX, body, at, f"{REINDEX}:{model}:{which}")


def _texts_to_embed(texts: Sequence[_Text]) -> list[str]:
    """Own texts of what waits, and windows of that and of what stands beside it, each once."""
    own = (row.text for text, near in texts for row in near if row.entry_id == text.entry_id)
    windows = (window for text, near in texts for _, window in _windows(text.seq, near))
    return list(dict.fromkeys([*own, *windows]))


def _new_vectors(texts: Sequence[_Text], vectors: _Vectors) -> list[NewVectors]:
    own: dict[EntryId, str] = {}
    windows: dict[EntryId, tuple[ConversationId, str]] = {}
    for text, near in texts:
        own |= {row.entry_id: row.text for row in near if row.entry_id == text.entry_id}
        for entry_id, window in _windows(text.seq, near):
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


def _windows(seq: int, around: Sequence[PlacedText]) -> list[tuple[EntryId, str]]:
    """The windows that a text at this position is part of: its own and those beside it."""
    place = next((i for i, row in enumerate(around) if row.seq == seq), None)
    if place is None:
        return []
    chosen = range(max(place - 1, 0), min(place + 2, len(around)))
    return [(around[i].entry_id, window_text(around, i)) for i in chosen]


def window_text(around: Sequence[PlacedText], place: int) -> str:
    """A text between the beginnings of its neighbours, as one."""
    before = around[place - 1].text[:WINDOW_NEIGHBOUR_CHARS] if place else ""
    after = around[place + 1].text[:WINDOW_NEIGHBOUR_CHARS] if place + 1 < len(around) else ""
    return "\n".join(
        part for part in (before, around[place].text[:WINDOW_OWN_CHARS], after) if part
    )
