"""The job that rewrites the search index after the encryption of contents or of the index, or the
first key, has changed."""

from collections import Counter
from collections.abc import Callable, Mapping

import structlog

from recollect.db.context import ServiceContext
from recollect.db.transaction import DatabaseStorage, Tx
from recollect.jobs.model import Job, JobHandler, NewJob
from recollect.kernel import strict_json
from recollect.kernel.ids import ConversationId
from recollect.search.entries.indexing import EntryIndexer
from recollect.search.store.bundle import SearchStores
from recollect.search.store.index_form import (
    DROPPED,
    UNREADABLE,
    IndexPart,
    RewriteStep,
    TextReview,
)

INDEX_FORM = "search_index_form"
# The report of the last run that was completed, as JSON. `recollect doctor` shows it.
INDEX_FORM_REPORT = "search_index_form"

_PLAIN = "plain"
_ROWS_PER_TRANSACTION = 200
_TABLES = ("entry_index", "entry_embeddings", "memory_index", "memory_embeddings", "entries")
_COUNTS = (*IndexPart, DROPPED, UNREADABLE)
_log = structlog.get_logger("recollect.search")


class IndexFormJobs:
    """Brings all rows to the form that new rows are written in, and reports what it did."""

    def __init__(
        self,
        context: ServiceContext[SearchStores],
        indexer: EntryIndexer,
        storage: DatabaseStorage,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._indexer = indexer
        self._storage = storage

    def handlers(self) -> Mapping[str, JobHandler]:
        """The handler by job type."""
        return {INDEX_FORM: self.rewrite}

    async def schedule(self) -> None:
        """Queue the job if rows of another form may exist."""

        def work(tx: Tx) -> None:
            known = self._stores.maintenance.fetch_state(tx, INDEX_FORM_REPORT)
            form = _PLAIN if known is None else strict_json.load(known)["form"]
            current = self._stores.index_form.form
            if form != current:
                now = self._runtime.clock.now()
                job = NewJob(INDEX_FORM, {"form": current}, now, f"{INDEX_FORM}:{current}")
                self._stores.jobs.insert(tx, job)

        await self._database.write(work)

    async def rewrite(self, job: Job) -> None:
        """Rewrite or drop all rows of another form, then remove what is left of them in the files.
        A job for another form is out of date and ends; a job that was stopped starts again."""
        form = self._stores.index_form.form
        if job.body["form"] != form:
            return
        counts = Counter[str]()
        for part in IndexPart:
            counts += await self._rewrite_part(part)
        report: dict[str, object] = {"form": form} | {str(name): counts[name] for name in _COUNTS}
        # Pages of the file and of the engine's word index still have the old words.
        await self._storage.scrub(_TABLES)
        text = strict_json.dump(report)
        await self._database.write(
            lambda tx: self._stores.maintenance.put_state(tx, INDEX_FORM_REPORT, text)
        )
        _log.info("the search index was rewritten", **report)

    async def _rewrite_part(self, part: IndexPart) -> Counter[str]:
        reviews = part is IndexPart.TEXTS and self._stores.index_form.drops_raw
        after: int | str | None = None
        counts = Counter[str]()
        while True:
            step = (
                await self._review_texts(after)
                if reviews
                else await self._database.write(self._step(part, after))
            )
            counts += step.counts
            after = step.last
            if after is None:
                return counts

    def _step(self, part: IndexPart, after: int | str | None) -> Callable[[Tx], RewriteStep]:
        return lambda tx: self._stores.index_form.rewrite(
            tx, part, after=after, limit=_ROWS_PER_TRANSACTION
        )

    async def _review_texts(self, after: int | str | None) -> RewriteStep:
        """Drop the raw texts of a batch, and decrypt the others. Texts are judged beside other
        work; a batch of which somebody changed a text meanwhile is judged again."""
        counts = Counter[str]()
        while True:
            review = await self._database.scan(
                lambda tx: self._stores.index_form.review_texts(
                    tx, after=after, limit=_ROWS_PER_TRANSACTION
                )
            )
            done = await self._database.write(self._review_writer(review))
            counts += done
            if done.total() == len(review.changes):
                return RewriteStep(counts + Counter({UNREADABLE: review.unreadable}), review.last)

    def _review_writer(self, review: TextReview) -> Callable[[Tx], Counter[str]]:
        """Trees are locked in the order of their ids, so that two writers can't deadlock."""

        def work(tx: Tx) -> Counter[str]:
            counts = Counter[str]()
            for change in sorted(review.changes, key=lambda change: change.entry.tree_id):
                self._stores.conversations.lock(tx, ConversationId(change.entry.tree_id))
                if not self._stores.index_form.apply(tx, change):
                    continue
                if change.text is None:
                    self._indexer.remove(tx, change.entry)
                counts[DROPPED if change.text is None else IndexPart.TEXTS] += 1
            return counts

        return work
