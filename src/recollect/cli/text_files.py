"""Texts that a command reads from stdin, and files that it writes."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from recollect.cli.output import write
from recollect.kernel.errors import InvalidInput

STDIN = "-"

File = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write to a new file, not to stdout."),
]


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
