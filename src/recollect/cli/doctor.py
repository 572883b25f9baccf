"""`recollect doctor`: is everything in order?"""

import asyncio
import json
from typing import Annotated, Any

import typer

from recollect.app import build, require_database
from recollect.cli.options import Config, DatabaseUrl, Json, load_settings
from recollect.settings import Settings

RetryStuck = Annotated[
    bool, typer.Option("--retry-stuck", help="First give jobs that were given up new attempts.")
]


def doctor(
    config: Config = None,
    database_url: DatabaseUrl = None,
    as_json: Json = False,
    retry_stuck: RetryStuck = False,
) -> None:
    """Check the installation and print a report; exit code 1 if there are problems."""
    settings = load_settings(config, database_url=database_url).settings
    report, problems = asyncio.run(_examine(settings, retry_stuck=retry_stuck))
    print(json.dumps(report, indent=2) if as_json else _as_text(report))
    if problems:
        raise typer.Exit(1)


async def _examine(settings: Settings, *, retry_stuck: bool) -> tuple[dict[str, Any], int]:
    require_database(settings)
    app = build(settings)
    try:
        if retry_stuck:
            await app.retry_stuck_jobs()
        report = await app.doctor()
    finally:
        await app.close()
    return report.to_dict(), report.problems


def _as_text(report: dict[str, Any], prefix: str = "") -> str:
    lines = []
    for name, value in report.items():
        if isinstance(value, dict) and value:
            lines.append(_as_text(value, f"{prefix}{name}."))
        else:
            shown = value if isinstance(value, str) else json.dumps(value)
            lines.append(f"{prefix}{name}: {shown}")
    return "\n".join(lines)
