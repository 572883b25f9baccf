"""Retention rules: default TTLs, named policies, caps on personal data, cleanup, backups, alerts.

`RetentionRules()` has the shipped defaults; `parse_rules` reads those of a file. `compute_expiry`
applies them to a memory.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from types import MappingProxyType

from recollect.kernel.errors import ValidationFailed


class RetentionProfile(StrEnum):
    """Do records outside of runs have a default TTL: that of their scope, or none?"""

    RECORDS = "records"
    NONE = "none"


DAY_SECONDS = 86_400
# A thousand years. A longer time to live is a mistake, such as milliseconds for seconds.
TTL_SECONDS_MAX = 365_000 * DAY_SECONDS
# The age in days at which a vacuum deletes records, unless the caller gives another.
VACUUM_DAYS = 90


class MemoryScope(StrEnum):
    """The scope of a space, by its kind: a run is `session`, an org `org`, others `long_term`."""

    SESSION = "session"
    LONG_TERM = "long_term"
    ORG = "org"


class PiiRisk(IntEnum):
    """low < medium < high < critical."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3
    CRITICAL = 4

    @property
    def label(self) -> str:
        """The name in the retention file, in expiry rules and in JSON."""
        return self.name.lower()


class PiiHandling(StrEnum):
    """Precautions for a kind of personal data."""

    ENCRYPT = "encrypt"
    MASK_IN_LOGS = "mask_in_logs"
    NEVER_LOG = "never_log"
    AUDIT_ACCESS = "audit_access"
    CONSENT = "consent"


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """A named TTL for some scopes. `ttl_seconds` None: never expires, or ends with the run."""

    name: str
    ttl_seconds: int | None
    scopes: frozenset[MemoryScope]
    until_run_completes: bool = False


@dataclass(frozen=True, slots=True)
class PiiTagRule:
    """Risk and precautions of one kind of personal data."""

    risk: PiiRisk
    handling: frozenset[PiiHandling] = frozenset()


@dataclass(frozen=True, slots=True)
class PiiRiskRule:
    """The maximum TTL of data with a risk, counted from creation.

    `approval`: an admin may grant a longer one.
    """

    max_ttl_seconds: int
    approval: bool = False
    delete_on_run_completion: bool = False


@dataclass(frozen=True, slots=True)
class AuditAlert:
    """Alert when `count` events happen within the window; `tags` limits it to rows with one."""

    count: int
    window_minutes: int = 60
    tags: frozenset[str] = frozenset()


_ALL_SCOPES = frozenset(MemoryScope)
_LASTING_SCOPES = frozenset({MemoryScope.LONG_TERM, MemoryScope.ORG})
SESSION_ONLY = frozenset({MemoryScope.SESSION})
_CRITICAL_HANDLING = frozenset(
    {PiiHandling.ENCRYPT, PiiHandling.NEVER_LOG, PiiHandling.AUDIT_ACCESS}
)
_HIGH_HANDLING = frozenset({PiiHandling.MASK_IN_LOGS, PiiHandling.AUDIT_ACCESS})
_MASKED_HANDLING = frozenset({PiiHandling.MASK_IN_LOGS})
_SHIPPED_POLICIES = (
    RetentionPolicy("dev", 3_600, _ALL_SCOPES),
    RetentionPolicy("production", 30 * DAY_SECONDS, _LASTING_SCOPES),
    RetentionPolicy("compliance", 365 * DAY_SECONDS, _LASTING_SCOPES),
    RetentionPolicy("ephemeral", None, SESSION_ONLY, until_run_completes=True),
    RetentionPolicy("permanent", None, _LASTING_SCOPES),
)

DEFAULT_TTL_SECONDS: Mapping[MemoryScope, int] = MappingProxyType(
    {
        MemoryScope.SESSION: 3_600,
        MemoryScope.LONG_TERM: 30 * DAY_SECONDS,
        MemoryScope.ORG: 90 * DAY_SECONDS,
    }
)
DEFAULT_POLICIES: Mapping[str, RetentionPolicy] = MappingProxyType(
    {p.name: p for p in _SHIPPED_POLICIES}
)
DEFAULT_TAG_RULES: Mapping[str, PiiTagRule] = MappingProxyType(
    {
        "ssn": PiiTagRule(PiiRisk.CRITICAL, _CRITICAL_HANDLING),
        "credit_card": PiiTagRule(PiiRisk.CRITICAL, _CRITICAL_HANDLING),
        "biometric": PiiTagRule(PiiRisk.CRITICAL, _CRITICAL_HANDLING | {PiiHandling.CONSENT}),
        "health": PiiTagRule(PiiRisk.CRITICAL, _CRITICAL_HANDLING | {PiiHandling.CONSENT}),
        "email": PiiTagRule(PiiRisk.HIGH, _HIGH_HANDLING),
        "phone": PiiTagRule(PiiRisk.HIGH, _HIGH_HANDLING),
        "address": PiiTagRule(PiiRisk.HIGH, _HIGH_HANDLING),
        "financial": PiiTagRule(PiiRisk.HIGH, _HIGH_HANDLING),
        "name": PiiTagRule(PiiRisk.MEDIUM, _MASKED_HANDLING),
        "ip_address": PiiTagRule(PiiRisk.LOW, _MASKED_HANDLING),
    }
)
PII_TAGS = tuple(sorted(DEFAULT_TAG_RULES))
# From the highest risk to the lowest: `parse_rules` compares neighbours in this order.
DEFAULT_RISK_RULES: Mapping[PiiRisk, PiiRiskRule] = MappingProxyType(
    {
        PiiRisk.CRITICAL: PiiRiskRule(
            30 * DAY_SECONDS, approval=True, delete_on_run_completion=True
        ),
        PiiRisk.HIGH: PiiRiskRule(90 * DAY_SECONDS),
        PiiRisk.MEDIUM: PiiRiskRule(365 * DAY_SECONDS),
        PiiRisk.LOW: PiiRiskRule(365 * DAY_SECONDS),
    }
)
VACUUM_AFTER_DAYS: Mapping[MemoryScope, int] = MappingProxyType(
    {MemoryScope.SESSION: 1, MemoryScope.LONG_TERM: 30, MemoryScope.ORG: 90}
)


@dataclass(frozen=True, slots=True)
class VacuumRules:
    """The regular vacuum. `after_days` is the age at which records of a scope are deleted."""

    enabled: bool = True
    interval_hours: int = 24
    grace_days: int = 7
    after_days: Mapping[MemoryScope, int] = field(default_factory=lambda: VACUUM_AFTER_DAYS)


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

    mass_deletion: AuditAlert = AuditAlert(100)
    pii_access_spike: AuditAlert = AuditAlert(
        10, tags=frozenset({"ssn", "credit_card", "biometric"})
    )


@dataclass(frozen=True, slots=True)
class RetentionRules:
    """All rules of a server, read once at its start."""

    default_ttl_seconds: Mapping[MemoryScope, int] = field(
        default_factory=lambda: DEFAULT_TTL_SECONDS
    )
    policies: Mapping[str, RetentionPolicy] = field(default_factory=lambda: DEFAULT_POLICIES)
    tags: Mapping[str, PiiTagRule] = field(default_factory=lambda: DEFAULT_TAG_RULES)
    risks: Mapping[PiiRisk, PiiRiskRule] = field(default_factory=lambda: DEFAULT_RISK_RULES)
    vacuum: VacuumRules = VacuumRules()
    backup: BackupRules = BackupRules()
    audit: AuditRules = AuditRules()

    def allowed_policies(self, scope: MemoryScope) -> tuple[str, ...]:
        """Names of the policies for this scope, in the order of the file."""
        return tuple(name for name, policy in self.policies.items() if scope in policy.scopes)

    def require_policy(self, name: str, scope: MemoryScope) -> RetentionPolicy:
        """The named policy. Raises ValidationFailed `policy_scope` with the allowed names if it is
        unknown or not for this scope."""
        policy = self.policies.get(name)
        if policy is None or scope not in policy.scopes:
            raise _policy_scope_error(scope, self.allowed_policies(scope))
        return policy

    def highest_risk(self, pii_tags: Iterable[str]) -> PiiRisk | None:
        """The highest risk among the tags; None without tags."""
        return max((self.tags[tag].risk for tag in pii_tags), default=None)

    def is_critical(self, pii_tags: Iterable[str]) -> bool:
        return self.highest_risk(pii_tags) is PiiRisk.CRITICAL

    def needs_approval(self, pii_tags: Iterable[str]) -> bool:
        """May an admin grant an expiry past the cap? If not, a longer request is clamped."""
        risk = self.highest_risk(pii_tags)
        return risk is not None and self.risks[risk].approval

    def is_deleted_with_run(self, policy: RetentionPolicy | None, pii_tags: Iterable[str]) -> bool:
        """Is a session row deleted in the transaction that completes its run?"""
        if policy is not None and policy.until_run_completes:
            return True
        risk = self.highest_risk(pii_tags)
        return risk is not None and self.risks[risk].delete_on_run_completion

    def grace_days(self, pii_tags: Iterable[str]) -> int:
        """How many days an expired row stays in storage, hidden; 0 for critical data."""
        return 0 if self.is_critical(pii_tags) else self.vacuum.grace_days


SHIPPED_RULES = RetentionRules()


def _policy_scope_error(scope: MemoryScope, allowed: tuple[str, ...]) -> ValidationFailed:
    # The message does not repeat the name: it is text of the caller that was refused.
    names = ", ".join(allowed) or "none"
    message = f"must be a retention policy for the scope {scope}: {names}"
    error = ValidationFailed.for_field("retention_policy", message)
    error.code = "policy_scope"
    error.details = {"field": "retention_policy", "scope": str(scope), "allowed": list(allowed)}
    return error
