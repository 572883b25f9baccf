"""Walks over many rows beside live traffic: first a plan, then its execution in small batches.

A dry run is the plan alone, so it counts by the same code that a real run removes by.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recollect.domain.housekeeping import Brief
from recollect.ports.database import Database, Tx
from recollect.ports.housekeeping import Place
from recollect.ports.stores import Stores

ROWS_PER_PAGE = 1_000
ROWS_PER_TRANSACTION = 500


@dataclass(frozen=True, slots=True)
class Verdict:
    """By which rule a row goes, or that something keeps it that is worth telling."""

    rule: str
    goes: bool = True


Judge = Callable[[Brief], Verdict | None]
Act = Callable[[Tx, list[Brief]], int]
# Of how many rows to tell, and the event to add them to, if there is one; the event's id.
Tell = Callable[[Tx, int, str | None], str]


@dataclass(slots=True)
class Plan:
    """Which rows are to go, in which version, and by which rule. Numbers and not ids: there may be
    millions of them."""

    docs: "array[int]" = field(default_factory=lambda: array("q"))
    versions: "array[int]" = field(default_factory=lambda: array("q"))
    by_rule: Counter[str] = field(default_factory=Counter)
    skipped: int = 0

    @property
    def count(self) -> int:
        """How many rows go."""
        return len(self.docs)

    def note(self, row: Brief, verdict: Verdict | None) -> None:
        """One more row that was looked at."""
        if verdict is None:
            return
        if not verdict.goes:
            self.skipped += 1
            return
        self.docs.append(row.doc)
        self.versions.append(row.version)
        self.by_rule[verdict.rule] += 1

    def batches(self, size: int = ROWS_PER_TRANSACTION) -> Iterator[dict[int, int]]:
        """The rows that go, some at a time: number to version."""
        for at in range(0, self.count, size):
            docs, versions = self.docs[at : at + size], self.versions[at : at + size]
            yield dict(zip(docs, versions, strict=True))


@dataclass(frozen=True, slots=True)
class Walk:
    """Rows to look at, the time that they are ordered by, and the rule by which one goes."""

    pages: Callable[[Tx, Place | None, int], Sequence[Brief]]
    time_of: Callable[[Brief], datetime | None]
    judge: Judge


@dataclass(frozen=True, slots=True)
class Sweep:
    """A plan, the rule that is asked again before each batch, and what is done, `size` rows a
    transaction."""

    plan: Plan
    judge: Judge
    act: Act
    size: int = ROWS_PER_TRANSACTION


@dataclass(frozen=True, slots=True)
class Swept:
    """How many rows were dealt with, and the event that tells of them."""

    count: int
    event_id: str | None


class Sweeper:
    """Plans and carries out."""

    def __init__(self, database: Database, stores: Stores) -> None:
        self._database = database
        self._stores = stores

    async def plan(self, *walks: Walk) -> Plan:
        """What the rules say of every row of the walks, a page a transaction."""
        plan = Plan()
        for walk in walks:
            await self._follow(walk, plan)
        return plan

    async def carry_out(self, sweep: Sweep, *, tell: Tell, event_id: str | None) -> Swept:
        """Do it to every planned row that is still as it was when it was planned.

        The first batch writes the event if there is none yet, others add to its count, each in
        its own transaction.
        """
        swept = Swept(0, event_id)
        for batch in sweep.plan.batches(sweep.size):
            work = self._acting(batch, sweep, tell, event_id=swept.event_id)
            step = await self._database.write(work)
            swept = Swept(swept.count + step.count, step.event_id)
        return swept

    async def _follow(self, walk: Walk, plan: Plan) -> None:
        after: Place | None = None
        while True:
            page = await self._database.read(_reading(walk, after))
            for row in page:
                plan.note(row, walk.judge(row))
            if len(page) < ROWS_PER_PAGE:
                return
            last = page[-1]
            after = (walk.time_of(last) or last.created_at, last.id)

    def _acting(
        self, batch: Mapping[int, int], sweep: Sweep, tell: Tell, *, event_id: str | None
    ) -> Callable[[Tx], Swept]:
        def work(tx: Tx) -> Swept:
            held = self._stores.memory_bulk.hold(tx, list(batch))
            same = (row for row in held if row.version == batch[row.doc])
            rows = [row for row in same if (verdict := sweep.judge(row)) and verdict.goes]
            count = sweep.act(tx, rows)
            return Swept(count, tell(tx, count, event_id))

        return work


def _reading(walk: Walk, after: Place | None) -> Callable[[Tx], Sequence[Brief]]:
    return lambda tx: walk.pages(tx, after, ROWS_PER_PAGE)
