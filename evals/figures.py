"""Counts, shares with their intervals, and the lines in which they are printed."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from evals.detectors import Answer
from evals.examples import Example

_Z_95 = 1.959964


@dataclass(frozen=True, slots=True)
class Judged:
    """An example with the detector's answer."""

    example: Example
    answer: Answer

    @property
    def right(self) -> bool:
        """Is the answer the expected one?"""
        return self.answer.found == self.example.expected


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many."""

    hits: int
    total: int

    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson interval; unlike the normal one it holds for small numbers too."""
        if not self.total:
            return 0.0, 1.0
        share, squared = self.hits / self.total, _Z_95**2
        centre = share + squared / (2 * self.total)
        spread = _Z_95 * math.sqrt((share * (1 - share) + squared / (4 * self.total)) / self.total)
        scale = 1 + squared / self.total
        return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)

    def cells(self) -> list[str]:
        """Number, hits, percent and interval."""
        low, high = self.interval()
        percent = f"{100 * self.hits / self.total:.1f} %" if self.total else "-"
        return [str(self.total), str(self.hits), percent, f"{100 * low:.1f}-{100 * high:.1f}"]


def shares_by(
    judged: Iterable[Judged], group: Callable[[Example], str]
) -> list[tuple[str, bool, Share]]:
    """For each group the share that was found, of texts where that is right and where it is a
    false alarm; what should be found first, then by name."""
    totals: Counter[tuple[bool, str]] = Counter()
    hits: Counter[tuple[bool, str]] = Counter()
    for one in judged:
        name = (not one.example.expected, group(one.example))
        totals[name] += 1
        hits[name] += one.answer.found
    return [
        (name, not negative, Share(hits[negative, name], total))
        for (negative, name), total in sorted(totals.items())
    ]


def share_lines(title: str, shares: Sequence[tuple[str, bool, Share]]) -> Iterator[str]:
    """A table of shares. `recall` is the share of texts that should be found, `false` of others."""
    lines = [[title, "", "texts", "found", "share", "95 %"]]
    lines += [
        [name, "recall" if expected else "false", *share.cells()]
        for name, expected, share in shares
    ]
    return align(lines)


def confusion_lines(judged: Iterable[Judged], label: Callable[[Example], str]) -> Iterator[str]:
    """A table: a row for what was expected, a column for what the detector answered."""
    counts = Counter((label(one.example), one.answer.label) for one in judged)
    answers = sorted({answer for _, answer in counts})
    lines = [["expected \\ answered", *answers]]
    lines += [
        [expected, *(str(counts[expected, answer] or ".") for answer in answers)]
        for expected in sorted({expected for expected, _ in counts})
    ]
    return align(lines)


def align(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines with their columns aligned: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for first, *others in lines:
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        yield "  ".join([first.ljust(widths[0]), *cells]).rstrip()
