"""What commands read from stdin and print: tables, texts, JSON and ids.

Stored text is untrusted. Control characters and terminal codes in it are texts as escapes, and it
is never read as markup.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.cli.options import Json
from recollect.kernel.errors import InvalidInput

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.console import Console

PIPE_CLOSED_EXIT = 141
STDIN = "-"
File = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write to a new file, not to stdout."),
]
# Control characters but for tab and line feed, half surrogates, line separators, and what turns the
# direction of the text behind it: each could hide or forge what a terminal shows.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)
_WHOLE_COLUMNS = ("score", "written", "changed", "created", "registered", "at", "joined", "left")
Columns = Mapping[str, Callable[[Any], Any]]


@dataclass(frozen=True)
class Output:
    """How a command prints: for people, as JSON, or ids only."""

    as_json: Json = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print ids only.")] = False

    def table(self, items: Iterable["BaseModel"], columns: Columns, *, id_name: str = "id") -> None:
        """Many things: a table, a JSON array, or an id a line."""
        if self.as_json:
            write_json([to_json(item) for item in items])
        elif self.quiet:
            for item in items:
                write(visible(str(getattr(item, id_name))))
        else:
            write_table(list(items), columns)

    def item(self, item: "BaseModel", show: Callable[[Any], None], *, id_name: str = "id") -> None:
        """One thing: as `show` prints it, a JSON object, or its id."""
        if self.as_json:
            write_json(to_json(item))
        elif self.quiet:
            write(visible(str(getattr(item, id_name))))
        else:
            show(item)

    def report_done(self, verb: str, id_: str) -> None:
        """What was done to a thing that has no other answer."""
        if self.as_json:
            write_json({"id": id_, verb.lower(): True})
        elif self.quiet:
            write(visible(id_))
        else:
            write(f"{verb} {visible(id_)}")

    def note(self, text: str) -> None:
        """Something beside the result, for people."""
        if not self.quiet:
            note(text)


def visible(text: str) -> str:
    """The text with escapes in place of what a terminal would obey."""
    return _HIDDEN.sub(lambda found: ascii(found[0])[1:-1], text)


def one_line(text: str) -> str:
    """The visible text on one line."""
    return " ".join(visible(text).split())


def write(text: str) -> None:
    """Print a line that is visible already. Ends the command if nobody reads any more."""
    try:
        print(text)
    except BrokenPipeError:
        leave_pipe()
        raise typer.Exit(PIPE_CLOSED_EXIT) from None


def leave_pipe() -> None:
    """Let what is still buffered go nowhere: a flush at the end would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def note(text: str) -> None:
    """Print a line on stderr: what pipes and files must not get."""
    sys.stdout.flush()
    print(visible(text), file=sys.stderr)


def write_json(value: Any) -> None:
    """Print one JSON document."""
    write(visible_json(json.dumps(value, indent=2, ensure_ascii=False)))


def write_json_line(value: Any) -> None:
    """Print one line of a stream of JSON documents."""
    write(visible_json(json.dumps(value, ensure_ascii=False)))


def visible_json(text: str) -> str:
    """JSON with the escapes of JSON in place of what a terminal would obey; its value is the same.

    Such characters can only be inside of its strings, since JSON escapes those below a space.
    """
    return _HIDDEN.sub(lambda found: json.dumps(found[0])[1:-1].replace("\x7f", "\\u007f"), text)


def to_json(item: "BaseModel") -> dict[str, Any]:
    """A model as the API of the server writes it."""
    return item.model_dump(mode="json", by_alias=True, exclude_unset=True)


def write_fields(fields: Mapping[str, Any]) -> None:
    """Print a thing as a list of names and values, without those that are empty."""
    texts = {name: text for name, value in fields.items() if (text := to_text(value))}
    width = max(map(len, texts), default=0)
    console = _console()
    for name, text in texts.items():
        first, *rest = visible(text).split("\n")
        label = f"{name}:".ljust(width + 1)
        write(f"{_apply_style(console, label, 'bold')} {first}")
        for line in rest:
            write(f"{' ' * (width + 1)} {line}")


def to_text(value: Any) -> str:
    """A value for people; nothing is an empty text."""
    if value is None or value in ([], {}):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.astimezone().strftime("%Y-%m-%d %H:%M")
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return ", ".join(map(to_text, value)) if isinstance(value, list) else str(value)


def write_table(items: Sequence[Any], columns: Columns) -> None:
    """Print rows under headings; on a terminal in colour and no wider than it is."""
    if not items:
        note("none")
        return
    rows = [[one_line(to_text(of(item))) for of in columns.values()] for item in items]
    console = _console()
    if not console.is_terminal:
        _write_plain_rows([[*columns], *rows])
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for name in columns:
        # An id is there to be copied, and a time is short: neither is cut.
        is_id = name.endswith("id")
        is_whole = is_id or name in _WHOLE_COLUMNS
        table.add_column(name, no_wrap=is_whole, style="cyan" if is_id else "", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)


def _write_plain_rows(rows: Sequence[Sequence[str]]) -> None:
    from rich.cells import cell_len

    widths = [max(cell_len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        padded = (
            text + " " * (width - cell_len(text)) for text, width in zip(row, widths, strict=True)
        )
        write("  ".join(padded).rstrip())


def apply_style(text: str, style: str) -> str:
    """The text in a style, where the terminal has any."""
    return _apply_style(_console(), text, style)


def _apply_style(console: "Console", text: str, style: str) -> str:
    if not console.is_terminal or console.color_system is None:
        return text
    from rich.style import Style

    return Style.parse(style).render(text)


def _console() -> "Console":
    from rich.console import Console

    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    if console.no_color:
        # Else bold and dim text would stay.
        return Console(
            file=sys.stdout, highlight=False, markup=False, emoji=False, color_system=None
        )
    return console


def read_text(text: str) -> str:
    """The argument, or all of stdin for `-`."""
    return sys.stdin.read().removesuffix("\n") if text == STDIN else text


def read_words(words: list[str]) -> Iterator[str]:
    """The arguments, or the lines of stdin for `-`."""
    if words != [STDIN]:
        yield from words
        return
    for line in sys.stdin:
        if line.strip():
            yield line.strip()


@contextmanager
def new_file(path: Path | None) -> Iterator[Callable[[str], None]]:
    """Takes lines for a new file that only its owner may read, or for stdout without a path.

    The file has its name only when it is complete: a part of an export must not look like one.
    """
    if path is None or str(path) == "-":
        yield write
        return
    if path.exists():
        raise InvalidInput(f"{path} exists already: name a new file")
    partial = path.with_name(f"{path.name}.partial")
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as error:
        raise InvalidInput(f"can't write {path}: {error.strerror}") from error
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            yield lambda line: print(line, file=file)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
