"""A search with a question that nobody asked before against one whose vector is remembered: what
the embedding of a question costs."""

import asyncio
import itertools
import time
from collections.abc import Sequence

from bench.harness import library, speech
from bench.harness.load import clients_of
from bench.harness.results import Result
from bench.harness.rounds import Run, alternate
from bench.harness.server import serving
from bench.harness.stage import Stage
from bench.search import search
from recollect.embedding.minilm import MiniLmEmbedder

NAME = "queries"
ENTRIES = 1_000
KNOWN = 50
# More than the server remembers, so that each has been forgotten when its turn comes again.
NEW = 5_000


def run(stage: Stage) -> Result:
    """How many times longer a search takes if its question has to be embedded first."""
    asked = list(itertools.islice(speech.questions(seed=2), KNOWN + NEW))
    known, new = asked[:KNOWN], asked[KNOWN:]
    near = library.vectors_of(known)
    with stage.database() as url, asyncio.Runner() as runner:
        (owner,) = library.write(url, entries=stage.size(ENTRIES, 100), owners=1, near=near)
        with serving(url, stage.folder) as server, clients_of(server.port) as load:
            sides = {
                "known": load.side([[search(owner, text) for text in known]]),
                "new": load.side([[search(owner, text) for text in new]]),
                "embedding": _embedding(new, runner),
            }
            rounds = alternate(sides, stage.effort)
    ratio, spread = rounds.ratio("known", "new")
    figures = (
        f"{rounds.milliseconds('new'):.1f} ms with a new question, "
        f"{rounds.milliseconds('known'):.1f} ms with a known one; "
        f"its embedding alone {rounds.milliseconds('embedding'):.1f} ms on one thread"
    )
    return Result(NAME, stage.engine, ratio, spread, None, figures)


def _embedding(questions: Sequence[str], runner: asyncio.Runner) -> Run:
    """The model in this process."""
    model, asked = MiniLmEmbedder(), itertools.cycle(questions)

    def run(count: int) -> float:
        started_at = time.perf_counter()
        for question in itertools.islice(asked, count):
            runner.run(model.embed_query(question))
        return time.perf_counter() - started_at

    return run
