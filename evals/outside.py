"""Example files from elsewhere, which are measured and never copied into this tree.

A row is `{"text", "label": "attack" | "benign", "kind"}` for injection, or
`{"text", "spans": [{"tag", "start", "end", "type"}]}` for personal data.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evals.examples import Example, read_rows
from evals.figures import Share, align
from evals.report import judge_all, report_lines
from recollect.screening.pii import PiiMatch, find_pii

# Attacks of these kinds are not told by words that steer an assistant.
_OTHER_ATTACKS = ("secret", "protected-key", "size")
# A bare place is no address, but whoever marks it as one is not wrong either.
_PLACES = ("GPE", "ZIP_CODE")


def outside_lines(path: Path) -> Iterator[str]:
    """The figures on a file; its rows tell which detector it is for."""
    rows = list(read_rows(path))
    if rows and "spans" in rows[0]:
        yield from _pii_lines(path.name, rows)
    else:
        examples = [_parse_attack(index, row) for index, row in enumerate(rows, 1)]
        kept = [example for example in examples if example.kind not in _OTHER_ATTACKS]
        yield from report_lines("injection", path.name, judge_all("injection", kept))


def _parse_attack(number: int, row: dict[str, Any]) -> Example:
    expected = row["label"] == "attack"
    return Example(str(number), row["text"], expected, row["kind"], row.get("lang", "?"))


@dataclass(slots=True)
class _TagCounts:
    """Of one tag: marked spans, those met by a finding, and those met from start to end; findings,
    and those that meet a marked span."""

    marked: int = 0
    met: int = 0
    exact: int = 0
    found: int = 0
    right: int = 0


@dataclass(frozen=True, slots=True)
class _Marks:
    """The marked spans of one row, and the findings that count there."""

    spans: list[dict[str, Any]]
    found: list[PiiMatch] = field(default_factory=list)


def _pii_lines(title: str, rows: list[dict[str, Any]]) -> Iterator[str]:
    counts: dict[str, _TagCounts] = {}
    confusion: Counter[tuple[str, str]] = Counter()
    for row in rows:
        marks = _Marks(row["spans"])
        marks.found.extend(m for m in find_pii(row["text"]) if not _is_place(m, row["spans"]))
        _count_row(marks, counts, confusion)
    yield f"pii, {title}: {len(rows)} texts"
    yield ""
    lines = [["tag", "marked", "met", "recall", "95 %", "exact", "found", "right", "precision"]]
    lines[0] += ["95 %", "F1"]
    for tag, one in sorted(counts.items()):
        recall, precision = Share(one.met, one.marked).cells(), Share(one.right, one.found).cells()
        parts = one.met * one.found + one.right * one.marked
        f1 = f"{2 * one.met * one.right / parts:.3f}" if parts else "-"
        lines.append([tag, *recall, str(one.exact), *precision, f1])
    yield from align(lines)
    yield ""
    heads = sorted({found for _, found in confusion})
    table = [["marked \\ found", *heads]]
    for marked in sorted({marked for marked, _ in confusion}):
        table.append([marked, *(str(confusion[marked, head] or ".") for head in heads)])
    yield from align(table)
    yield ""


def _count_row(
    marks: _Marks, counts: dict[str, _TagCounts], confusion: Counter[tuple[str, str]]
) -> None:
    for span in marks.spans:
        meeting = [match for match in marks.found if _overlaps(match, span)]
        confusion[span["type"], meeting[0].tag if meeting else "nothing"] += 1
        if span["tag"] is not None:
            same = [match for match in meeting if match.tag == span["tag"]]
            of_tag = counts.setdefault(span["tag"], _TagCounts())
            of_tag.marked += 1
            of_tag.met += bool(same)
            of_tag.exact += any((m.start, m.end) == (span["start"], span["end"]) for m in same)
    for match in marks.found:
        of_tag = counts.setdefault(match.tag, _TagCounts())
        of_tag.found += 1
        of_tag.right += any(s["tag"] == match.tag and _overlaps(match, s) for s in marks.spans)
        if not any(_overlaps(match, span) for span in marks.spans):
            confusion["(unmarked)", match.tag] += 1


def _is_place(match: PiiMatch, spans: list[dict[str, Any]]) -> bool:
    return match.tag == "address" and any(
        span["type"] in _PLACES and span["start"] <= match.start and match.end <= span["end"]
        for span in spans
    )


def _overlaps(match: PiiMatch, span: dict[str, Any]) -> bool:
    return bool(match.start < span["end"] and span["start"] < match.end)
