"""`recollect export` and `import`: memories and what they refer to, as lines of JSON."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from recollect.cli.connection import Target, connect
from recollect.cli.output import (
    Output,
    to_json,
    visible_json,
    write,
    write_fields,
    write_json,
    write_table,
)
from recollect.cli.progress import ShowProgress, progress
from recollect.cli.text_files import STDIN, File, new_file
from recollect.cli.transfers import export_lines, import_pieces
from recollect.kernel.errors import InvalidInput

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
