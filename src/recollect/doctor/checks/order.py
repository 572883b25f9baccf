"""The order of one run of the doctor, the counts of a check, and the interface of examiners."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from recollect.doctor.model import SAMPLE_MAX, CheckResult, DoctorCheck
from recollect.doctor.rows import CheckContext
from recollect.identity.requester import Requester
from recollect.kernel.owner import Owner
from recollect.retention.cleanup_audit import SERVER_ACTOR

ROWS_PER_PAGE = 500
ROWS_PER_TRANSACTION = 50
CHARS_PER_TRANSACTION = 100_000


@dataclass(frozen=True, slots=True)
class DoctorOrder:
    """Which checks to run, and whether to repair. `requester` None is the operator."""

    checks: frozenset[DoctorCheck]
    repair: bool
    context: CheckContext
    requester: Requester | None = None

    @property
    def author(self) -> Owner:
        """Who is named in histories as the author of a repair."""
        return SERVER_ACTOR if self.requester is None else self.requester.identity


@dataclass(slots=True)
class CheckTally:
    """The counts of one check so far, and a few ids of what it found."""

    check: DoctorCheck
    repairable: bool
    count: int = 0
    repaired: int = 0
    sample: list[str] = field(default_factory=list)

    def add_ids(self, ids: Sequence[str]) -> None:
        """Count these ids, and keep them as samples while there is room."""
        self.count += len(ids)
        self.sample += ids[: SAMPLE_MAX - len(self.sample)]

    def merge(self, other: "CheckTally") -> None:
        """Add the counts of another examiner of the same check.

        Two examiners of a check may differ in `repairable`. What counts is whether something that
        was found can be repaired, so an examiner that found nothing has no say; if neither found
        anything, one that could repair is enough.
        """
        if other.count and not self.count:
            self.repairable = other.repairable
        elif other.count or not self.count:
            self.repairable = self.repairable or other.repairable
        # `add_ids` has counted the samples of the other; the rest of its count is added here.
        self.add_ids(other.sample)
        self.count += other.count - len(other.sample)
        self.repaired += other.repaired

    @property
    def result(self) -> CheckResult:
        """For the report."""
        return CheckResult(
            self.check, self.count, tuple(self.sample), self.repairable, self.repaired
        )


def merge_by_check(tallies: Iterable[CheckTally]) -> dict[DoctorCheck, CheckTally]:
    """One tally for each check, merged from all of its examiners."""
    found: dict[DoctorCheck, CheckTally] = {}
    for tally in tallies:
        if tally.check in found:
            found[tally.check].merge(tally)
        else:
            found[tally.check] = tally
    return found


class Examiner(Protocol):
    """Runs some checks, in pages beside live traffic."""

    @property
    def checks(self) -> Collection[DoctorCheck]:
        """The checks that it can run."""
        ...

    async def examine(self, order: DoctorOrder) -> list[CheckTally]:
        """Run those of its checks that are ordered, and repair if that is ordered too."""
        ...
