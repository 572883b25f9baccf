"""Search over HTTP by both words and meaning, with query vectors that are known already: in a
large database against a small one, and against plain FTS5 in a file of its own."""

import asyncio
import itertools
import random
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw
import uvloop

from bench.harness import library, speech
from bench.harness.load import Load, clients_of, p95
from bench.harness.results import Goal, Result
from bench.harness.rounds import Rounds, Run, alternate
from bench.harness.server import request, serving
from bench.harness.stage import Stage
from recollect.app import application as app
from recollect.identity.model import Principal
from recollect.kernel.ids import UserId
from recollect.search.commands import SearchEntries
from recollect.search.entries.service import EntrySearchService
from recollect.text.tokens import STOP_WORDS

NAME = "search"
HYBRID = "hybrid"
MANY = 100_000, 170
FEW = 1_000, 2
QUESTIONS = 50
LIMIT = 10
SERVED = 10
GOAL = Goal(1.5, at_least=False)
HYBRID_GOAL = Goal(5, at_least=False)


def run(stage: Stage) -> Result:
    """How many times longer a search takes in the large database, by any of its owners."""
    rounds = _measured(stage)
    ratio, spread = rounds.ratio("few", "many")
    one, _ = rounds.ratio("few", "one")
    (many, owners), (few, pair) = _sizes(stage)
    figures = (
        f"{rounds.milliseconds('many'):.2f} ms in {many} entries of {owners} owners, "
        f"{rounds.milliseconds('few'):.2f} ms in {few} of {pair}; "
        f"one of the {owners} alone {rounds.milliseconds('one'):.2f} ms (ratio {one:.2f})"
    )
    return Result(NAME, stage.engine, ratio, spread, GOAL, figures)


def run_hybrid(stage: Stage) -> Result:
    """How many times longer 95 of 100 searches take than those of plain FTS5, at the most. Both
    are called in the process; over HTTP is shown beside."""
    rounds = _measured(stage)
    ratio, spread = rounds.ratio("fts5", "service")
    served, _ = rounds.ratio("fts5", "slow")
    figures = (
        f"p95 {rounds.milliseconds('service'):.2f} ms, "
        f"{rounds.milliseconds('fts5'):.2f} ms plain FTS5; "
        f"over HTTP {rounds.milliseconds('slow'):.2f} ms (ratio {served:.2f})"
    )
    return Result(HYBRID, stage.engine, ratio, spread, HYBRID_GOAL, figures)


def _sizes(stage: Stage) -> tuple[tuple[int, int], tuple[int, int]]:
    return ((600, 6), (100, 2)) if stage.quick else (MANY, FEW)


@cache
def _measured(stage: Stage) -> Rounds:
    """One run for both benchmarks: to fill the large database takes its time."""
    asked = list(itertools.islice(speech.questions(seed=1), QUESTIONS))
    near = library.vectors_of(asked)
    many, few = _sizes(stage)
    with (
        _searched(stage, many, asked, near) as large,
        _searched(stage, few, asked, near) as small,
        _plain_fts5(stage.folder / "plain.db", many, asked) as plain,
        _service(large, asked) as service,
    ):
        every, few_owners = _searches(large.owners, asked), _searches(small.owners, asked)
        sides = {
            "many": large.load.side([every]),
            "one": large.load.side([_searches(large.owners[:1], asked)]),
            "slow": large.load.slow_side([every]),
            "few": small.load.side([few_owners]),
            "fts5": plain,
            "service": service,
        }
        return alternate(sides, stage.effort)


@dataclass(frozen=True, slots=True)
class _Searched:
    """A database, whose it is, and the clients of a server on it."""

    database_url: str
    owners: Sequence[str]
    load: Load


@contextmanager
def _searched(
    stage: Stage, size: tuple[int, int], asked: Sequence[str], near: library.Vectors
) -> Iterator[_Searched]:
    """The server has seen every owner and every question once."""
    entries, owners = size
    with stage.database() as url, TemporaryDirectory(dir=stage.folder) as folder:
        names = library.write(url, entries=entries, owners=owners, near=near)
        with serving(url, Path(folder)) as server, clients_of(server.port) as load:
            count = max(len(names), len(asked))
            pairs = zip(itertools.cycle(names), itertools.cycle(asked), strict=False)
            first = [search(owner, text) for owner, text in itertools.islice(pairs, count)]
            load.side([first])(count)
            yield _Searched(url, names, load)


def _searches(owners: Sequence[str], asked: Sequence[str]) -> list[bytes]:
    """Every owner with every question, in no order: who comes next is nobody's guess."""
    found = [search(owner, text) for text in asked for owner in owners]
    random.Random(0).shuffle(found)
    return found


def search(owner: str, question: str) -> bytes:
    """The request: both words and meaning, the best ten conversations with an entry each."""
    body = {"query": question, "limit": LIMIT}
    return request("POST", "/v1/conversations/search", user_id=owner, body=body)


@contextmanager
def _service(searched: _Searched, asked: Sequence[str]) -> Iterator[Run]:
    """The search service in this process, for some of the owners: no HTTP, no JSON."""
    built = app.build(library.quiet_settings(searched.database_url))
    callers = [Principal(UserId(owner)) for owner in searched.owners[:SERVED]]
    wanted = itertools.cycle(
        [(caller, SearchEntries(text, limit=LIMIT)) for text in asked for caller in callers]
    )

    async def search_all(count: int) -> float:
        latencies = []
        for caller, asked_for in itertools.islice(wanted, count):
            started_at = time.perf_counter()
            await built.services[EntrySearchService].search(caller, asked_for)
            latencies.append(time.perf_counter() - started_at)
        return p95(latencies) * count

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(built.open())
        try:
            runner.run(search_all(len(callers) * len(asked)))
            yield lambda count: runner.run(search_all(count))
        finally:
            runner.run(built.close())


@contextmanager
def _plain_fts5(file: Path, size: tuple[int, int], asked: Sequence[str]) -> Iterator[Run]:
    """The same texts and questions: any word of the question, the owner in the same expression,
    the best ten by bm25. No HTTP, no access check, no JSON."""
    entries, owners = size
    connection = apsw.Connection(str(file))
    connection.execute(
        "CREATE VIRTUAL TABLE said USING fts5(owner, text, tokenize = 'porter unicode61')"
    )
    with connection:
        connection.executemany(
            "INSERT INTO said VALUES (?, ?)",
            (
                (owner, text)
                for owner, texts in library.conversation_texts(entries, owners)
                for text in texts
            ),
        )
    names = [library.owner_name(number) for number in range(owners)]
    matches = itertools.cycle([_match(owner, text) for text in asked for owner in names])

    def run(count: int) -> float:
        latencies = []
        for match in itertools.islice(matches, count):
            started_at = time.perf_counter()
            connection.execute(_BEST, (match, LIMIT)).fetchall()
            latencies.append(time.perf_counter() - started_at)
        return p95(latencies) * count

    try:
        yield run
    finally:
        connection.close()
        file.unlink()


def _match(owner: str, question: str) -> str:
    words = [f'"{word}"' for word in re.findall(r"\w+", question) if word not in STOP_WORDS]
    return f"owner : {owner} AND text : ({' OR '.join(words)})"


_BEST = "SELECT rowid, text FROM said WHERE said MATCH ? ORDER BY bm25(said) LIMIT ?"
