"""What the doctor looks for, how bad each thing is, and what a report says. Pure.

Ids only: a report names rows, never what is in them.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

SAMPLE_MAX = 10
# How long nothing may have been done with somebody whom nothing names.
ORPHAN_AFTER = timedelta(days=90)


# How long an erasure may find traces again and again, a round a minute.
ERASURE_WITHIN = timedelta(hours=1)


class Check(StrEnum):
    """In the order of a report."""

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
    SECRETS = "secrets"
    CONFLICTS = "conflicts"
    NEAR_DUPLICATES = "near_duplicates"
    STUCK_JOBS = "stuck_jobs"
    CLOCK = "clock"


class Severity(StrEnum):
    """Info is good to know; of the others something is wrong."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


SEVERITIES: Mapping[Check, Severity] = MappingProxyType(
    {
        **dict.fromkeys(Check, Severity.WARNING),
        **dict.fromkeys(
            (
                Check.UNKNOWN_ORIGIN,
                Check.DUPLICATE_PEOPLE,
                Check.ORPHAN_PEOPLE,
                Check.CONFLICTS,
                Check.NEAR_DUPLICATES,
            ),
            Severity.INFO,
        ),
        **dict.fromkeys(
            (
                Check.INDEX_ROWS,
                Check.MERGE_CHAINS,
                Check.SUPERSESSION_CYCLES,
                Check.EXPIRY_OVER_CAP,
                Check.CRITICAL_PII_IN_PUBLIC,
                Check.SECRETS,
                Check.STUCK_JOBS,
            ),
            Severity.ERROR,
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Result:
    """What one check found: how many, some of their ids, and how many of them are mended now."""

    check: Check
    count: int
    sample_ids: tuple[str, ...]
    repairable: bool
    repaired: int

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return SEVERITIES[self.check]

    @property
    def left(self) -> int:
        """How many are still there."""
        return self.count - self.repaired

    @property
    def is_problem(self) -> bool:
        """Is something wrong that was not mended?"""
        return self.left > 0 and self.severity is not Severity.INFO


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All checks that were asked for, in their order."""

    results: tuple[Result, ...]

    @property
    def ok(self) -> bool:
        """Is nothing left that is wrong?"""
        return not any(result.is_problem for result in self.results)

    @property
    def repaired(self) -> int:
        """How many things were mended."""
        return sum(result.repaired for result in self.results)


@dataclass(frozen=True, slots=True, order=True)
class SupersessionLink:
    """One memory replaced another; in the order of time."""

    at: datetime
    successor: str
    predecessor: str


def links_to_cut(links: Iterable[SupersessionLink]) -> list[SupersessionLink]:
    """Without which links nothing replaces itself: of every circle the newest, a link of a memory
    to itself always. In linear time as long as circles are small."""
    kept: defaultdict[str, set[str]] = defaultdict(set)
    cut = []
    for link in sorted(_in_circles(links)):
        if _leads(kept, link.predecessor, link.successor):
            cut.append(link)
        else:
            kept[link.successor].add(link.predecessor)
    return cut


def _in_circles(links: Iterable[SupersessionLink]) -> list[SupersessionLink]:
    """What is left when ends are taken off: first those that nobody replaced, again and again,
    then those that replace nobody."""
    forward = [(link.successor, link.predecessor, link) for link in links]
    backward = [(end, start, link) for start, end, link in _peeled(forward)]
    return [link for _, _, link in _peeled(backward)]


_Edge = tuple[str, str, SupersessionLink]


def _peeled(edges: Iterable[_Edge]) -> list[_Edge]:
    """The edges without those that start at a node to which none leads, and so on."""
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


def _leads(kept: Mapping[str, set[str]], start: str, end: str) -> bool:
    seen, todo = {start}, [start]
    while todo:
        node = todo.pop()
        if node == end:
            return True
        fresh = kept.get(node, set()) - seen
        seen |= fresh
        todo += fresh
    return False
