"""What a benchmark says, and the table it is said in."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Goal:
    """What a ratio should be: `at_least` a number, or else at most."""

    limit: float
    at_least: bool

    def is_met(self, ratio: float) -> bool:
        """Does the ratio reach the goal?"""
        return ratio >= self.limit if self.at_least else ratio <= self.limit

    def __str__(self) -> str:
        return f"{'>=' if self.at_least else '<='} {self.limit:g}"


@dataclass(frozen=True, slots=True)
class Result:
    """One line of the table: the median ratio, its spread, and the figures behind it."""

    name: str
    engine: str
    ratio: float
    spread: tuple[float, float]
    goal: Goal | None
    figures: str

    @property
    def verdict(self) -> str:
        """`met`, `missed`, or nothing where there is no goal."""
        if self.goal is None:
            return "-"
        return "met" if self.goal.is_met(self.ratio) else "missed"

    def cells(self) -> list[str]:
        """The line, one text for each column."""
        low, high = self.spread
        return [
            self.name,
            self.engine,
            f"{self.ratio:.2f}",
            f"{low:.2f}-{high:.2f}",
            "-" if self.goal is None else str(self.goal),
            self.verdict,
            self.figures,
        ]


HEADINGS = ["benchmark", "engine", "ratio", "spread", "goal", "verdict", "figures"]


def to_table(results: Sequence[Result]) -> str:
    """Aligned columns under their headings."""
    lines = [HEADINGS, *(result.cells() for result in results)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
