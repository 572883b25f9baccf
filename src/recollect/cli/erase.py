"""`recollect erase`: removes a person everywhere, after a dry run and a question."""

import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.cli.connection import Session, Target, connect
from recollect.cli.failures import CommandFailed
from recollect.cli.options import Yes
from recollect.cli.output import (
    Output,
    note,
    to_json,
    visible,
    write,
    write_json,
    write_table,
)
from recollect.cli.people import find_person
from recollect.cli.portability import DryRun, Why
from recollect.cli.progress import progress
from recollect.kernel.errors import InvalidInput

if TYPE_CHECKING:
    from recollect_client import models

_POLL_SECONDS = 0.5
_INCOMPLETE_EXIT = 1


def erase(
    target: Target,
    output: Output,
    user: Annotated[str | None, typer.Argument(metavar="[USER]", help="The user to erase.")] = None,
    person: Annotated[
        str | None, typer.Option(metavar="PERSON", help="A person, by id or name.")
    ] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    why: Why = None,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Don't wait; a server finishes it.")
    ] = False,
) -> None:
    """Erase a user or a person everywhere. It can't be undone.

    First a dry run says what would be removed; then the command asks. It ends when a search for
    traces finds nothing.
    """
    if (user is None) == (person is None):
        raise InvalidInput("say whom: a USER, or --person PERSON")
    with connect(target, as_admin=True) as session:
        whom: dict[str, Any] = {"justification": why} if why else {}
        whom |= {"user_id": user} if person is None else {"person_id": find_person(session, person)}
        plan = session.operations.erase(dry_run=True, **whom)
        if dry_run:
            _print_report(plan, output)
            return
        if not yes:
            _ask(plan, user or person or "", session)
        begun = session.operations.erase(dry_run=False, **whom)
        if no_wait and session.is_server:
            output.report_done("Erasing", begun.id)
            return
        report = _wait(session, begun.id)
    _print_report(report, output)
    if report.status != "done":
        raise typer.Exit(_INCOMPLETE_EXIT)


def _ask(plan: "models.EraseReport", whom: str, session: Session) -> None:
    """Go on only if a person at the terminal types the name."""
    for line in _count_lines(plan):
        note(line)
    if not sys.stdin.isatty():
        raise CommandFailed("nothing was erased: say --yes, since nobody can be asked here", 2)
    note(f"This erases {whom} from {session.where} for good.")
    # On stderr, as all questions: stdout is for the report.
    print(f"Type {visible(whom)} to go on: ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip() != whom:
        raise CommandFailed("nothing was erased", 1)


def _wait(session: Session, erasure_id: str) -> "models.EraseReport":
    """The report at the end. An erasure that is incomplete runs again by itself, later."""
    with progress("Erase", "seconds") as show:
        begun = time.monotonic()
        while True:
            report = session.operations.get_erasure(erasure_id)
            if report.status != "running":
                return report
            show(int(time.monotonic() - begun), None)
            time.sleep(_POLL_SECONDS)


def _print_report(report: "models.EraseReport", output: Output) -> None:
    if output.as_json:
        write_json(to_json(report))
        return
    if output.quiet:
        write(visible(report.id))
        return
    for line in _count_lines(report):
        write(line)
    traces = [check for check in report.checks if check.found]
    if traces:
        write_table(traces, _CHECK_COLUMNS)
    elif report.checks:
        write(f"No trace was found in {len(report.checks)} places.")
    write(f"Not covered: {visible(', '.join(report.not_covered).replace('_', ' '))}.")
    if not report.dry_run:
        write(f"Erasure {visible(report.id)} is {visible(report.status)}.")


def _count_lines(report: "models.EraseReport") -> list[str]:
    counts = {name: count for name, count in report.counts.items() if count}
    if not counts:
        return ["Nothing is linked to them."]
    width = max(len(str(count)) for count in counts.values())
    lines = [
        f"{count:>{width}}  {visible(name.replace('_', ' '))}" for name, count in counts.items()
    ]
    heading = "This would be removed:" if report.dry_run else "Removed:"
    shared = [f"Of these, others share {report.joint}."] if report.joint else []
    return [heading, *lines, *shared]


_CHECK_COLUMNS = {
    "searched": lambda check: check.store,
    "traces": lambda check: check.found,
}
