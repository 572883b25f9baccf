"""Pure rules of cleanup: which rows are purged, vacuumed, evicted, compacted.

The rules look at states, times and tags, never at a text.
"""

from datetime import datetime, timedelta
from enum import StrEnum

from recollect.kernel.retention_rules import RetentionRules
from recollect.memories.expiry import TYPE_TTL_SECONDS
from recollect.memories.model import (
    CleanupRow,
    MemoryKind,
    MemoryStatus,
    MemoryType,
    TrustLevel,
    is_expired,
)

EVICTION_MIN_AGE = timedelta(days=7)
# Types with a default TTL; evicted first.
EPHEMERAL_TYPES = frozenset(TYPE_TTL_SECONDS)
# Identity and preferences of people: evicted only if nothing else is left.
EVICTED_LAST_TYPES = frozenset({MemoryType.IDENTITY, MemoryType.PREFERENCE})
COMPACTABLE_STATUSES = frozenset({MemoryStatus.SUPERSEDED, MemoryStatus.ARCHIVED})
AGE_RULE = "age"


class VacuumOutcome(StrEnum):
    """What a vacuum does with a row. `skipped`: old enough, but a retention policy keeps it;
    `kept`: no rule selects it."""

    REMOVED = "removed"
    SKIPPED = "skipped"
    KEPT = "kept"


def is_purgeable(row: CleanupRow, rules: RetentionRules, now: datetime) -> bool:
    """Did it expire longer ago than the grace period? Critical personal data has none."""
    grace = timedelta(days=rules.grace_days(row.pii_tags))
    return is_expired(now - grace, row.expires_at)


def vacuum_outcome(
    row: CleanupRow, rules: RetentionRules, now: datetime, *, cutoff: datetime
) -> VacuumOutcome:
    """Expired rows are removed after their grace period, whatever they are.

    Of the rest only records older than `cutoff` are concerned, never statements. A retention policy
    that has not expired keeps a record and is counted as skipped; an expiry in the future keeps it
    silently. All others are removed, also one that expired within the grace period.
    """
    if is_purgeable(row, rules, now):
        return VacuumOutcome.REMOVED
    if row.kind is not MemoryKind.RECORD or row.created_at > cutoff:
        return VacuumOutcome.KEPT
    if has_live_policy(row, now):
        return VacuumOutcome.SKIPPED
    lasts = row.expires_at is not None and not is_expired(now, row.expires_at)
    return VacuumOutcome.KEPT if lasts else VacuumOutcome.REMOVED


def has_live_policy(row: CleanupRow, now: datetime) -> bool:
    """Has the row a named policy, and has not expired? A policy that is no longer in the file
    counts too: an edit of the file must not delete what the policy kept."""
    return row.retention_policy is not None and not is_expired(now, row.expires_at)


def deletion_rule(row: CleanupRow, now: datetime) -> str:
    """The rule that a deletion is counted under: the expiry rule, or `age`."""
    return row.expiry_rule if is_expired(now, row.expires_at) else AGE_RULE


def can_evict(row: CleanupRow, now: datetime) -> bool:
    """Is the row active, older than a week, and not kept by a retention policy?"""
    active = row.status is MemoryStatus.ACTIVE and not is_expired(now, row.expires_at)
    return active and row.created_at <= now - EVICTION_MIN_AGE and not has_live_policy(row, now)


def eviction_order(row: CleanupRow) -> tuple[bool, bool, int, datetime, datetime, str]:
    """The sort key of eviction, least needed first; the bulk store has the same order in SQL.

    Types with a TTL before lasting ones, identity and preferences last; then the least trusted, the
    longest unused, the oldest; ids make the order total.
    """
    return (
        row.type in EVICTED_LAST_TYPES,
        row.type not in EPHEMERAL_TYPES,
        list(TrustLevel).index(row.trust),
        row.last_used_at,
        row.created_at,
        row.id,
    )


def can_compact(row: CleanupRow, now: datetime, *, cutoff: datetime) -> bool:
    """Was the row superseded or archived by the cutoff? An expired one is left to the purge."""
    away = (
        row.status in COMPACTABLE_STATUSES and row.status_at <= cutoff and row.compacted_at is None
    )
    return away and not is_expired(now, row.expires_at)


def days_before(now: datetime, days: int) -> datetime:
    """`now` minus `days`, or the first instant of the calendar."""
    try:
        return now - timedelta(days=days)
    except OverflowError:
        return datetime.min.replace(tzinfo=now.tzinfo)
