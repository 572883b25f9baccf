"""What the doctor was asked to do, and what a check counts meanwhile."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from recollect.domain.agents import Owner
from recollect.domain.doctor import SAMPLE_MAX, Check, Result
from recollect.policy.requesters import Requester
from recollect.ports.doctor import Looking
from recollect.services.housekeeping_events import SERVER

ROWS_PER_PAGE = 500
ROWS_PER_TRANSACTION = 50
CHARS_PER_TRANSACTION = 100_000


@dataclass(frozen=True, slots=True)
class Order:
    """Which checks, and whether to mend. Without a requester it is the server's operator."""

    checks: frozenset[Check]
    repair: bool
    looking: Looking
    requester: Requester | None = None

    @property
    def by(self) -> Owner:
        """Who changes rows in histories."""
        return SERVER if self.requester is None else self.requester.who


@dataclass(slots=True)
class Tally:
    """What one check has found so far."""

    check: Check
    repairable: bool
    count: int = 0
    repaired: int = 0
    sample: list[str] = field(default_factory=list)

    def note(self, ids: Sequence[str]) -> None:
        """Count some more."""
        self.count += len(ids)
        self.sample += ids[: SAMPLE_MAX - len(self.sample)]

    def take(self, other: "Tally") -> None:
        """Count what another examiner found by the same check. Who found nothing does not say
        whether what there is can be mended."""
        if other.count and not self.count:
            self.repairable = other.repairable
        elif other.count or not self.count:
            self.repairable = self.repairable or other.repairable
        self.note(other.sample)
        self.count += other.count - len(other.sample)
        self.repaired += other.repaired

    @property
    def result(self) -> Result:
        """For the report."""
        return Result(self.check, self.count, tuple(self.sample), self.repairable, self.repaired)


def by_check(tallies: Iterable[Tally]) -> dict[Check, Tally]:
    """One for each check, with all that its examiners found."""
    found: dict[Check, Tally] = {}
    for tally in tallies:
        if tally.check in found:
            found[tally.check].take(tally)
        else:
            found[tally.check] = tally
    return found


class Examiner(Protocol):
    """Carries out some checks, in pages beside live traffic."""

    @property
    def checks(self) -> Collection[Check]:
        """Those that it knows."""
        ...

    async def examine(self, order: Order) -> list[Tally]:
        """What those of its checks that were ordered found and mended."""
        ...
