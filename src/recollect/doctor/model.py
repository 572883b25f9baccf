"""The doctor's checks, their severities and results, and the search for cycles. Pure.

A report names rows by id and never holds content.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

SAMPLE_MAX = 10
# A person whom nothing refers to is an orphan if it has not changed for so long.
ORPHAN_AFTER = timedelta(days=90)


# An erasure repeats, once a minute, until it finds no traces. After so long it is reported.
ERASURE_OVERDUE_AFTER = timedelta(hours=1)


class DoctorCheck(StrEnum):
    """All checks, in the order of a report."""

    INDEX_ROWS = "index_rows"
    ORPHAN_INDEX = "orphan_index"
    MISSING_VECTORS = "missing_vectors"
    ORPHAN_EDGES = "orphan_edges"
    UNKNOWN_ORIGIN = "unknown_origin"
    UNKNOWN_AGENT = "unknown_agent"
    MERGE_CHAINS = "merge_chains"
    DUPLICATE_PEOPLE = "duplicate_people"
    ORPHAN_PEOPLE = "orphan_people"
    SUPERSESSION_CYCLES = "supersession_cycles"
    POLICY_MISMATCH = "policy_mismatch"
    EXPIRY_OVER_CAP = "expiry_over_cap"
    UNTAGGED_PII = "untagged_pii"
    CRITICAL_PII_IN_PUBLIC = "critical_pii_in_public"
    OPEN_SPACE_CONTENT = "open_space_content"
    SECRETS = "secrets"
    CONFLICTS = "conflicts"
    NEAR_DUPLICATES = "near_duplicates"
    STUCK_JOBS = "stuck_jobs"
    CLOCK = "clock"


class Severity(StrEnum):
    """INFO is no problem; WARNING and ERROR are."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


SEVERITIES: Mapping[DoctorCheck, Severity] = MappingProxyType(
    {
        **dict.fromkeys(DoctorCheck, Severity.WARNING),
        **dict.fromkeys(
            (
                DoctorCheck.UNKNOWN_ORIGIN,
                DoctorCheck.DUPLICATE_PEOPLE,
                DoctorCheck.ORPHAN_PEOPLE,
                DoctorCheck.CONFLICTS,
                DoctorCheck.NEAR_DUPLICATES,
            ),
            Severity.INFO,
        ),
        **dict.fromkeys(
            (
                DoctorCheck.INDEX_ROWS,
                DoctorCheck.MERGE_CHAINS,
                DoctorCheck.SUPERSESSION_CYCLES,
                DoctorCheck.EXPIRY_OVER_CAP,
                DoctorCheck.CRITICAL_PII_IN_PUBLIC,
                DoctorCheck.SECRETS,
                DoctorCheck.STUCK_JOBS,
            ),
            Severity.ERROR,
        ),
    }
)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found: the count, a sample of ids, and how many of them were repaired."""

    check: DoctorCheck
    count: int
    sample_ids: tuple[str, ...]
    repairable: bool
    repaired: int

    @property
    def severity(self) -> Severity:
        """The severity of the check."""
        return SEVERITIES[self.check]

    @property
    def remaining(self) -> int:
        """How many are not repaired."""
        return self.count - self.repaired

    @property
    def is_problem(self) -> bool:
        """Whether a warning or an error is left."""
        return self.remaining > 0 and self.severity is not Severity.INFO


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The results of all checks that were run, in the order of `DoctorCheck`."""

    results: tuple[CheckResult, ...]

    @property
    def ok(self) -> bool:
        """Whether no problem is left."""
        return not any(result.is_problem for result in self.results)

    @property
    def repaired(self) -> int:
        """How many rows were repaired, over all checks."""
        return sum(result.repaired for result in self.results)


@dataclass(frozen=True, slots=True, order=True)
class SupersessionLink:
    """One memory superseded another. Links sort by time first."""

    at: datetime
    successor: str
    predecessor: str


def links_to_cut(links: Iterable[SupersessionLink]) -> list[SupersessionLink]:
    """The links to delete so that no memory supersedes itself: the newest of every cycle, and every
    link of a memory to itself.

    Links are added to an empty graph from oldest to newest; one that would close a cycle is cut. A
    check for a path for each link would take quadratic time on long histories. So links that are on
    no cycle are peeled off first, in linear time, and only the rest, which is small or empty, is
    added one by one.
    """
    kept: defaultdict[str, set[str]] = defaultdict(set)
    cut = []
    for link in sorted(_links_in_cycles(links)):
        if _has_path(kept, link.predecessor, link.successor):
            cut.append(link)
        else:
            kept[link.successor].add(link.predecessor)
    return cut


def _links_in_cycles(links: Iterable[SupersessionLink]) -> list[SupersessionLink]:
    """The links on cycles, or on paths from one cycle to another: what is left after peeling from
    both sides, first memories that nothing supersedes, then those that supersede nothing."""
    forward = [(link.successor, link.predecessor, link) for link in links]
    backward = [(end, start, link) for start, end, link in _peel_sources(forward)]
    return [link for _, _, link in _peel_sources(backward)]


_Edge = tuple[str, str, SupersessionLink]


def _peel_sources(edges: Iterable[_Edge]) -> list[_Edge]:
    """The edges that remain when nodes without incoming edges are removed, repeatedly."""
    leaving: defaultdict[str, list[_Edge]] = defaultdict(list)
    arriving: defaultdict[str, int] = defaultdict(int)
    for edge in edges:
        leaving[edge[0]].append(edge)
        arriving[edge[1]] += 1
    free = [node for node in leaving if not arriving[node]]
    while free:
        for edge in leaving.pop(free.pop(), ()):
            arriving[edge[1]] -= 1
            if not arriving[edge[1]]:
                free.append(edge[1])
    return [edge for rest in leaving.values() for edge in rest]


def _has_path(kept: Mapping[str, set[str]], start: str, end: str) -> bool:
    seen, todo = {start}, [start]
    while todo:
        node = todo.pop()
        if node == end:
            return True
        fresh = kept.get(node, set()) - seen
        seen |= fresh
        todo += fresh
    return False
