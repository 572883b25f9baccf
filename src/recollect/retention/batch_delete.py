"""Cleanup of many rows beside live traffic: scan candidates into a plan, execute it in batches.

The scan reads pages and changes nothing. Execution locks one batch a transaction, checks each row
again, acts, and updates the audit event. A dry run is the scan alone, so it counts with the code
that a real run deletes by.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.memories.model import CleanupRow
from recollect.memories.store.bulk import TimeCursor
from recollect.retention.store_bundle import RetentionStores

# Reads block nobody, so a page may be larger than a batch, which holds locks.
ROWS_PER_PAGE = 1_000
ROWS_PER_TRANSACTION = 500


@dataclass(frozen=True, slots=True)
class CleanupDecision:
    """Why a row is selected; with `goes` false it stays, and is counted as skipped."""

    rule: str
    goes: bool = True


# None: the row is not concerned.
RowRule = Callable[[CleanupRow], CleanupDecision | None]
BatchAction = Callable[[Tx, list[CleanupRow]], int]
# Takes the number of rows and the audit event to add them to (None: a new one); returns its id.
RecordBatch = Callable[[Tx, int, str | None], str]


@dataclass(slots=True)
class CleanupPlan:
    """The selected rows with the version that was judged, and how many each rule selected.

    Two arrays of 64-bit numbers, 16 bytes a row: a plan may have millions of rows, and ids as
    strings would take about ten times as much memory.
    """

    docs: "array[int]" = field(default_factory=lambda: array("q"))
    versions: "array[int]" = field(default_factory=lambda: array("q"))
    by_rule: Counter[str] = field(default_factory=Counter)
    skipped: int = 0

    @property
    def count(self) -> int:
        """How many rows are selected."""
        return len(self.docs)

    def add_row(self, row: CleanupRow, verdict: CleanupDecision | None) -> None:
        """Count one row that was judged."""
        if verdict is None:
            return
        if not verdict.goes:
            self.skipped += 1
            return
        self.docs.append(row.doc)
        self.versions.append(row.version)
        self.by_rule[verdict.rule] += 1

    def batches(self, size: int = ROWS_PER_TRANSACTION) -> Iterator[dict[int, int]]:
        """The selected rows in batches, as row number to version."""
        for at in range(0, self.count, size):
            docs, versions = self.docs[at : at + size], self.versions[at : at + size]
            yield dict(zip(docs, versions, strict=True))


@dataclass(frozen=True, slots=True)
class CandidateScan:
    """A paged read of candidates, the time column that orders it, and the rule for each row."""

    pages: Callable[[Tx, TimeCursor | None, int], Sequence[CleanupRow]]
    time_of: Callable[[CleanupRow], datetime | None]
    judge: RowRule


@dataclass(frozen=True, slots=True)
class CleanupRun:
    """A plan, the rule to check again, and the action, on `size` rows a transaction."""

    plan: CleanupPlan
    judge: RowRule
    act: BatchAction
    size: int = ROWS_PER_TRANSACTION


@dataclass(frozen=True, slots=True)
class CleanupProgress:
    """How many rows were changed so far, and the audit event that counts them."""

    count: int
    event_id: str | None


class CleanupRunner:
    """Makes plans and executes them."""

    def __init__(self, context: ServiceContext[RetentionStores]) -> None:
        self._database = context.database
        self._stores = context.stores

    async def make_plan(self, *scans: CandidateScan) -> CleanupPlan:
        """Judge every candidate of the scans, one page a read transaction.

        Pages come from different snapshots: a long scan must not hold one open. Execution checks
        each row again, so a plan may be out of date.
        """
        plan = CleanupPlan()
        for scan in scans:
            await self._scan_into(scan, plan)
        return plan

    async def execute_run(
        self, run: CleanupRun, *, record_batch: RecordBatch, event_id: str | None
    ) -> CleanupProgress:
        """Apply the action to every planned row that has not changed since it was planned.

        Batches are small so that live writes wait for one of them at most. Each batch changes its
        rows and the audit event in one transaction: the first inserts the event (unless `event_id`
        names one), the others add to its count. After a crash the event counts exactly what was
        committed; the rows that are left are found by the next run. Rejected: one transaction (it
        would block SQLite's only writer for minutes and lose all work if it fails), an event for
        each row (the log would outgrow what was deleted), and an event at the end (a crash would
        leave deletions without one).
        """
        done = CleanupProgress(0, event_id)
        for batch in run.plan.batches(run.size):
            work = self._batch_transaction(batch, run, record_batch, event_id=done.event_id)
            step = await self._database.write(work)
            done = CleanupProgress(done.count + step.count, step.event_id)
        return done

    async def _scan_into(self, scan: CandidateScan, plan: CleanupPlan) -> None:
        after: TimeCursor | None = None
        while True:
            page = await self._database.read(_page_transaction(scan, after))
            for row in page:
                plan.add_row(row, scan.judge(row))
            if len(page) < ROWS_PER_PAGE:
                return
            # A keyset cursor: rows that are inserted or deleted meanwhile shift no page.
            last = page[-1]
            after = (scan.time_of(last) or last.created_at, last.id)

    def _batch_transaction(
        self,
        batch: Mapping[int, int],
        run: CleanupRun,
        record_batch: RecordBatch,
        *,
        event_id: str | None,
    ) -> Callable[[Tx], CleanupProgress]:
        def work(tx: Tx) -> CleanupProgress:
            # The locked rows are current. One is skipped if it is gone or being erased
            # (`fetch_locked` does not return it), if its version differs (somebody changed it after
            # the scan), or if the rule no longer selects it.
            locked = self._stores.memory_bulk.fetch_locked(tx, list(batch))
            same = (row for row in locked if row.version == batch[row.doc])
            rows = [row for row in same if (verdict := run.judge(row)) and verdict.goes]
            count = run.act(tx, rows)
            return CleanupProgress(count, record_batch(tx, count, event_id))

        return work


def _page_transaction(
    scan: CandidateScan, after: TimeCursor | None
) -> Callable[[Tx], Sequence[CleanupRow]]:
    return lambda tx: scan.pages(tx, after, ROWS_PER_PAGE)
