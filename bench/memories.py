"""Memories in a large database against a small one: adds, searches and recalls over HTTP, and what
doctor and gc take for each row. Users have equally many memories in both, so that what is compared
is what others have stored; a database of fewer users with more each is shown beside."""

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.harness import library, memory_library, speech
from bench.harness.load import Load, clients_of
from bench.harness.memory_library import Size
from bench.harness.results import Goal, Result
from bench.harness.rounds import Rounds, alternate
from bench.harness.server import request, serving
from bench.harness.stage import Stage
from bench.memory_reads import FLAT_READS, ReadRequest, recall, search
from bench.memory_upkeep import doctor_rounds, gc_rounds

ADD, SEARCH, RECALL = "memory-add", "memory-search", "memory-recall"
DOCTOR, GC = "memory-doctor", "memory-gc"
FEW, MANY, WIDE = Size(2, 500), Size(200, 500), Size(50, 2_000)
QUICK = {"few": Size(2, 20), "many": Size(6, 20), "wide": Size(2, 60)}
QUESTIONS = 50
# More than a run adds: the same text again would be a repeat, which is another thing to do.
ADDS = 8_000
DOCTOR_ROUNDS = 3
# In the small database one takes milliseconds: a few would tell little.
GC_ROUNDS = 7
GOAL = Goal(1.5, at_least=False)


def run_add(stage: Stage) -> Result:
    """How many times longer a new memory takes in the large database."""
    return _result(ADD, stage)


def run_search(stage: Stage) -> Result:
    """The same of a search in one's own memories."""
    return _result(SEARCH, stage)


def run_recall(stage: Stage) -> Result:
    """The same of a block for a prompt."""
    return _result(RECALL, stage)


def flat_reads() -> dict[str, Callable[[Stage], Result]]:
    """The same of each read that names no space, or one that many share."""
    return {name: partial(_result, name) for name in FLAT_READS}


def run_doctor(stage: Stage) -> Result:
    """How many times longer doctor takes for a row of the large database."""
    return _upkeep_result(DOCTOR, stage)


def run_gc(stage: Stage) -> Result:
    """The same of gc."""
    return _upkeep_result(GC, stage)


def _sizes(stage: Stage) -> dict[str, Size]:
    return QUICK if stage.quick else {"few": FEW, "many": MANY, "wide": WIDE}


def _result(name: str, stage: Stage) -> Result:
    rounds, sizes = _measured(stage)[name], _sizes(stage)
    ratio, spread = rounds.ratio("few", "many")
    wide, _ = rounds.ratio("few", "wide")
    many, few = (
        f"{rounds.milliseconds(side):.2f} ms in {size.memories} memories of {size.users} users"
        for side, size in (("many", sizes["many"]), ("few", sizes["few"]))
    )
    beside = f"{rounds.milliseconds('wide'):.2f} ms where {sizes['wide'].users} users have "
    beside += f"{sizes['wide'].each} each (ratio {wide:.2f})"
    return Result(name, stage.engine, ratio, spread, GOAL, f"{many}, {few}; {beside}")


def _upkeep_result(name: str, stage: Stage) -> Result:
    rounds = _measured(stage)[name]
    ratio, spread = rounds.ratio("few", "many")
    many, few = (f"{1000 * rounds.milliseconds(side):.1f}" for side in ("many", "few"))
    sizes = _sizes(stage)
    figures = (
        f"{many} \u00b5s a row of {sizes['many'].memories} and more, "
        f"{few} \u00b5s of {sizes['few'].memories}"
    )
    return Result(name, stage.engine, ratio, spread, GOAL, figures)


@cache
def _measured(stage: Stage) -> dict[str, Rounds]:
    """One run for all: to fill the large databases takes its time. Searches come first, because
    the database is not the same behind the others."""
    asked = list(itertools.islice(speech.questions(seed=1), QUESTIONS))
    near = library.vectors_of(asked)
    with ExitStack() as open_:
        warm = {
            side: open_.enter_context(_warm_server(stage, size, asked, near))
            for side, size in _sizes(stage).items()
        }
        served = {
            name: alternate(
                {side: one.load.side([requests(one)]) for side, one in warm.items()}, stage.effort
            )
            for name, requests in _REQUESTS.items()
        }
        urls = {side: warm[side].database_url for side in ("few", "many")}
        return served | {
            DOCTOR: doctor_rounds(urls, stage.size(DOCTOR_ROUNDS, 1)),
            GC: gc_rounds(urls, stage.size(GC_ROUNDS, 1)),
        }


@dataclass(frozen=True, slots=True)
class _WarmServer:
    """Whose database it is, and the clients of a server on it."""

    database_url: str
    users: Sequence[str]
    asked: Sequence[str]
    adds: int
    load: Load


@contextmanager
def _warm_server(
    stage: Stage, size: Size, asked: Sequence[str], near: library.Vectors
) -> Iterator[_WarmServer]:
    """The server has seen every user and every question once. Nobody makes vectors meanwhile."""
    with stage.database() as url, TemporaryDirectory(dir=stage.folder) as folder:
        users = memory_library.write(url, size, near=near)
        with (
            serving(url, Path(folder), JOBS__EMBEDDED_WORKER="false") as server,
            clients_of(server.port) as load,
        ):
            count = max(len(users), len(asked))
            pairs = zip(itertools.cycle(users), itertools.cycle(asked), strict=False)
            first = [search(user, text) for user, text in itertools.islice(pairs, count)]
            load.side([first])(count)
            yield _WarmServer(url, users, asked, stage.size(ADDS, 400), load)


def _add(user: str, text: str) -> bytes:
    body = {"content": text, "space": {"kind": "user"}}
    return request("POST", "/v1/memories", user_id=user, body=body)


def _asking(ask: ReadRequest) -> Callable[[_WarmServer], list[bytes]]:
    """Every user with every question, in no order: who comes next is nobody's guess."""

    def requests(warm: _WarmServer) -> list[bytes]:
        found = [ask(user, text) for text in warm.asked for user in warm.users]
        random.Random(0).shuffle(found)
        return found

    return requests


def _adding(warm: _WarmServer) -> list[bytes]:
    texts = memory_library.texts(seed=-1)
    users = itertools.islice(itertools.cycle(warm.users), warm.adds)
    return [_add(user, text) for user, text in zip(users, texts, strict=False)]


_REQUESTS: dict[str, Callable[[_WarmServer], list[bytes]]] = {
    SEARCH: _asking(search),
    RECALL: _asking(recall),
    **{name: _asking(ask) for name, ask in FLAT_READS.items()},
    ADD: _adding,
}
