"""How many rows a second doctor looks through, and gc: both called in the process, on databases
whose servers do nothing meanwhile."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import uvloop
from sqlalchemy import func, literal_column, select, update

from bench.harness.library import quiet_settings
from bench.harness.rounds import Rounds
from bench.harness.seeds import START
from recollect.app import application as app
from recollect.app.application import App
from recollect.db.statements import Query, param
from recollect.db.tables.memories import memories
from recollect.db.transaction import Tx
from recollect.doctor.commands import ExamineMemories
from recollect.doctor.service import DoctorService
from recollect.retention.cleanup_service import CleanupService
from recollect.retention.commands import TidyMemories

# Of so many rows one is due in each round of gc.
_DUE_SHARE = 50
_DOC = memories.c.doc
_COUNT = Query(select(func.count()).select_from(memories))
_LET_EXPIRE = Query(
    update(memories)
    .where(_DOC % literal_column(str(_DUE_SHARE)) == param("turn", _DOC))
    .values(expires_at=param("at", memories.c.expires_at))
)


@dataclass(frozen=True, slots=True)
class _House:
    """The services on one database."""

    built: App
    runner: "asyncio.Runner"

    def doctor(self, _: int) -> float:
        """How many rows a second."""
        rows = self._rows()
        started_at = time.perf_counter()
        self.runner.run(self.built.services[DoctorService].examine(None, ExamineMemories()))
        return rows / (time.perf_counter() - started_at)

    def gc(self, turn: int) -> float:
        """The same, of a round that removes some of them."""
        self._let_expire(turn)
        rows = self._rows()
        started_at = time.perf_counter()
        self.runner.run(self.built.services[CleanupService].gc(TidyMemories(dry_run=False)))
        return rows / (time.perf_counter() - started_at)

    def _rows(self) -> int:
        def work(tx: Tx) -> int:
            return int(tx.fetch(_COUNT, {})[0][0])

        return self.runner.run(self.built.context.database.read(work))

    def _let_expire(self, turn: int) -> None:
        params = {"turn": turn, "at": START}
        self.runner.run(self.built.context.database.write(lambda tx: tx.run(_LET_EXPIRE, params)))


def doctor_rounds(urls: Mapping[str, str], times: int) -> Rounds:
    """Of each side's database, in turn."""
    with _houses(urls) as houses:
        houses["few"].doctor(0)
        return _rounds({side: house.doctor for side, house in houses.items()}, times)


def gc_rounds(urls: Mapping[str, str], times: int) -> Rounds:
    """The same."""
    with _houses(urls) as houses:
        houses["few"].gc(0)
        return _rounds({side: house.gc for side, house in houses.items()}, times)


def _rounds(sides: Mapping[str, Callable[[int], float]], times: int) -> Rounds:
    rates: dict[str, list[float]] = {side: [] for side in sides}
    for turn in range(1, times + 1):
        for side in sorted(sides, reverse=bool(turn % 2)):
            rates[side].append(sides[side](turn))
    return Rounds(rates)


@contextmanager
def _houses(urls: Mapping[str, str]) -> Iterator[dict[str, _House]]:
    with ExitStack() as open_:
        yield {side: open_.enter_context(_house(url)) for side, url in urls.items()}


@contextmanager
def _house(database_url: str) -> Iterator[_House]:
    built = app.build(quiet_settings(database_url))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(built.open())
        try:
            yield _House(built, runner)
        finally:
            runner.run(built.close())
