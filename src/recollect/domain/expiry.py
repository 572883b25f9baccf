"""Expiry of a memory: a pure function of its facts and the retention rules.

Times are converted to UTC before they are compared or added: arithmetic in a zone with daylight
saving counts wall-clock hours.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from recollect.domain.memories import Kind, Memory, MemoryType, Status
from recollect.domain.memory_checks import as_instant
from recollect.domain.retention import DAY_SECONDS, MemoryScope, Policy, RetentionRules
from recollect.errors import Conflict, Forbidden, ValidationFailed

# The last instant of the calendar: a longer TTL is cut to it. As an approved expiry it means never.
FOREVER = datetime.max.replace(tzinfo=UTC)

# Types that lose their value with time. Counted from the last observation.
TYPE_TTL_SECONDS = {
    MemoryType.CONTEXT: 7 * DAY_SECONDS,
    MemoryType.EVENT: 30 * DAY_SECONDS,
    MemoryType.TASK: 14 * DAY_SECONDS,
    MemoryType.OBSERVATION: 3 * DAY_SECONDS,
}


class Profile(StrEnum):
    """Do records outside of runs have a default TTL: that of their scope, or none?"""

    RECORDS = "records"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """Everything that a memory's expiry depends on.

    `policy` was looked up in the rules. `explicit_expires_at` was requested with the memory or with
    a later change; `approved_expires_at` is an approved expiry past the cap on personal data.
    """

    scope: MemoryScope
    kind: Kind
    type: MemoryType
    created_at: datetime
    observed_at: datetime
    explicit_expires_at: datetime | None = None
    policy: Policy | None = None
    pii_tags: Collection[str] = ()
    approved_expires_at: datetime | None = None

    @classmethod
    def of(cls, memory: Memory, policy: Policy | None) -> "Life":
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


def expiry(life: Life, rules: RetentionRules, *, profile: Profile = Profile.RECORDS) -> Expiry:
    """The base expiry, cut by the lowest ceiling. On a tie the rule is that of the base.

    Base: the first that applies of explicit expiry, named policy, TTL of the type, default TTL of
    the scope; else never. Ceilings: the named policy (it also limits an explicit expiry) and the
    cap of the riskiest personal data, counted from creation.
    """
    base = _base(life, rules, profile)
    return _under(base, [_policy_term(life, rules), _pii_cap(life, rules)])


def lowered(kept: Expiry, life: Life, rules: RetentionRules) -> Expiry:
    """A stored expiry, lowered only by the cap on personal data.

    For imported rows, and for rows whose policy is no longer in the retention file.
    """
    at = None if kept.expires_at is None else _utc(kept.expires_at)
    lower = _under(_Term(at, kept.rule, wished=True), [_pii_cap(life, rules)])
    return lower if lower.clamped else replace(kept, expires_at=at)


def is_due(now: datetime, expires_at: datetime | None) -> bool:
    """Reads hide the row from `expires_at` on, whether or not a job has deleted it."""
    return expires_at is not None and _utc(now) >= _utc(expires_at)


def status_at(now: datetime, status: Status, expires_at: datetime | None) -> Status:
    """The status that readers see: `expired` once the expiry has passed, whatever is stored."""
    return Status.EXPIRED if is_due(now, expires_at) else status


def is_stale(life: Life, rules: RetentionRules, now: datetime) -> bool:
    """Has the TTL of the type passed already, before the memory is stored?"""
    term = expiry(life, rules)
    return term.rule == f"type:{life.type}" and is_due(now, term.expires_at)


def explicit_expiry(
    ttl_seconds: int | None, expires_at: datetime | None, *, counted_from: datetime
) -> datetime | None:
    """The expiry that a caller requested, in UTC; None without a request.

    `counted_from` is `created_at` for a new memory and the time of the change in a PATCH.
    """
    if ttl_seconds is not None and expires_at is not None:
        raise ValidationFailed.of("ttl_seconds", "send `ttl_seconds` or `expires_at`, not both")
    if ttl_seconds is not None:
        return _after(counted_from, _checked_ttl(ttl_seconds))
    if expires_at is None:
        return None
    at = as_instant(expires_at, "expires_at")
    if is_due(counted_from, at):
        raise ValidationFailed.of("expires_at", "must lie in the future")
    return at


def _checked_ttl(ttl_seconds: int) -> int:
    if isinstance(ttl_seconds, bool) or not isinstance(ttl_seconds, int) or ttl_seconds < 1:
        raise ValidationFailed.of("ttl_seconds", "must be a whole number of seconds from 1 up")
    return ttl_seconds


def renewed(life: Life, observed_at: datetime) -> Life:
    """Inputs after the fact was observed again: the TTL of the type counts from the later
    observation, caps still count from creation."""
    later = max(_utc(life.observed_at), _utc(observed_at))
    return replace(life, observed_at=later)


@dataclass(frozen=True, slots=True)
class _Term:
    """A possible expiry. `at` None is never; `wished`: requested by a caller, not a default."""

    at: datetime | None
    rule: str
    wished: bool = False


def _base(life: Life, rules: RetentionRules, profile: Profile) -> _Term:
    if life.explicit_expires_at is not None:
        return _Term(_utc(life.explicit_expires_at), "explicit", wished=True)
    present = _policy_term(life, rules) or _type_term(life) or _scope_term(life, rules, profile)
    return present or _Term(None, "never")


def _policy_term(life: Life, rules: RetentionRules) -> _Term | None:
    if life.policy is None:
        return None
    terms = [life.policy.ttl_seconds]
    # A run that never completes is bounded by the TTL of the session scope.
    if life.policy.until_run_completes:
        terms.append(rules.default_ttl_seconds[MemoryScope.SESSION])
    seconds = min((term for term in terms if term is not None), default=None)
    at = None if seconds is None else _after(life.created_at, seconds)
    return _Term(at, f"policy:{life.policy.name}", wished=True)


def _type_term(life: Life) -> _Term | None:
    # Session rows have the short TTL of their scope instead.
    seconds = TYPE_TTL_SECONDS.get(life.type)
    if seconds is None or life.scope is MemoryScope.SESSION:
        return None
    return _Term(_after(life.observed_at, seconds), f"type:{life.type}")


def _scope_term(life: Life, rules: RetentionRules, profile: Profile) -> _Term | None:
    # Outside of runs only records have a default: statements of lasting types never expire.
    lasting = life.scope is not MemoryScope.SESSION
    if lasting and (life.kind is not Kind.RECORD or profile is Profile.NONE):
        return None
    at = _after(life.created_at, rules.default_ttl_seconds[life.scope])
    return _Term(at, f"scope:{life.scope}")


def _pii_cap(life: Life, rules: RetentionRules) -> _Term | None:
    risk = rules.riskiest(life.pii_tags)
    if risk is None:
        return None
    cap = _after(life.created_at, rules.risks[risk].max_ttl_seconds)
    # An approval only raises the cap; one for an earlier time has no effect.
    at = max(cap, _utc(life.approved_expires_at or cap))
    return _Term(None if life.approved_expires_at == FOREVER else at, f"pii:{risk.word}")


def _under(base: _Term, ceilings: Iterable[_Term | None]) -> Expiry:
    # `min` returns the first of equals, and the base comes first: on a tie nothing was clamped.
    lowest = min((base, *filter(None, ceilings)), key=_order)
    if lowest is base or not base.wished:
        return Expiry(lowest.at, lowest.rule)
    return Expiry(lowest.at, lowest.rule, requested_expires_at=base.at, clamped=True)


def _order(term: _Term) -> tuple[bool, datetime]:
    return term.at is None, term.at or FOREVER


def _after(start: datetime, seconds: int) -> datetime:
    try:
        return _utc(start) + timedelta(seconds=seconds)
    except OverflowError:
        return FOREVER


def _utc(at: datetime) -> datetime:
    return as_instant(at, "time")


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

    def status_at(self, now: datetime) -> ApprovalStatus:
        """A pending request is `expired` once `valid_until` has passed; no job stores that."""
        lapsed = self.status is ApprovalStatus.PENDING and is_due(now, self.valid_until)
        return ApprovalStatus.EXPIRED if lapsed else self.status


def extension_needed(
    life: Life, rules: RetentionRules, *, profile: Profile = Profile.RECORDS
) -> datetime | None:
    """The expiry that needs an approval; None if the request is met, or clamped without appeal.

    `FOREVER` stands for never. Call it only when the requested expiry itself is set or changed: any
    other change of a clamped row is not a request for an approval.
    """
    capped = expiry(life, rules, profile=profile)
    if not (capped.clamped and capped.rule.startswith("pii:")):
        return None
    if not rules.needs_approval(life.pii_tags):
        return None
    return expiry(replace(life, pii_tags=()), rules, profile=profile).expires_at or FOREVER


def approval_deadline(now: datetime, expires_at: datetime | None, *, ttl_minutes: int) -> datetime:
    """Until when a request can be decided; at most until the memory expires."""
    deadline = _after(now, ttl_minutes * 60)
    return deadline if expires_at is None else min(deadline, _utc(expires_at))


def decided(approval: Approval, by: str, now: datetime, *, approve: bool) -> Approval:
    """The decided request. Forbidden for the requester, Conflict unless it is pending."""
    if by == approval.requested_by:
        raise Forbidden("you can't decide your own request")
    if approval.status_at(now) is not ApprovalStatus.PENDING:
        raise Conflict("the request is no longer pending", details={"reason": "wrong_state"})
    status = ApprovalStatus.APPROVED if approve else ApprovalStatus.DENIED
    return replace(approval, status=status, decided_by=by, decided_at=_utc(now))


def still_approved(
    approved_expires_at: datetime | None, before: Iterable[str], after: Iterable[str]
) -> datetime | None:
    """The approved expiry after a change of PII tags. A new tag voids it: the approver did not
    know of that data."""
    return approved_expires_at if set(after) <= set(before) else None
