"""Expiry of a memory: a pure function of its facts and the retention rules.

Times are converted to UTC before they are compared or added: arithmetic in a zone with daylight
saving counts wall-clock hours.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from recollect.kernel.errors import Conflict, Forbidden, ValidationFailed
from recollect.kernel.retention_rules import (
    DAY_SECONDS,
    TTL_SECONDS_MAX,
    MemoryScope,
    RetentionPolicy,
    RetentionProfile,
    RetentionRules,
)
from recollect.kernel.validation import to_utc
from recollect.memories.model import Memory, MemoryKind, MemoryType, is_expired

# The last instant of the calendar: a longer TTL is cut to it. As an approved expiry it means never.
FOREVER = datetime.max.replace(tzinfo=UTC)

# Types that lose their value with time. Counted from the last observation.
TYPE_TTL_SECONDS = {
    MemoryType.CONTEXT: 7 * DAY_SECONDS,
    MemoryType.EVENT: 30 * DAY_SECONDS,
    MemoryType.TASK: 14 * DAY_SECONDS,
    MemoryType.OBSERVATION: 3 * DAY_SECONDS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryInputs:
    """Everything that a memory's expiry depends on.

    `policy` was looked up in the rules. `explicit_expires_at` was requested with the memory or with
    a later change; `approved_expires_at` is an approved expiry past the cap on personal data.
    """

    scope: MemoryScope
    kind: MemoryKind
    type: MemoryType
    created_at: datetime
    observed_at: datetime
    explicit_expires_at: datetime | None = None
    policy: RetentionPolicy | None = None
    pii_tags: Collection[str] = ()
    approved_expires_at: datetime | None = None

    @classmethod
    def from_memory(cls, memory: Memory, policy: RetentionPolicy | None) -> "ExpiryInputs":
        """Inputs of a stored memory; `policy` is the one that its `retention_policy` names."""
        return cls(
            scope=memory.space.scope,
            kind=memory.kind,
            type=memory.type,
            created_at=memory.created_at,
            observed_at=memory.observed_at,
            explicit_expires_at=memory.explicit_expires_at,
            policy=policy,
            pii_tags=memory.pii_tags,
            approved_expires_at=memory.approved_expires_at,
        )


@dataclass(frozen=True, slots=True)
class Expiry:
    """When a memory expires and by which rule; `expires_at` None is never.

    `clamped`: a ceiling shortened a request (an explicit expiry or a named policy; a default is no
    request). `requested_expires_at` is what was requested; None is never.
    """

    expires_at: datetime | None
    rule: str
    requested_expires_at: datetime | None = None
    clamped: bool = False


def compute_expiry(
    life: ExpiryInputs,
    rules: RetentionRules,
    *,
    profile: RetentionProfile = RetentionProfile.RECORDS,
) -> Expiry:
    """The base expiry, cut by the lowest ceiling. On a tie the rule is that of the base.

    Base: the first that applies of explicit expiry, named policy, TTL of the type, default TTL of
    the scope; else never. Ceilings: the named policy (it also limits an explicit expiry) and the
    cap of the riskiest personal data, counted from creation.
    """
    base = _base_candidate(life, rules, profile)
    return _apply_ceilings(base, [_policy_candidate(life, rules), _pii_cap(life, rules)])


def apply_pii_cap(kept: Expiry, life: ExpiryInputs, rules: RetentionRules) -> Expiry:
    """A stored expiry, lowered only by the cap on personal data.

    For imported rows, and for rows whose policy is no longer in the retention file.
    """
    at = None if kept.expires_at is None else _to_utc(kept.expires_at)
    lower = _apply_ceilings(
        _ExpiryCandidate(at, kept.rule, is_requested=True), [_pii_cap(life, rules)]
    )
    return lower if lower.clamped else replace(kept, expires_at=at)


def is_expired_when_stored(life: ExpiryInputs, rules: RetentionRules, now: datetime) -> bool:
    """Has the TTL of the type passed already, before the memory is stored?"""
    term = compute_expiry(life, rules)
    return term.rule == f"type:{life.type}" and is_expired(now, term.expires_at)


def explicit_expiry(
    ttl_seconds: int | None, expires_at: datetime | None, *, counted_from: datetime
) -> datetime | None:
    """The expiry that a caller requested, in UTC; None without a request.

    `counted_from` is `created_at` for a new memory and the time of the change in a PATCH.
    """
    if ttl_seconds is not None and expires_at is not None:
        raise ValidationFailed.for_field(
            "ttl_seconds", "send `ttl_seconds` or `expires_at`, not both"
        )
    if ttl_seconds is not None:
        return _add_seconds(counted_from, _check_ttl(ttl_seconds))
    if expires_at is None:
        return None
    at = to_utc(expires_at, "expires_at")
    if is_expired(counted_from, at):
        raise ValidationFailed.for_field("expires_at", "must lie in the future")
    return at


def _check_ttl(ttl_seconds: int) -> int:
    whole = isinstance(ttl_seconds, int) and not isinstance(ttl_seconds, bool)
    if not whole or not 1 <= ttl_seconds <= TTL_SECONDS_MAX:
        raise ValidationFailed.for_field(
            "ttl_seconds", f"must be a whole number of seconds from 1 to {TTL_SECONDS_MAX}"
        )
    return ttl_seconds


def renew_observed_at(life: ExpiryInputs, observed_at: datetime) -> ExpiryInputs:
    """Inputs after the fact was observed again: the TTL of the type counts from the later
    observation, caps still count from creation."""
    later = max(_to_utc(life.observed_at), _to_utc(observed_at))
    return replace(life, observed_at=later)


@dataclass(frozen=True, slots=True)
class _ExpiryCandidate:
    """A possible expiry. `at` None is never; `is_requested`: by a caller, not a default."""

    at: datetime | None
    rule: str
    is_requested: bool = False


def _base_candidate(
    life: ExpiryInputs, rules: RetentionRules, profile: RetentionProfile
) -> _ExpiryCandidate:
    if life.explicit_expires_at is not None:
        return _ExpiryCandidate(_to_utc(life.explicit_expires_at), "explicit", is_requested=True)
    present = (
        _policy_candidate(life, rules)
        or _type_candidate(life)
        or _scope_candidate(life, rules, profile)
    )
    return present or _ExpiryCandidate(None, "never")


def _policy_candidate(life: ExpiryInputs, rules: RetentionRules) -> _ExpiryCandidate | None:
    if life.policy is None:
        return None
    terms = [life.policy.ttl_seconds]
    # A run that never completes is bounded by the TTL of the session scope.
    if life.policy.until_run_completes:
        terms.append(rules.default_ttl_seconds[MemoryScope.SESSION])
    seconds = min((term for term in terms if term is not None), default=None)
    at = None if seconds is None else _add_seconds(life.created_at, seconds)
    return _ExpiryCandidate(at, f"policy:{life.policy.name}", is_requested=True)


def _type_candidate(life: ExpiryInputs) -> _ExpiryCandidate | None:
    # Session rows have the short TTL of their scope instead.
    seconds = TYPE_TTL_SECONDS.get(life.type)
    if seconds is None or life.scope is MemoryScope.SESSION:
        return None
    return _ExpiryCandidate(_add_seconds(life.observed_at, seconds), f"type:{life.type}")


def _scope_candidate(
    life: ExpiryInputs, rules: RetentionRules, profile: RetentionProfile
) -> _ExpiryCandidate | None:
    # Outside of runs only records have a default: statements of lasting types never expire.
    lasting = life.scope is not MemoryScope.SESSION
    if lasting and (life.kind is not MemoryKind.RECORD or profile is RetentionProfile.NONE):
        return None
    at = _add_seconds(life.created_at, rules.default_ttl_seconds[life.scope])
    return _ExpiryCandidate(at, f"scope:{life.scope}")


def _pii_cap(life: ExpiryInputs, rules: RetentionRules) -> _ExpiryCandidate | None:
    risk = rules.highest_risk(life.pii_tags)
    if risk is None:
        return None
    cap = _add_seconds(life.created_at, rules.risks[risk].max_ttl_seconds)
    # An approval only raises the cap; one for an earlier time has no effect.
    at = max(cap, _to_utc(life.approved_expires_at or cap))
    return _ExpiryCandidate(
        None if life.approved_expires_at == FOREVER else at, f"pii:{risk.label}"
    )


def _apply_ceilings(base: _ExpiryCandidate, ceilings: Iterable[_ExpiryCandidate | None]) -> Expiry:
    # `min` returns the first of equals, and the base comes first: on a tie nothing was clamped.
    lowest = min((base, *filter(None, ceilings)), key=_candidate_order)
    if lowest is base or not base.is_requested:
        return Expiry(lowest.at, lowest.rule)
    return Expiry(lowest.at, lowest.rule, requested_expires_at=base.at, clamped=True)


def _candidate_order(term: _ExpiryCandidate) -> tuple[bool, datetime]:
    return term.at is None, term.at or FOREVER


def _add_seconds(start: datetime, seconds: int) -> datetime:
    try:
        return _to_utc(start) + timedelta(seconds=seconds)
    except OverflowError:
        return FOREVER


def _to_utc(at: datetime) -> datetime:
    return to_utc(at, "time")


class ApprovalStatus(StrEnum):
    """Status of a request for an expiry past the cap."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """A request to let a memory live past its cap; decided by an admin other than the requester."""

    id: str
    memory_id: str
    requested_by: str
    requested_expires_at: datetime
    valid_until: datetime
    status: ApprovalStatus = ApprovalStatus.PENDING
    decided_by: str | None = None
    decided_at: datetime | None = None

    def effective_status(self, now: datetime) -> ApprovalStatus:
        """A pending request is `expired` once `valid_until` has passed; no job stores that."""
        lapsed = self.status is ApprovalStatus.PENDING and is_expired(now, self.valid_until)
        return ApprovalStatus.EXPIRED if lapsed else self.status


def needed_extension(
    life: ExpiryInputs,
    rules: RetentionRules,
    *,
    profile: RetentionProfile = RetentionProfile.RECORDS,
) -> datetime | None:
    """The expiry that needs an approval; None if the request is met, or clamped without appeal.

    `FOREVER` stands for never. Call it only when the requested expiry itself is set or changed: any
    other change of a clamped row is not a request for an approval.
    """
    capped = compute_expiry(life, rules, profile=profile)
    if not (capped.clamped and capped.rule.startswith("pii:")):
        return None
    if not rules.needs_approval(life.pii_tags):
        return None
    return compute_expiry(replace(life, pii_tags=()), rules, profile=profile).expires_at or FOREVER


def approval_deadline(now: datetime, expires_at: datetime | None, *, ttl_minutes: int) -> datetime:
    """Until when a request can be decided; at most until the memory expires."""
    deadline = _add_seconds(now, ttl_minutes * 60)
    return deadline if expires_at is None else min(deadline, _to_utc(expires_at))


def decide_approval(approval: Approval, by: str, now: datetime, *, approve: bool) -> Approval:
    """The decided request. Forbidden for the requester, Conflict unless it is pending."""
    if by == approval.requested_by:
        raise Forbidden("you can't decide your own request")
    if approval.effective_status(now) is not ApprovalStatus.PENDING:
        raise Conflict("the request is no longer pending", details={"reason": "wrong_state"})
    status = ApprovalStatus.APPROVED if approve else ApprovalStatus.DENIED
    return replace(approval, status=status, decided_by=by, decided_at=_to_utc(now))


def surviving_approval(
    approved_expires_at: datetime | None, before: Iterable[str], after: Iterable[str]
) -> datetime | None:
    """The approved expiry after a change of PII tags. A new tag voids it: the approver did not
    know of that data."""
    return approved_expires_at if set(after) <= set(before) else None
