"""The work of `recollect reindex`: queue all texts, process the queue, show the progress."""

import asyncio
import signal
import sys

import typer

from recollect.app.application import App, build
from recollect.cli.options import INTERRUPTED_EXIT
from recollect.cli.progress import ShowProgress, progress
from recollect.kernel.errors import Internal
from recollect.search.entries.index_jobs import ReindexProgress
from recollect.settings import Settings

_POLL_SECONDS = 0.5


def reindex(settings: Settings) -> None:
    """Make all vectors again and show the progress, until the end or a signal."""
    # Opened before logging is set up, so that log lines are printed above the bar.
    with progress("Vectors", "texts", at_once=True) as show:
        state = asyncio.run(_run_reindex(settings, show))
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


async def _run_reindex(settings: Settings, show: ShowProgress) -> ReindexProgress:
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
            await _show_progress(app, show, stop)
        finally:
            stop.set()
            await working
        return await app.jobs.indexing.reindex_progress()
    finally:
        await app.close()


async def _show_progress(app: App, show: ShowProgress, stop: asyncio.Event) -> None:
    while not stop.is_set():
        state = await app.jobs.indexing.reindex_progress()
        # Until everything is queued the total grows.
        show(state.entries - state.pending, None if state.queueing else state.entries)
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
