"""`recollect doctor`: checks the installation and what is stored, and repairs it on request."""

import asyncio
import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.cli.connection import Target, connect, database_url, find_profile
from recollect.cli.options import (
    Json,
    load_settings,
    require_database,
)
from recollect.cli.output import visible, write, write_json
from recollect.kernel.errors import InvalidInput
from recollect.settings import Settings

if TYPE_CHECKING:
    from recollect.app.application import App
    from recollect.doctor.model import Diagnosis


RetryStuck = Annotated[
    bool, typer.Option("--retry-stuck", help="First give jobs that were given up new attempts.")
]

Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print all that was looked at.")]
Repair = Annotated[bool, typer.Option("--repair", help="Repair what can be repaired.")]
Report = dict[str, Any]


def doctor(
    target: Target,
    as_json: Json = False,
    retry_stuck: RetryStuck = False,
    repair: Repair = False,
    verbose: Verbose = False,
) -> None:
    """Check the installation and what is stored; exit code 1 if there are problems.

    On a server (--url or --profile) only an admin may ask, and it looks at memories.
    """
    profile = find_profile(target, uses_default=False)
    if profile.url is not None:
        if retry_stuck:
            raise InvalidInput("--retry-stuck works on a database here, not on a server")
        report, problems = _examine_server(target, repair=repair)
    else:
        url = target.database_url
        if profile.database is not None:
            url = database_url(profile.database)
        settings = load_settings(target.config, database_url=url).settings
        report, problems = asyncio.run(_examine(settings, retry_stuck=retry_stuck, repair=repair))
    if as_json:
        write_json(report)
    elif verbose:
        write(visible(_as_text(report)))
    else:
        for line in _summary(report, problems):
            write(visible(line))
    if problems:
        raise typer.Exit(1)


def _examine_server(target: Target, *, repair: bool) -> tuple[Report, int]:
    """The report of a server and the number of its problems."""
    with connect(target, is_long=True, uses_default=False) as session:
        found = session.operations.examine_memories(repair=repair)
        queue = session.operations.admin_get_health().queue
    checks = {
        str(one.name): {
            "count": one.count,
            "severity": str(one.severity),
            "repaired": one.repaired,
            "sample_ids": one.sample_ids,
        }
        for one in found.checks
    }
    problems = sum(one.count - one.repaired for one in found.checks if one.severity != "info")
    report = {"problems": problems, "queue": {"depth": queue.depth, "stuck": queue.stuck}}
    return report | {"memories": checks}, problems


def _summary(report: Report, problems: int) -> list[str]:
    """What is wrong, and what to do; one line if nothing is."""
    if not problems:
        return ["All is well."]
    # What was repaired is told too; a mere notice is not.
    lines = [
        f"{name.replace('_', ' ')}: {check['count']}{_repair_note(check)}, "
        f"such as {', '.join(check['sample_ids'])}"
        for name, check in (report["memories"] or {}).items()
        if check["count"] and check["severity"] != "info"
    ]
    orphans = report.get("orphans", {})
    lines += [f"{name.replace('_', ' ')}: {count}" for name, count in orphans.items() if count]
    if keys := report.get("unknown_encryption_keys"):
        lines.append(f"rows with a key that is not in encryption.keys: {', '.join(keys)}")
    if unreadable := report.get("encryption_sample", {}).get("unreadable_values"):
        lines.append(f"values that can't be decrypted: {', '.join(map(str, unreadable))}")
    if report["queue"]["stuck"]:
        lines.append(f"jobs that were given up: {report['queue']['stuck']}")
    count = "1 problem" if problems == 1 else f"{problems} problems"
    return [
        *lines,
        f"{count}. All details: `recollect doctor -v`. Repair: `recollect doctor --repair`; jobs "
        "that were given up: `recollect doctor --retry-stuck`.",
    ]


def _repair_note(check: dict[str, Any]) -> str:
    return f" ({check['repaired']} repaired)" if check["repaired"] else ""


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
