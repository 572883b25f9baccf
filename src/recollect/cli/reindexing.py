"""The work of `recollect reindex`: queue all texts, process the queue, show the progress."""

import asyncio
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from recollect.app.application import App, build
from recollect.cli.options import INTERRUPTED_EXIT
from recollect.kernel.errors import Internal
from recollect.search.entries.index_jobs import ReindexProgress
from recollect.settings import Settings

_POLL_SECONDS = 0.5
_LINE_SECONDS = 10.0


class _ProgressDisplay(Protocol):
    """Shows the progress."""

    def show(self, state: ReindexProgress) -> None:
        """Show the state. Called a few times a second."""
        ...


def reindex(settings: Settings) -> None:
    """Make all vectors again and show the progress, until the end or a signal."""
    with _open_display() as display:
        state = asyncio.run(_run_reindex(settings, display))
    _report_end(state)


def queue_reindex(settings: Settings) -> None:
    """Only queue the work, for servers and workers to do."""
    asyncio.run(_queue_reindex(settings))


async def _queue_reindex(settings: Settings) -> None:
    app = build(settings)
    try:
        await app.open()
        await app.jobs.indexing.start_reindex()
    finally:
        await app.close()


async def _run_reindex(settings: Settings, display: _ProgressDisplay) -> ReindexProgress:
    """Queue the work, then process it beside any other workers, until the end or a signal. Returns
    the state after the job at hand is finished."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    app = build(settings)
    try:
        await app.open()
        await app.jobs.indexing.start_reindex()
        working = asyncio.create_task(app.run_worker(stop))
        try:
            await _show_progress(app, display, stop)
        finally:
            stop.set()
            await working
        return await app.jobs.indexing.reindex_progress()
    finally:
        await app.close()


async def _show_progress(app: App, display: _ProgressDisplay, stop: asyncio.Event) -> None:
    while not stop.is_set():
        state = await app.jobs.indexing.reindex_progress()
        display.show(state)
        if state.is_done:
            return
        try:
            await asyncio.wait_for(stop.wait(), _POLL_SECONDS)
        except TimeoutError:
            continue


def _report_end(state: ReindexProgress) -> None:
    """Print the result. Unfinished work stays in the queue, whatever stopped it; then the exit code
    is not 0."""
    if not state.is_done:
        print(
            f"recollect: interrupted; {state.pending} of {state.entries} texts still wait, and "
            "stay queued: servers and workers go on, for example `recollect worker`",
            file=sys.stderr,
        )
        raise typer.Exit(INTERRUPTED_EXIT)
    if state.pending or state.stuck:
        raise Internal(
            f"{state.pending} of {state.entries} texts got no vector, and {state.stuck} jobs "
            "were given up: see the log, fix the cause, then run "
            "`recollect doctor --retry-stuck` and this again"
        )
    print(f"Done: {state.entries} texts have new vectors.")


@contextmanager
def _open_display() -> Iterator[_ProgressDisplay]:
    """A progress bar on a terminal, else lines. It is opened before logging is set up, so that log
    lines are printed above the bar."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _ProgressLines()
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, _RateColumn(), TimeRemainingColumn(), console=console) as progress:
        yield _ProgressBar(progress)


class _ProgressBar:
    """A bar that pulses until everything is queued and the total is known."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("Queueing", total=None)

    def show(self, state: ReindexProgress) -> None:
        if state.queueing:
            return
        self._progress.update(
            self._task,
            description="Vectors",
            total=state.entries,
            completed=state.entries - state.pending,
        )


class _RateColumn(ProgressColumn):
    """The column with texts per second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:.0f}/s" if speed else "")


class _ProgressLines:
    """A line every few seconds, for logs and pipes."""

    def __init__(self) -> None:
        self._at = time.monotonic()
        self._done: int | None = None

    def show(self, state: ReindexProgress) -> None:
        """Print the first line as soon as everything is queued: before that the total grows."""
        done, now = state.entries - state.pending, time.monotonic()
        if state.queueing or (self._done is not None and now < self._at + _LINE_SECONDS):
            return
        line = f"{done} of {state.entries} texts"
        if self._done is not None:
            line += _format_rate(done - self._done, now - self._at, state.pending)
        print(line, file=sys.stderr, flush=True)
        self._at, self._done = now, done


def _format_rate(made: int, seconds: float, left: int) -> str:
    """The rate since the last line, and the time that the rest takes at that rate."""
    rate = made / seconds
    return f", {rate:.0f}/s" + (f", about {left / rate:.0f} s left" if made > 0 else "")
