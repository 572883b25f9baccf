"""`recollect expire`, `vacuum` and `gc`: the cleanups that a server runs by its schedule, on demand
or as a dry run."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.cli.options import (
    Config,
    DatabaseUrl,
    Json,
    load_settings,
    require_database,
)
from recollect.kernel.clock import to_text
from recollect.kernel.retention_rules import VACUUM_DAYS, MemoryScope
from recollect.settings import Settings

if TYPE_CHECKING:
    from recollect.retention.cleanup_service import CleanupService


Report = dict[str, Any]
HousekeepingTask = Callable[["CleanupService"], Awaitable[Report]]

DryRun = Annotated[bool, typer.Option("--dry-run", help="Only count.")]
Really = Annotated[bool, typer.Option("--really", help="Do it. One of the two is required.")]
Scope = Annotated[MemoryScope | None, typer.Option("--scope", help="Only memories of this scope.")]
Days = Annotated[int, typer.Option("--older-than-days", min=0, help="Age of records that go.")]


def expire(
    dry_run: DryRun = False,
    really: Really = False,
    scope: Scope = None,
    config: Config = None,
    database_url: DatabaseUrl = None,
    as_json: Json = False,
) -> None:
    """Remove every memory that is past its expiry, without grace."""

    only_count = _is_dry_run(dry_run, really)

    async def work(service: "CleanupService") -> Report:
        from recollect.retention.commands import ExpireMemories

        return asdict(await service.expire(ExpireMemories(scope=scope, dry_run=only_count)))

    settings = load_settings(config, database_url=database_url).settings
    _print_report(asyncio.run(_run_housekeeping(settings, work)), as_json=as_json)


def vacuum(
    dry_run: DryRun = False,
    really: Really = False,
    scope: Scope = None,
    older_than_days: Days = VACUUM_DAYS,
    config: Config = None,
    database_url: DatabaseUrl = None,
    as_json: Json = False,
) -> None:
    """Remove what expired beyond its grace and old records, written to a backup first."""

    only_count = _is_dry_run(dry_run, really)

    async def work(service: "CleanupService") -> Report:
        from recollect.http.validation import validate_body
        from recollect.retention.commands import VacuumMemories

        sent = {"scope": scope, "older_than_days": older_than_days, "dry_run": only_count}
        done = await service.vacuum(validate_body(sent, VacuumMemories))
        return asdict(done) | {"cutoff": to_text(done.cutoff)}

    settings = load_settings(config, database_url=database_url).settings
    _print_report(asyncio.run(_run_housekeeping(settings, work)), as_json=as_json)


def gc(
    dry_run: DryRun = False,
    really: Really = False,
    config: Config = None,
    database_url: DatabaseUrl = None,
    as_json: Json = False,
) -> None:
    """Delete what expired beyond its grace, archive where a space is over quota, compact."""

    only_count = _is_dry_run(dry_run, really)

    async def work(service: "CleanupService") -> Report:
        from recollect.retention.commands import TidyMemories

        done = await service.gc(TidyMemories(dry_run=only_count))
        return {**done.by_step, "count": done.count}

    settings = load_settings(config, database_url=database_url).settings
    _print_report(asyncio.run(_run_housekeeping(settings, work)), as_json=as_json)


def _is_dry_run(dry_run: bool, really: bool) -> bool:
    """Whether it is a dry run. BadParameter unless exactly one of the two flags is given: there is
    no default, and both together are a mistake that must not delete anything."""
    if dry_run == really:
        raise typer.BadParameter("pass --dry-run or --really, and not both")
    return dry_run


async def _run_housekeeping(settings: Settings, work: HousekeepingTask) -> Report:
    require_database(settings)
    from recollect.app.application import build
    from recollect.retention.cleanup_service import CleanupService

    app = build(settings)
    try:
        await app.open(migrate=False)
        return await work(app.services[CleanupService])
    finally:
        await app.close()


def _print_report(report: Report, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(report, indent=2))
        return
    for name, value in report.items():
        print(f"{name}: {value if isinstance(value, str) else json.dumps(value)}")
