"""The rules of keeping: default terms, named policies, caps on personal data, housekeeping.

`RetentionRules()` holds the defaults that ship; rules of a file: `retention_file.py`. How a row's
expiry follows: `expiry.py`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from types import MappingProxyType

from recollect.errors import ValidationFailed

DAY_SECONDS = 86_400
# From which age on `vacuum` removes records, where nobody says another.
VACUUM_DAYS = 90


class MemoryScope(StrEnum):
    """What a space is for; it follows from the space's kind."""

    SESSION = "session"
    LONG_TERM = "long_term"
    ORG = "org"


class Risk(IntEnum):
    """low < medium < high < critical."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3
    CRITICAL = 4

    @property
    def word(self) -> str:
        """The word in files, rules and answers."""
        return self.name.lower()


class Handling(StrEnum):
    """What else is done with a kind of personal data."""

    ENCRYPT = "encrypt"
    MASK_IN_LOGS = "mask_in_logs"
    NEVER_LOG = "never_log"
    AUDIT_ACCESS = "audit_access"
    CONSENT = "consent"


@dataclass(frozen=True, slots=True)
class Policy:
    """A named term. `ttl_seconds` None is no term of its own: for ever, or until the run ends."""

    name: str
    ttl_seconds: int | None
    scopes: frozenset[MemoryScope]
    until_run_completes: bool = False


@dataclass(frozen=True, slots=True)
class TagRule:
    """How risky a kind of personal data is, and how it is handled."""

    risk: Risk
    handling: frozenset[Handling] = frozenset()


@dataclass(frozen=True, slots=True)
class RiskRule:
    """How long data of a risk may live, counted from its creation.

    `approval` says that a wish for longer may be granted by somebody else.
    """

    max_ttl_seconds: int
    approval: bool = False
    delete_on_run_completion: bool = False


@dataclass(frozen=True, slots=True)
class Alert:
    """Tell when `count` things happened within the window; `tags` narrows to rows that bear one."""

    count: int
    window_minutes: int = 60
    tags: frozenset[str] = frozenset()


_ALL_SCOPES = frozenset(MemoryScope)
_LASTING = frozenset({MemoryScope.LONG_TERM, MemoryScope.ORG})
ONLY_SESSION = frozenset({MemoryScope.SESSION})
_GUARDED = frozenset({Handling.ENCRYPT, Handling.NEVER_LOG, Handling.AUDIT_ACCESS})
_WATCHED = frozenset({Handling.MASK_IN_LOGS, Handling.AUDIT_ACCESS})
_MASKED = frozenset({Handling.MASK_IN_LOGS})
_SHIPPED_POLICIES = (
    Policy("dev", 3_600, _ALL_SCOPES),
    Policy("production", 30 * DAY_SECONDS, _LASTING),
    Policy("compliance", 365 * DAY_SECONDS, _LASTING),
    Policy("ephemeral", None, ONLY_SESSION, until_run_completes=True),
    Policy("permanent", None, _LASTING),
)

DEFAULT_TTL_SECONDS: Mapping[MemoryScope, int] = MappingProxyType(
    {
        MemoryScope.SESSION: 3_600,
        MemoryScope.LONG_TERM: 30 * DAY_SECONDS,
        MemoryScope.ORG: 90 * DAY_SECONDS,
    }
)
POLICIES: Mapping[str, Policy] = MappingProxyType({p.name: p for p in _SHIPPED_POLICIES})
TAG_RULES: Mapping[str, TagRule] = MappingProxyType(
    {
        "ssn": TagRule(Risk.CRITICAL, _GUARDED),
        "credit_card": TagRule(Risk.CRITICAL, _GUARDED),
        "biometric": TagRule(Risk.CRITICAL, _GUARDED | {Handling.CONSENT}),
        "health": TagRule(Risk.CRITICAL, _GUARDED | {Handling.CONSENT}),
        "email": TagRule(Risk.HIGH, _WATCHED),
        "phone": TagRule(Risk.HIGH, _WATCHED),
        "address": TagRule(Risk.HIGH, _WATCHED),
        "financial": TagRule(Risk.HIGH, _WATCHED),
        "name": TagRule(Risk.MEDIUM, _MASKED),
        "ip_address": TagRule(Risk.LOW, _MASKED),
    }
)
PII_TAGS = tuple(sorted(TAG_RULES))
RISK_RULES: Mapping[Risk, RiskRule] = MappingProxyType(
    {
        Risk.CRITICAL: RiskRule(30 * DAY_SECONDS, approval=True, delete_on_run_completion=True),
        Risk.HIGH: RiskRule(90 * DAY_SECONDS),
        Risk.MEDIUM: RiskRule(365 * DAY_SECONDS),
        Risk.LOW: RiskRule(365 * DAY_SECONDS),
    }
)
AFTER_DAYS: Mapping[MemoryScope, int] = MappingProxyType(
    {MemoryScope.SESSION: 1, MemoryScope.LONG_TERM: 30, MemoryScope.ORG: 90}
)


@dataclass(frozen=True, slots=True)
class VacuumRules:
    """When old rows are swept. `after_days` is the age at which a scope's rows are looked at."""

    enabled: bool = True
    interval_hours: int = 24
    grace_days: int = 7
    after_days: Mapping[MemoryScope, int] = field(default_factory=lambda: AFTER_DAYS)


@dataclass(frozen=True, slots=True)
class BackupRules:
    """What is written before rows go. `directory` None is a place beside the database."""

    before_vacuum: bool = True
    format: str = "jsonl"
    keep_days: int = 365
    directory: str | None = None


@dataclass(frozen=True, slots=True)
class AuditRules:
    """What is told to operators. The log never holds content; no setting changes that."""

    mass_deletion: Alert = Alert(100)
    pii_access_spike: Alert = Alert(10, tags=frozenset({"ssn", "credit_card", "biometric"}))


@dataclass(frozen=True, slots=True)
class RetentionRules:
    """All the rules of one server, read once at its start."""

    default_ttl_seconds: Mapping[MemoryScope, int] = field(
        default_factory=lambda: DEFAULT_TTL_SECONDS
    )
    policies: Mapping[str, Policy] = field(default_factory=lambda: POLICIES)
    tags: Mapping[str, TagRule] = field(default_factory=lambda: TAG_RULES)
    risks: Mapping[Risk, RiskRule] = field(default_factory=lambda: RISK_RULES)
    vacuum: VacuumRules = VacuumRules()
    backup: BackupRules = BackupRules()
    audit: AuditRules = AuditRules()

    def allowed_policies(self, scope: MemoryScope) -> tuple[str, ...]:
        """The names that a row of this scope may carry, in the order of the file."""
        return tuple(name for name, policy in self.policies.items() if scope in policy.scopes)

    def policy(self, name: str, scope: MemoryScope) -> Policy:
        """The named policy, or `policy_scope` with the names that would be right."""
        policy = self.policies.get(name)
        if policy is None or scope not in policy.scopes:
            raise _policy_refused(scope, self.allowed_policies(scope))
        return policy

    def riskiest(self, pii_tags: Iterable[str]) -> Risk | None:
        """The highest risk among the tags; None without tags."""
        return max((self.tags[tag].risk for tag in pii_tags), default=None)

    def is_critical(self, pii_tags: Iterable[str]) -> bool:
        """Is one of the tags of the highest risk?"""
        return self.riskiest(pii_tags) is Risk.CRITICAL

    def needs_approval(self, pii_tags: Iterable[str]) -> bool:
        """To live past the cap takes somebody else's word; otherwise the wish is clamped."""
        risk = self.riskiest(pii_tags)
        return risk is not None and self.risks[risk].approval

    def ends_with_run(self, policy: Policy | None, pii_tags: Iterable[str]) -> bool:
        """A session row that is removed in the transaction that completes its run."""
        if policy is not None and policy.until_run_completes:
            return True
        risk = self.riskiest(pii_tags)
        return risk is not None and self.risks[risk].delete_on_run_completion

    def grace_days(self, pii_tags: Iterable[str]) -> int:
        """How long a due row may stay in storage, hidden; critical data not at all."""
        return 0 if self.is_critical(pii_tags) else self.vacuum.grace_days


SHIPPED_RULES = RetentionRules()


def _policy_refused(scope: MemoryScope, allowed: tuple[str, ...]) -> ValidationFailed:
    # The name is the caller's own text, and messages don't repeat refused text.
    names = ", ".join(allowed) or "none"
    message = f"must be a retention policy for the scope {scope}: {names}"
    error = ValidationFailed.of("retention_policy", message)
    error.code = "policy_scope"
    error.details = {"field": "retention_policy", "scope": str(scope), "allowed": list(allowed)}
    return error
