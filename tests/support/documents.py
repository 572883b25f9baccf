"""The documents as tests read them: their text, what is meant literally in it, their tables."""

import re
from functools import cache
from pathlib import Path

from tests.support.snippets import code_of

ROOT = Path(__file__).parents[2]
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)

_INLINE = re.compile(r"`([^`\n]+)`")


@cache
def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def inline_code(name: str) -> list[str]:
    """What stands between single backticks, outside of blocks."""
    return _INLINE.findall(FENCED.sub("", read(name)))


def code(name: str) -> list[str]:
    """All that is meant literally: inline code and lines of shell commands."""
    return [*inline_code(name), *"".join(code_of(read(name), "sh")).splitlines()]


def rows(name: str, columns: int) -> list[list[str]]:
    """The cells of every table row that has so many."""
    lines = [line.strip()[1:-1].split("|") for line in read(name).splitlines() if line[:1] == "|"]
    return [[cell.strip() for cell in line] for line in lines if len(line) == columns]
