"""`recollect worker`, `migrate` and `reindex`: work on the stored data without a server."""

import asyncio
import signal
from typing import Annotated

import typer

from recollect.cli.options import (
    Config,
    DatabaseUrl,
    load_settings,
    require_database,
)
from recollect.cli.progress import progress
from recollect.kernel.errors import InvalidInput
from recollect.settings import Settings

NoWait = Annotated[
    bool, typer.Option("--no-wait", help="Only queue the work; servers and workers do it.")
]


def worker(config: Config = None, database_url: DatabaseUrl = None) -> None:
    """Work on background jobs until SIGTERM or SIGINT; the job at hand is finished first."""
    asyncio.run(_run_worker(load_settings(config, database_url=database_url).settings))


def migrate(config: Config = None, database_url: DatabaseUrl = None) -> None:
    """Bring the database's schema up to date. Changes nothing if it is."""
    from recollect.app.application import migrate as migrate_database

    settings = load_settings(config, database_url=database_url).settings
    with progress("Migrate", "steps") as show:
        report = migrate_database(settings, show)
    if report.from_version == report.to_version:
        print(f"The schema is up to date: version {report.to_version}.")
    else:
        print(f"The schema went from version {report.from_version} to {report.to_version}.")


def reindex(
    config: Config = None, database_url: DatabaseUrl = None, no_wait: NoWait = False
) -> None:
    """Make the vectors of all entries and memories anew. Search goes on meanwhile."""
    settings = load_settings(config, database_url=database_url).settings
    if not settings.makes_vectors:
        raise InvalidInput(
            "there are no vectors to make: embedding.provider is `none`, "
            "or search.semantic.enabled is false"
        )
    require_database(settings)
    from recollect.cli import reindexing

    if no_wait:
        reindexing.queue_reindex(settings)
        print("Queued: running servers and workers make the vectors.")
    else:
        reindexing.reindex(settings)


async def _run_worker(settings: Settings) -> None:
    from recollect.app.application import build

    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    app = build(settings)
    try:
        print("Recollect works on jobs. Stop it with Ctrl-C.", flush=True)
        await app.run_worker(stop)
    finally:
        await app.close()
