"""`recollect worker` and `recollect migrate`."""

import asyncio
import signal

from recollect.cli.options import Config, DatabaseUrl, load_settings
from recollect.settings import Settings


def worker(config: Config = None, database_url: DatabaseUrl = None) -> None:
    """Work on background jobs until SIGTERM or SIGINT; the job at hand is finished first."""
    asyncio.run(_run_worker(load_settings(config, database_url=database_url).settings))


def migrate(config: Config = None, database_url: DatabaseUrl = None) -> None:
    """Bring the database's schema up to date. Changes nothing if it is."""
    from recollect.app.application import migrate as migrate_database

    report = migrate_database(load_settings(config, database_url=database_url).settings)
    if report.from_version == report.to_version:
        print(f"The schema is up to date: version {report.to_version}.")
    else:
        print(f"The schema went from version {report.from_version} to {report.to_version}.")


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
