"""`recollect export`, `import` and `stats`: all data as lines of JSON, and how much it is."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from recollect.cli.connection import Session, Target, connect
from recollect.cli.output import (
    STDIN,
    File,
    Output,
    new_file,
    to_json,
    to_text,
    visible_json,
    write,
    write_fields,
    write_json,
    write_table,
)
from recollect.cli.progress import ShowProgress, progress
from recollect.cli.transfers import export_lines, import_pieces
from recollect.kernel.errors import InvalidInput

if TYPE_CHECKING:
    from recollect_client import models

_PAGE = 200
_PLURALS = {"memory": "memories", "person": "people"}
_PIECE_BYTES = 64 * 1024
_REFUSED_EXIT = 2

Why = Annotated[str | None, typer.Option("--why", help="The reason, for the audit log.")]
Source = Annotated[str, typer.Argument(metavar="FILE", help="The file of an export; - for stdin.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only tell what would be done.")]


def export_file(
    target: Target,
    output: Output,
    file: File = None,
    why: Why = None,
    status: Annotated[
        str, typer.Option(help="Such as active or superseded; all for every one.")
    ] = "all",
    agent: Annotated[str | None, typer.Option(metavar="ID", help="Only of this agent.")] = None,
    embeddings: Annotated[bool, typer.Option("--embeddings", help="Vectors, too.")] = False,
) -> None:
    """Export memories with what they refer to, as one JSON object a line.

    From a database here all of them; from a server those of spaces that you may write, and as an
    admin all.
    """
    query: dict[str, Any] = {"status": status}
    query |= {"agent_id": agent} if agent else {}
    query |= {"justification": why} if why else {}
    query |= {"include": "embedding"} if embeddings else {}
    count = 0
    with (
        connect(target, as_admin=target.asker is None) as session,
        new_file(file) as put,
        progress("Export", "lines") as show,
    ):
        for line in export_lines(session, query):
            put(visible_json(line))
            count += 1
            show(count, None)
    if file is not None:
        output.note(f"Exported {count} lines to {file}")


def import_file(
    source: Source,
    target: Target,
    output: Output,
    mode: Annotated[
        str,
        typer.Option(help="For ids that are taken: fail, merge (the later one stays), replace."),
    ] = "merge",
    dry_run: DryRun = False,
    why: Why = None,
) -> None:
    """Import the lines of an export. Ids and times are kept, every text is screened.

    A line that is refused does not stop the others; the exit code is 2 then.
    """
    query: dict[str, Any] = {"mode": mode, "dry_run": dry_run}
    query |= {"justification": why} if why else {}
    with (
        _open_source(source) as file,
        connect(target, creates=True, as_admin=target.asker is None) as session,
        progress("Import", "bytes", is_size=True) as show,
    ):
        report = import_pieces(session, _read_pieces(file, show), query)
    if output.as_json:
        write_json(to_json(report))
    elif not output.quiet:
        counts = ("read", "created", "updated", "skipped")
        write_fields({name: str(getattr(report, name)) for name in counts})
        if report.refused:
            write("")
            write_table(report.refused, _REFUSED_COLUMNS)
    if report.refused:
        raise typer.Exit(_REFUSED_EXIT)


_REFUSED_COLUMNS = {
    "refused line": lambda one: one.line,
    "code": lambda one: one.code,
    "field": lambda one: one.field,
    "message": lambda one: one.message,
}


def _open_source(source: str) -> BinaryIO:
    if source == STDIN:
        return sys.stdin.buffer
    try:
        return Path(source).open("rb")
    except OSError as error:
        raise InvalidInput(f"can't read {source}: {error.strerror}") from error


def _read_pieces(file: BinaryIO, show: ShowProgress) -> Iterator[bytes]:
    """The file piece by piece. What is read was sent before, so it is what is done."""
    total = None
    if file.seekable():
        total = file.seek(0, 2)
        file.seek(0)
    done = 0
    while piece := file.read(_PIECE_BYTES):
        show(done, total)
        yield piece
        done += len(piece)
    show(done, total)


def stats(target: Target, output: Output) -> None:
    """Count what is stored: in a database here all of it, on a server what you may see."""
    with (
        connect(target, as_admin=target.asker is None) as session,
        progress("Count", "lines") as show,
    ):
        counts = _count_memories(session, show)
        counts["conversations"] = _count_conversations(session)
        health = _read_health(session)
        where = session.where
    if output.as_json:
        write_json({"where": where, **counts, "server": health})
        return
    write_fields({"where": where, **{name: _to_cell(value) for name, value in counts.items()}})
    if health:
        write("")
        queue = health["queue"]
        write_fields(
            {
                "version": health["version"],
                "database": health["database"],
                "encrypted": health["encryption"],
                "jobs": f"{queue['depth']} wait, {queue['stuck']} are stuck",
                "warnings": health["warnings"],
            }
        )


def _count_memories(session: Session, show: ShowProgress) -> dict[str, Any]:
    """The lines of an export by kind: it has everything that the caller may have."""
    kinds: Counter[str] = Counter()
    types: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    for number, line in enumerate(export_lines(session, {"status": "all"}), 1):
        found = json.loads(line)
        kind = str(found["type"])
        kinds[_PLURALS.get(kind, f"{kind}s")] += 1
        if kind == "memory":
            types[str(found["memory_type"])] += 1
            statuses[str(found["status"])] += 1
        show(number, None)
    return {**kinds, "memories by type": dict(types), "memories by status": dict(statuses)}


def _count_conversations(session: Session) -> int:
    from recollect_client import Forbidden

    operations = session.operations
    try:
        return sum(1 for _ in operations.iterate_admin_list_conversations(mode="all", limit=_PAGE))
    except Forbidden:
        return sum(1 for _ in operations.iterate_list_conversations(mode="all", limit=_PAGE))


def _read_health(session: Session) -> dict[str, Any] | None:
    """What a server tells its admins; None for others."""
    from recollect_client import Forbidden

    try:
        report: models.HealthReport = session.operations.admin_get_health()
    except Forbidden:
        return None
    return report.model_dump(mode="json", by_alias=True)


def _to_cell(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{count} {name}" for name, count in sorted(value.items()))
    return to_text(value)
