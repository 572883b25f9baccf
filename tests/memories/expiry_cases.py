"""Lives of memories, and when they end."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from hypothesis import strategies as st

from recollect.kernel.retention_rules import PII_TAGS, MemoryScope, RetentionRules
from recollect.memories.expiry import Expiry, ExpiryInputs, compute_expiry
from recollect.memories.model import MemoryKind, MemoryType

NOW = datetime(2026, 3, 1, 12, 0, 0, 123_456, tzinfo=UTC)
RULES = RetentionRules()
DAY = timedelta(seconds=86_400)
HOUR = timedelta(hours=1)
TICK = timedelta(microseconds=1)
SCOPES = list(MemoryScope)


def a_life(*, policy: str | None = None, **changes: Any) -> ExpiryInputs:
    """A statement of knowledge, created and observed now, in a lasting space."""
    given: dict[str, Any] = {
        "scope": MemoryScope.LONG_TERM,
        "kind": MemoryKind.STATEMENT,
        "type": MemoryType.KNOWLEDGE,
        "created_at": NOW,
        "observed_at": NOW,
        "policy": None if policy is None else RULES.policies[policy],
    }
    return ExpiryInputs(**given | changes)


def a_record(**changes: Any) -> ExpiryInputs:
    """The same as a record."""
    return a_life(kind=MemoryKind.RECORD, **changes)


def ends(life: ExpiryInputs, **options: Any) -> Expiry:
    """By the rules as they ship."""
    return compute_expiry(life, RULES, **options)


offsets = st.integers(-23 * 60, 23 * 60).map(lambda m: timezone(timedelta(minutes=m)))
tag_sets = st.sets(st.sampled_from(PII_TAGS)).map(lambda tags: tuple(sorted(tags)))
