"""Pure rules of cleanup: which rows are purged, vacuumed, evicted, compacted.

The rules look at states, times and tags, never at a text.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from recollect.domain.expiry import TYPE_TTL_SECONDS, is_due
from recollect.domain.memories import Kind, MemoryId, MemoryType, Status, Trust
from recollect.domain.retention import RetentionRules
from recollect.domain.spaces import Space

EVICTABLE_AFTER = timedelta(days=7)
# Types with a default TTL; evicted first.
EPHEMERAL_TYPES = frozenset(TYPE_TTL_SECONDS)
# Identity and preferences of people: evicted only if nothing else is left.
LAST_TYPES = frozenset({MemoryType.IDENTITY, MemoryType.PREFERENCE})
PUT_AWAY = frozenset({Status.SUPERSEDED, Status.ARCHIVED})
BY_AGE = "age"


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The columns that cleanup decides by. `doc` is the row's number, which is never reused."""

    doc: int
    id: MemoryId
    version: int
    space: Space
    kind: Kind
    type: MemoryType
    trust: Trust
    status: Status
    status_at: datetime
    created_at: datetime
    updated_at: datetime
    used_at: datetime | None
    expires_at: datetime | None
    expiry_rule: str
    retention_policy: str | None
    pii_tags: tuple[str, ...]
    compacted_at: datetime | None

    @property
    def last_used_at(self) -> datetime:
        """When the row was last returned to a caller, or changed."""
        return max(self.used_at or self.updated_at, self.updated_at)


class Fate(StrEnum):
    """What a vacuum does with a row. `skipped`: old enough, but a retention policy keeps it;
    `kept`: no rule selects it."""

    REMOVED = "removed"
    SKIPPED = "skipped"
    KEPT = "kept"


def is_purgeable(row: Brief, rules: RetentionRules, now: datetime) -> bool:
    """Did it expire longer ago than the grace period? Critical personal data has none."""
    grace = timedelta(days=rules.grace_days(row.pii_tags))
    return is_due(now - grace, row.expires_at)


def fate_in_vacuum(row: Brief, rules: RetentionRules, now: datetime, *, cutoff: datetime) -> Fate:
    """Expired rows are removed after their grace period, whatever they are.

    Of the rest only records older than `cutoff` are concerned, never statements. A retention policy
    that has not expired keeps a record and is counted as skipped; an expiry in the future keeps it
    silently. All others are removed, also one that expired within the grace period.
    """
    if is_purgeable(row, rules, now):
        return Fate.REMOVED
    if row.kind is not Kind.RECORD or row.created_at > cutoff:
        return Fate.KEPT
    if has_live_policy(row, now):
        return Fate.SKIPPED
    lasts = row.expires_at is not None and not is_due(now, row.expires_at)
    return Fate.KEPT if lasts else Fate.REMOVED


def has_live_policy(row: Brief, now: datetime) -> bool:
    """Has the row a named policy, and has not expired? A policy that is no longer in the file
    counts too: an edit of the file must not delete what the policy kept."""
    return row.retention_policy is not None and not is_due(now, row.expires_at)


def reason(row: Brief, now: datetime) -> str:
    """The rule that a deletion is counted under: the expiry rule, or `age`."""
    return row.expiry_rule if is_due(now, row.expires_at) else BY_AGE


def may_evict(row: Brief, now: datetime) -> bool:
    """Is the row active, older than a week, and not kept by a retention policy?"""
    active = row.status is Status.ACTIVE and not is_due(now, row.expires_at)
    return active and row.created_at <= now - EVICTABLE_AFTER and not has_live_policy(row, now)


def eviction_order(row: Brief) -> tuple[bool, bool, int, datetime, datetime, str]:
    """The sort key of eviction, least needed first; the bulk store has the same order in SQL.

    Types with a TTL before lasting ones, identity and preferences last; then the least trusted, the
    longest unused, the oldest; ids make the order total.
    """
    return (
        row.type in LAST_TYPES,
        row.type not in EPHEMERAL_TYPES,
        list(Trust).index(row.trust),
        row.last_used_at,
        row.created_at,
        row.id,
    )


def may_compact(row: Brief, now: datetime, *, cutoff: datetime) -> bool:
    """Was the row superseded or archived by the cutoff? An expired one is left to the purge."""
    away = row.status in PUT_AWAY and row.status_at <= cutoff and row.compacted_at is None
    return away and not is_due(now, row.expires_at)


def days_before(now: datetime, days: int) -> datetime:
    """`now` minus `days`, or the first instant of the calendar."""
    try:
        return now - timedelta(days=days)
    except OverflowError:
        return datetime.min.replace(tzinfo=now.tzinfo)
