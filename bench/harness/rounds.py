"""Two or more sides measured in short alternating rounds, so that noise hits all of them alike."""

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Run = Callable[[int], float]
"""Does a number of operations and says how many seconds they took."""

COUNT_MIN = 8


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure: rounds of each side, and about how many seconds each takes."""

    rounds: int
    seconds: float


class Rounds:
    """Rates (operations a second) of each side, round by round."""

    def __init__(self, rates: Mapping[str, list[float]]) -> None:
        self._rates = rates

    def rate(self, side: str) -> float:
        """The side's median rate."""
        return statistics.median(self._rates[side])

    def milliseconds(self, side: str) -> float:
        """The side's median time of one operation."""
        return 1000 / self.rate(side)

    def ratio(self, side: str, against: str) -> tuple[float, tuple[float, float]]:
        """How much faster a side is than another: the median over the rounds, least and most.

        Each round is compared with the other side's round just beside it.
        """
        pairs = zip(self._rates[side], self._rates[against], strict=True)
        ratios = [one / other for one, other in pairs]
        return statistics.median(ratios), (min(ratios), max(ratios))


def alternate(sides: Mapping[str, Run], effort: Effort) -> Rounds:
    """Warm each side up, then measure all in turn; every second round goes the other way round."""
    counts = {name: _calibrated(run, effort.seconds) for name, run in sides.items()}
    rates: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(effort.rounds):
        for name in sorted(sides, reverse=bool(number % 2)):
            rates[name].append(counts[name] / sides[name](counts[name]))
    return Rounds(rates)


def _calibrated(run: Run, seconds: float) -> int:
    """How many operations take about so long. The runs that tell are the warm-up."""
    count = COUNT_MIN
    took = run(count)
    while took < seconds / 4:
        count *= 4
        took = run(count)
    return max(COUNT_MIN, round(count * seconds / took))
