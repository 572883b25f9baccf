"""Vectors made by the worker, with its queue and its database, against the model alone on the same
texts: each entry's own and its window with its neighbours."""

import asyncio
import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from bench.harness import library
from bench.harness.results import Result
from bench.harness.rounds import Run, alternate
from bench.harness.stage import Stage
from recollect.app import application as app
from recollect.app.application import App
from recollect.db.transaction import Tx
from recollect.embedding.minilm import MiniLmEmbedder
from recollect.kernel.ids import EntryId, TreeId
from recollect.search.entries.index_jobs import window_text
from recollect.search.ports import PositionedText

NAME = "indexing"
ENTRIES = 2_000
NOWHERE = np.eye(1, MiniLmEmbedder.dimensions, dtype=np.float32)


def run(stage: Stage) -> Result:
    """The rate of indexed entries as a part of what the model alone could do."""
    entries = stage.size(ENTRIES, 100)
    with stage.database() as url, asyncio.Runner() as runner:
        library.write(url, entries=entries, owners=1, near=NOWHERE)
        texts = _embedded_texts(entries)
        with _indexing(url, runner) as indexing:
            sides = {"indexed": indexing, "bare": _embedding(texts, runner)}
            rounds = alternate(sides, stage.effort)
    ratio, spread = rounds.ratio("indexed", "bare")
    chars = sum(len(text) for pair in texts for text in pair) / len(texts)
    figures = (
        f"{rounds.rate('indexed'):.0f} entries/s indexed, {rounds.rate('bare'):.0f}/s by the model "
        f"alone, two vectors each, of {chars:.0f} characters together"
    )
    return Result(NAME, stage.engine, ratio, spread, None, figures)


@contextmanager
def _indexing(database_url: str, runner: asyncio.Runner) -> Iterator[Run]:
    """The worker in this process."""
    built = app.build(library.quiet_settings(database_url))
    runner.run(built.open())
    after: TreeId | None = None

    def run(count: int) -> float:
        nonlocal after
        trees = max(1, count // library.CONVERSATION_ENTRIES)
        after, marked = runner.run(_mark(built, after, trees))
        started_at = time.perf_counter()
        runner.run(_work(built))
        seconds = time.perf_counter() - started_at
        return seconds * count / (marked * library.CONVERSATION_ENTRIES)

    try:
        yield run
    finally:
        runner.run(built.close())


async def _mark(built: App, after: TreeId | None, trees: int) -> tuple[TreeId | None, int]:
    """Let the next trees wait for vectors; behind the last one comes the first."""

    def work(tx: Tx) -> list[TreeId]:
        found = built.context.stores.search.mark_pending(tx, after=after, limit=trees)
        for tree_id in found:
            built.context.entry_indexer.queue_job(tx, tree_id)
        return found

    found = await built.context.database.write(work)
    if not found:
        return await _mark(built, None, trees)
    return found[-1], len(found)


async def _work(built: App) -> None:
    while await built.jobs.worker.run_due():
        pass


def _embedding(texts: Sequence[tuple[str, str]], runner: asyncio.Runner) -> Run:
    """The model, with nothing around it."""
    model, asked = MiniLmEmbedder(), itertools.cycle(texts)

    def run(count: int) -> float:
        pairs = itertools.islice(asked, count)
        chosen = [text for pair in pairs for text in pair]
        started_at = time.perf_counter()
        runner.run(model.embed(chosen))
        return time.perf_counter() - started_at

    return run


def _embedded_texts(entries: int) -> list[tuple[str, str]]:
    """Of each entry its own text and that of its window."""
    found = []
    for _, texts in library.conversation_texts(entries, owners=1):
        placed = [PositionedText(EntryId(""), seq, text) for seq, text in enumerate(texts)]
        found += [(text, window_text(placed, seq)) for seq, text in enumerate(texts)]
    return found
