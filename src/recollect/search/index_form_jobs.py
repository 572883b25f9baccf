"""The job that rewrites the search index after `encryption.index` or the first key has changed."""

from collections.abc import Callable, Mapping

import structlog

from recollect.db.context import ServiceContext
from recollect.db.transaction import DatabaseStorage, Tx
from recollect.jobs.model import Job, JobHandler, NewJob
from recollect.kernel import strict_json
from recollect.search.store.bundle import SearchStores
from recollect.search.store.index_form import IndexPart, RewriteStep

INDEX_FORM = "search_index_form"
# The report of the last run that was completed, as JSON. `recollect doctor` shows it.
INDEX_FORM_REPORT = "search_index_form"

_PLAIN = "plain"
_ROWS_PER_TRANSACTION = 200
_TABLES = ("entry_index", "memory_index", "entries")
_log = structlog.get_logger("recollect.search")


class IndexFormJobs:
    """Brings all rows to the form that new rows are written in, and reports what it did."""

    def __init__(self, context: ServiceContext[SearchStores], storage: DatabaseStorage) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
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
        """Rewrite all rows of another form, then remove what is left of them in the files. A job
        for another form is out of date and ends; a job that was stopped starts again."""
        form = self._stores.index_form.form
        if job.body["form"] != form:
            return
        report: dict[str, object] = {"form": form}
        unreadable = 0
        for part in IndexPart:
            rewritten, lost = await self._rewrite_part(part)
            report[part] = rewritten
            unreadable += lost
        report["unreadable"] = unreadable
        # Pages of the file and of the engine's word index still have the old words.
        await self._storage.scrub(_TABLES)
        text = strict_json.dump(report)
        await self._database.write(
            lambda tx: self._stores.maintenance.put_state(tx, INDEX_FORM_REPORT, text)
        )
        _log.info("the search index was rewritten", **report)

    async def _rewrite_part(self, part: IndexPart) -> tuple[int, int]:
        after: int | str | None = None
        rewritten = unreadable = 0
        while True:
            step = await self._database.write(self._step(part, after))
            rewritten += step.rewritten
            unreadable += step.unreadable
            after = step.last
            if after is None:
                return rewritten, unreadable

    def _step(self, part: IndexPart, after: int | str | None) -> Callable[[Tx], RewriteStep]:
        return lambda tx: self._stores.index_form.rewrite(
            tx, part, after=after, limit=_ROWS_PER_TRANSACTION
        )
