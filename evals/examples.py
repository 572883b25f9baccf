"""Example texts with the answer expected of a detector, and the files that they come from.

`data/seen` has the texts that the rules were written with, `data/unseen` those of somebody who had
not seen the rules. `data/unseen/README.md` describes the format of both.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
SETS = ("seen", "unseen")


@dataclass(frozen=True, slots=True)
class Example:
    """A text, and whether the detector should find something in it."""

    id: str
    text: str
    expected: bool
    kind: str
    language: str
    sub: str = ""
    # Of personal data: the tags that should be found.
    tags: frozenset[str] = frozenset()


def load_examples(detector: str, of_set: str) -> list[Example]:
    """The examples of one set for one detector; none if it has no file for it."""
    path = DATA / of_set / f"{detector}.jsonl"
    return [_parse_example(row) for row in read_rows(path)] if path.exists() else []


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file with one JSON object a line."""
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def _parse_example(row: dict[str, Any]) -> Example:
    # The secrets are written in parts, so that no whole key stands in the file.
    text = row["text"] if "text" in row else "".join(row["parts"])
    return Example(
        id=row["id"],
        text=text,
        expected={"positive": True, "negative": False}[row["expect"]],
        kind=row["kind"],
        language=row["lang"],
        sub=row.get("sub") or "",
        tags=frozenset(row.get("tags", ())),
    )
