"""What is tidied up: pure rules of purging, vacuuming, evicting and compacting.

None of them looks at a text. A rule's word is what reports count by.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from recollect.domain.expiry import TYPE_TTL_SECONDS, is_due
from recollect.domain.memories import Kind, MemoryId, MemoryType, Status, Trust
from recollect.domain.retention import RetentionRules
from recollect.domain.spaces import Space

EVICTABLE_AFTER = timedelta(days=7)
# Types that fade; the rest are kept as long as nothing better speaks for their going.
EPHEMERAL_TYPES = frozenset(TYPE_TTL_SECONDS)
# Who somebody is and what they like: evicted only where nothing else is left to go.
LAST_TYPES = frozenset({MemoryType.IDENTITY, MemoryType.PREFERENCE})
PUT_AWAY = frozenset({Status.SUPERSEDED, Status.ARCHIVED})
BY_AGE = "age"


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What housekeeping decides by. `doc` is the number of the row, never used again."""

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
        """When somebody was last shown it or changed it."""
        return max(self.used_at or self.updated_at, self.updated_at)


class Fate(StrEnum):
    """What a vacuum does with a row: it goes, a live policy keeps it, or it was never in danger."""

    REMOVED = "removed"
    SKIPPED = "skipped"
    KEPT = "kept"


def is_purgeable(row: Brief, rules: RetentionRules, now: datetime) -> bool:
    """Due for longer than the grace period, which critical personal data has none of."""
    grace = timedelta(days=rules.grace_days(row.pii_tags))
    return is_due(now - grace, row.expires_at)


def fate_in_vacuum(row: Brief, rules: RetentionRules, now: datetime, *, cutoff: datetime) -> Fate:
    """Due rows go after their grace; old records go unless a policy or an expiry of their own
    speaks for them. Statements never go by age."""
    if is_purgeable(row, rules, now):
        return Fate.REMOVED
    if row.kind is not Kind.RECORD or row.created_at > cutoff:
        return Fate.KEPT
    if has_live_policy(row, now):
        return Fate.SKIPPED
    lasts = row.expires_at is not None and not is_due(now, row.expires_at)
    return Fate.KEPT if lasts else Fate.REMOVED


def has_live_policy(row: Brief, now: datetime) -> bool:
    """A named policy whose term is not over. One that has vanished from the file still counts: an
    edit of the file must not remove what it once kept."""
    return row.retention_policy is not None and not is_due(now, row.expires_at)


def reason(row: Brief, now: datetime) -> str:
    """By what rule a row goes."""
    return row.expiry_rule if is_due(now, row.expires_at) else BY_AGE


def may_evict(row: Brief, now: datetime) -> bool:
    """An active row that is neither young nor under a live policy."""
    active = row.status is Status.ACTIVE and not is_due(now, row.expires_at)
    return active and row.created_at <= now - EVICTABLE_AFTER and not has_live_policy(row, now)


def eviction_order(row: Brief) -> tuple[bool, bool, int, datetime, datetime, str]:
    """Who goes first where a space is too full; `stores/memory_bulk.py` says the same as SQL."""
    return (
        row.type in LAST_TYPES,
        row.type not in EPHEMERAL_TYPES,
        list(Trust).index(row.trust),
        row.last_used_at,
        row.created_at,
        row.id,
    )


def may_compact(row: Brief, now: datetime, *, cutoff: datetime) -> bool:
    """Put away long enough ago. What is due goes as a whole, later."""
    away = row.status in PUT_AWAY and row.status_at <= cutoff and row.compacted_at is None
    return away and not is_due(now, row.expires_at)


def days_before(now: datetime, days: int) -> datetime:
    """So many days ago, or the beginning of the calendar."""
    try:
        return now - timedelta(days=days)
    except OverflowError:
        return datetime.min.replace(tzinfo=now.tzinfo)
