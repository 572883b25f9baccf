"""Retention rules: default TTLs, named policies, caps on personal data, cleanup, backups, alerts.

`RetentionRules()` has the shipped defaults; `parse_rules` reads those of a file. `compute_expiry`
applies them to a memory.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from types import MappingProxyType

from recollect.errors import ValidationFailed

DAY_SECONDS = 86_400
# The age in days at which a vacuum deletes records, unless the caller gives another.
VACUUM_DAYS = 90


class MemoryScope(StrEnum):
    """The scope of a space, by its kind: a run is `session`, an org `org`, others `long_term`."""

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
        """The name in the retention file, in expiry rules and in JSON."""
        return self.name.lower()


class Handling(StrEnum):
    """Precautions for a kind of personal data."""

    ENCRYPT = "encrypt"
    MASK_IN_LOGS = "mask_in_logs"
    NEVER_LOG = "never_log"
    AUDIT_ACCESS = "audit_access"
    CONSENT = "consent"


@dataclass(frozen=True, slots=True)
class Policy:
    """A named TTL for some scopes. `ttl_seconds` None: never expires, or ends with the run."""

    name: str
    ttl_seconds: int | None
    scopes: frozenset[MemoryScope]
    until_run_completes: bool = False


@dataclass(frozen=True, slots=True)
class TagRule:
    """Risk and precautions of one kind of personal data."""

    risk: Risk
    handling: frozenset[Handling] = frozenset()


@dataclass(frozen=True, slots=True)
class RiskRule:
    """The maximum TTL of data with a risk, counted from creation.

    `approval`: an admin may grant a longer one.
    """

    max_ttl_seconds: int
    approval: bool = False
    delete_on_run_completion: bool = False


@dataclass(frozen=True, slots=True)
class Alert:
    """Alert when `count` events happen within the window; `tags` limits it to rows with one."""

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
# From the highest risk to the lowest: `parse_rules` compares neighbours in this order.
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
    """The regular vacuum. `after_days` is the age at which records of a scope are deleted."""

    enabled: bool = True
    interval_hours: int = 24
    grace_days: int = 7
    after_days: Mapping[MemoryScope, int] = field(default_factory=lambda: AFTER_DAYS)


@dataclass(frozen=True, slots=True)
class BackupRules:
    """The backup before a vacuum. `directory` None is a folder beside the database."""

    before_vacuum: bool = True
    format: str = "jsonl"
    keep_days: int = 365
    directory: str | None = None


@dataclass(frozen=True, slots=True)
class AuditRules:
    """Alerts for operators. The audit log never contains content; no setting changes that."""

    mass_deletion: Alert = Alert(100)
    pii_access_spike: Alert = Alert(10, tags=frozenset({"ssn", "credit_card", "biometric"}))


@dataclass(frozen=True, slots=True)
class RetentionRules:
    """All rules of a server, read once at its start."""

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
        """Names of the policies for this scope, in the order of the file."""
        return tuple(name for name, policy in self.policies.items() if scope in policy.scopes)

    def policy(self, name: str, scope: MemoryScope) -> Policy:
        """The named policy. Raises ValidationFailed `policy_scope` with the allowed names if it is
        unknown or not for this scope."""
        policy = self.policies.get(name)
        if policy is None or scope not in policy.scopes:
            raise _policy_refused(scope, self.allowed_policies(scope))
        return policy

    def riskiest(self, pii_tags: Iterable[str]) -> Risk | None:
        """The highest risk among the tags; None without tags."""
        return max((self.tags[tag].risk for tag in pii_tags), default=None)

    def is_critical(self, pii_tags: Iterable[str]) -> bool:
        return self.riskiest(pii_tags) is Risk.CRITICAL

    def needs_approval(self, pii_tags: Iterable[str]) -> bool:
        """May an admin grant an expiry past the cap? If not, a longer request is clamped."""
        risk = self.riskiest(pii_tags)
        return risk is not None and self.risks[risk].approval

    def ends_with_run(self, policy: Policy | None, pii_tags: Iterable[str]) -> bool:
        """Is a session row deleted in the transaction that completes its run?"""
        if policy is not None and policy.until_run_completes:
            return True
        risk = self.riskiest(pii_tags)
        return risk is not None and self.risks[risk].delete_on_run_completion

    def grace_days(self, pii_tags: Iterable[str]) -> int:
        """How many days an expired row stays in storage, hidden; 0 for critical data."""
        return 0 if self.is_critical(pii_tags) else self.vacuum.grace_days


SHIPPED_RULES = RetentionRules()


def _policy_refused(scope: MemoryScope, allowed: tuple[str, ...]) -> ValidationFailed:
    # The message does not repeat the name: it is text of the caller that was refused.
    names = ", ".join(allowed) or "none"
    message = f"must be a retention policy for the scope {scope}: {names}"
    error = ValidationFailed.of("retention_policy", message)
    error.code = "policy_scope"
    error.details = {"field": "retention_policy", "scope": str(scope), "allowed": list(allowed)}
    return error
