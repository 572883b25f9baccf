"""`recollect doctor`: checks the installation and what is stored, and repairs it on request."""

import asyncio
import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.cli.options import (
    Config,
    DatabaseUrl,
    Json,
    load_settings,
    require_database,
)
from recollect.settings import Settings

if TYPE_CHECKING:
    from recollect.app.application import App
    from recollect.doctor.model import Diagnosis


RetryStuck = Annotated[
    bool, typer.Option("--retry-stuck", help="First give jobs that were given up new attempts.")
]

Repair = Annotated[bool, typer.Option("--repair", help="Repair what can be repaired.")]
Report = dict[str, Any]


def doctor(
    config: Config = None,
    database_url: DatabaseUrl = None,
    as_json: Json = False,
    retry_stuck: RetryStuck = False,
    repair: Repair = False,
) -> None:
    """Check the installation and print a report; exit code 1 if there are problems."""
    settings = load_settings(config, database_url=database_url).settings
    report, problems = asyncio.run(_examine(settings, retry_stuck=retry_stuck, repair=repair))
    print(json.dumps(report, indent=2) if as_json else _as_text(report))
    if problems:
        raise typer.Exit(1)


async def _examine(settings: Settings, *, retry_stuck: bool, repair: bool) -> tuple[Report, int]:
    require_database(settings)
    from recollect.app.application import build

    app = build(settings)
    try:
        if retry_stuck:
            await app.retry_stuck_jobs()
        return await _run_all_checks(app, repair=repair)
    finally:
        await app.close()


async def _run_all_checks(app: "App", *, repair: bool) -> tuple[Report, int]:
    """The report and the number of problems, from the health of the server and the doctor's checks.

    The checks decrypt texts. If rows are encrypted with a key that isn't configured the checks are
    left out (`memories` is null) until the key is back: they would fail on the first such row.
    After a repair the health is read again, since repairs change what it counts.
    """
    from recollect.doctor.commands import ExamineMemories
    from recollect.doctor.model import DoctorCheck
    from recollect.doctor.service import DoctorService

    report = await app.doctor()
    if report.unknown_keys:
        return report.to_dict() | {"memories": None}, report.problems
    found = await app.services[DoctorService].examine(None, ExamineMemories(repair=repair))
    if repair:
        report = await app.doctor()
    # `report.problems` counts stuck jobs already.
    wrong = (
        one for one in found.results if one.is_problem and one.check is not DoctorCheck.STUCK_JOBS
    )
    problems = report.problems + sum(one.remaining for one in wrong)
    return report.to_dict() | {"problems": problems, "memories": _results_to_json(found)}, problems


def _results_to_json(found: "Diagnosis") -> Report:
    return {
        str(one.check): {
            "count": one.count,
            "severity": str(one.severity),
            "repaired": one.repaired,
            "sample_ids": list(one.sample_ids),
        }
        for one in found.results
    }


def _as_text(report: Report, prefix: str = "") -> str:
    lines = []
    for name, value in report.items():
        if isinstance(value, dict) and value:
            lines.append(_as_text(value, f"{prefix}{name}."))
        else:
            text = value if isinstance(value, str) else json.dumps(value)
            lines.append(f"{prefix}{name}: {text}")
    return "\n".join(lines)
