"""What is tidied up, and what is spared: pure rules at their edges."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.kernel.ids import MemoryId
from recollect.kernel.retention_rules import PII_TAGS, RetentionRules
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.cleanup_rules import (
    VacuumOutcome,
    can_compact,
    can_evict,
    days_before,
    deletion_rule,
    eviction_order,
    is_purgeable,
    vacuum_outcome,
)
from recollect.memories.model import (
    CleanupRow,
    MemoryKind,
    MemoryStatus,
    MemoryType,
    TrustLevel,
)

NOW = datetime(2026, 3, 1, 12, 0, 0, 123_456, tzinfo=UTC)
RULES = RetentionRules()
DAY = timedelta(days=1)
TICK = timedelta(microseconds=1)


def a_row(**fields: Any) -> CleanupRow:
    """An active statement that was made now and never ends."""
    chosen: dict[str, Any] = {
        "doc": 1,
        "id": MemoryId("m"),
        "version": 1,
        "space": Space(SpaceKind.USER, "ann"),
        "kind": MemoryKind.STATEMENT,
        "type": MemoryType.KNOWLEDGE,
        "trust": TrustLevel.FACT,
        "status": MemoryStatus.ACTIVE,
        "status_at": NOW,
        "created_at": NOW,
        "updated_at": NOW,
        "used_at": None,
        "expires_at": None,
        "expiry_rule": "never",
        "retention_policy": None,
        "pii_tags": (),
        "compacted_at": None,
    }
    return CleanupRow(**chosen | fields)


def a_record(**fields: Any) -> CleanupRow:
    return a_row(kind=MemoryKind.RECORD, **fields)


def fate(row: CleanupRow, *, days: int = 90) -> VacuumOutcome:
    return vacuum_outcome(row, RULES, NOW, cutoff=days_before(NOW, days))


@pytest.mark.parametrize(
    ("tags", "ended_ago", "purgeable"),
    [
        ((), 7 * DAY - TICK, False),
        ((), 7 * DAY, True),
        (("email",), 7 * DAY - TICK, False),
        (("ssn",), timedelta(), True),
        (("ssn",), -TICK, False),
    ],
    ids=["in grace", "grace over", "high in grace", "critical at once", "critical not due"],
)
def test_a_due_row_goes_when_its_grace_is_over(
    tags: tuple[str, ...], ended_ago: timedelta, purgeable: bool
) -> None:
    row = a_row(pii_tags=tags, expires_at=NOW - ended_ago)
    assert is_purgeable(row, RULES, NOW) is purgeable


def test_what_never_ends_is_never_purged() -> None:
    assert not is_purgeable(a_row(), RULES, NOW)


def test_records_go_by_age_at_the_cutoff_and_statements_never() -> None:
    assert fate(a_record(created_at=NOW - 90 * DAY)) is VacuumOutcome.REMOVED
    assert fate(a_record(created_at=NOW - 90 * DAY + TICK)) is VacuumOutcome.KEPT
    assert fate(a_row(created_at=NOW - 900 * DAY)) is VacuumOutcome.KEPT
    assert fate(a_record(), days=0) is VacuumOutcome.REMOVED


@pytest.mark.parametrize("policy", ["compliance", "permanent", "not in the file any more"])
def test_a_policy_in_term_spares_an_old_record(policy: str) -> None:
    old = {"created_at": NOW - 100 * DAY, "retention_policy": policy}
    assert fate(a_record(**old)) is VacuumOutcome.SKIPPED
    assert fate(a_record(**old, expires_at=NOW + TICK)) is VacuumOutcome.SKIPPED
    assert fate(a_record(**old, expires_at=NOW)) is VacuumOutcome.REMOVED


def test_an_end_of_its_own_spares_an_old_record_until_then() -> None:
    old = {"created_at": NOW - 100 * DAY}
    assert fate(a_record(**old, expires_at=NOW + TICK)) is VacuumOutcome.KEPT
    assert fate(a_record(**old, expires_at=NOW)) is VacuumOutcome.REMOVED


def test_a_row_is_counted_by_its_end_or_by_its_age() -> None:
    assert deletion_rule(a_row(expires_at=NOW, expiry_rule="type:task"), NOW) == "type:task"
    assert deletion_rule(a_record(), NOW) == "age"


@pytest.mark.parametrize(
    ("fields", "evictable"),
    [
        ({}, True),
        ({"created_at": NOW - 7 * DAY + TICK}, False),
        ({"retention_policy": "permanent"}, False),
        ({"status": MemoryStatus.ARCHIVED}, False),
        ({"expires_at": NOW}, False),
        ({"type": MemoryType.IDENTITY}, True),
    ],
    ids=["old", "young", "under a policy", "not active", "due", "identity"],
)
def test_young_rows_and_rows_under_a_policy_are_never_evicted(
    fields: dict[str, Any], evictable: bool
) -> None:
    assert can_evict(a_row(**{"created_at": NOW - 7 * DAY} | fields), NOW) is evictable


def test_the_least_needed_go_first() -> None:
    in_order = [
        a_row(id="ephemeral hearsay", type=MemoryType.TASK, trust=TrustLevel.HEARSAY),
        a_row(id="ephemeral fact", type=MemoryType.OBSERVATION),
        a_row(id="hearsay", trust=TrustLevel.HEARSAY),
        a_row(id="unknown", trust=TrustLevel.UNKNOWN),
        a_row(id="unused", updated_at=NOW - 9 * DAY),
        a_row(
            id="older",
            used_at=NOW - DAY,
            updated_at=NOW - 8 * DAY,
            created_at=NOW - 8 * DAY,
        ),
        a_row(id="used", used_at=NOW - DAY, updated_at=NOW - 30 * DAY),
        a_row(id="identity", type=MemoryType.IDENTITY, trust=TrustLevel.HEARSAY),
    ]
    backwards = in_order[::-1]
    assert sorted(backwards, key=eviction_order) == in_order


def test_only_what_was_put_away_long_ago_is_compacted_once() -> None:
    cutoff = NOW - 90 * DAY
    away = {"status": MemoryStatus.SUPERSEDED, "status_at": cutoff}
    assert can_compact(a_row(**away), NOW, cutoff=cutoff)
    assert can_compact(a_row(**away | {"status": MemoryStatus.ARCHIVED}), NOW, cutoff=cutoff)
    for spared in (
        {"status": MemoryStatus.ACTIVE},
        {"status": MemoryStatus.QUARANTINED},
        {"status_at": cutoff + TICK},
        {"compacted_at": NOW},
        {"expires_at": NOW},
    ):
        assert not can_compact(a_row(**away | spared), NOW, cutoff=cutoff)


spans = st.timedeltas(min_value=-400 * DAY, max_value=400 * DAY)
instants = spans.map(lambda span: NOW + span)
rows = st.builds(
    a_row,
    kind=st.sampled_from(MemoryKind),
    created_at=instants,
    expires_at=st.none() | instants,
    retention_policy=st.none() | st.sampled_from(sorted(RULES.policies)),
    pii_tags=st.lists(st.sampled_from(PII_TAGS), max_size=2, unique=True).map(tuple),
)


@given(
    row=rows, days=st.integers(0, 500), later=st.timedeltas(min_value=timedelta(), max_value=DAY)
)
def test_what_a_vacuum_removes_it_removes_later_too(
    row: CleanupRow, days: int, later: timedelta
) -> None:
    cutoff = days_before(NOW, days)
    if vacuum_outcome(row, RULES, NOW, cutoff=cutoff) is VacuumOutcome.REMOVED:
        assert (
            vacuum_outcome(row, RULES, NOW + later, cutoff=cutoff + later) is VacuumOutcome.REMOVED
        )


@given(row=rows, days=st.integers(0, 500))
def test_a_vacuum_takes_no_row_that_readers_still_see_unless_it_is_an_old_record(
    row: CleanupRow, days: int
) -> None:
    cutoff = days_before(NOW, days)
    if vacuum_outcome(row, RULES, NOW, cutoff=cutoff) is not VacuumOutcome.REMOVED:
        return
    seen = row.expires_at is None or row.expires_at > NOW
    old_record = row.kind is MemoryKind.RECORD and row.created_at <= cutoff
    assert not seen or (old_record and row.retention_policy is None and row.expires_at is None)


def test_days_beyond_the_calendar_reach_its_beginning() -> None:
    assert days_before(NOW, 10_000_000) == datetime.min.replace(tzinfo=UTC)
