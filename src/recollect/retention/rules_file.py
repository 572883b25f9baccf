"""Validates a parsed retention file and builds `RetentionRules`; collects all problems first."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from recollect.kernel.errors import ValidationFailed, Violation
from recollect.kernel.retention_rules import (
    DEFAULT_POLICIES,
    DEFAULT_RISK_RULES,
    DEFAULT_TAG_RULES,
    PII_TAGS,
    SESSION_ONLY,
    TTL_SECONDS_MAX,
    VACUUM_AFTER_DAYS,
    AuditAlert,
    AuditRules,
    BackupRules,
    MemoryScope,
    PiiHandling,
    PiiRisk,
    PiiRiskRule,
    PiiTagRule,
    RetentionPolicy,
    RetentionRules,
    VacuumRules,
)

FieldPath = tuple[str | int, ...]
LineLookup = Callable[[FieldPath], int | None]


def parse_rules(document: object, lines: LineLookup) -> RetentionRules:
    """The rules of a parsed document; `lines` returns the line of a field, None if unknown.

    `default_ttl` is required with its three scopes. Any other section or field that is absent has
    the shipped value; but `policies`, if present, replaces the shipped ones. Raises one
    ValidationFailed with every problem: field, line, and what would be right.
    """
    root = _DocumentNode((), document, lines, [])
    rules = _read_rules(root)
    if root.problems:
        message = "; ".join(f"{problem.field}: {problem.message}" for problem in root.problems)
        raise ValidationFailed(message, root.problems)
    return rules


class _Absent:
    """The value of a field that the document does not have (None is a value in YAML)."""


_ABSENT = _Absent()


@dataclass(frozen=True, slots=True)
class _DocumentNode:
    """A value of the document with its path. A problem is recorded, and reading goes on with the
    default: all problems are reported at once."""

    path: FieldPath
    value: object
    lines: LineLookup
    problems: list[Violation]

    @property
    def is_absent(self) -> bool:
        return self.value is _ABSENT

    def add_problem(self, message: str) -> None:
        line = self._line_number()
        at = f"line {line}: " if line is not None else ""
        name = ".".join(map(str, self.path)) or "document"
        self.problems.append(Violation(name, at + message))

    def _line_number(self) -> int | None:
        # A missing field has no line: take that of the nearest enclosing one.
        enclosing = (self.path[:end] for end in range(len(self.path), -1, -1))
        return next((line for path in enclosing if (line := self.lines(path)) is not None), None)

    def child(self, name: str) -> "_DocumentNode":
        value = self.value.get(name, _ABSENT) if isinstance(self.value, Mapping) else _ABSENT
        return self._new_child(name, value)

    def children(self) -> list[tuple[str, "_DocumentNode"]]:
        """All fields with a string as name; call `check_mapping` first."""
        names = list(self.value) if isinstance(self.value, Mapping) else []
        return [(name, self.child(name)) for name in names if isinstance(name, str)]

    def _new_child(self, step: str | int, value: object) -> "_DocumentNode":
        return _DocumentNode((*self.path, step), value, self.lines, self.problems)

    def check_mapping(
        self, known: Collection[str] | None, required: Collection[str] = ()
    ) -> "_DocumentNode":
        """Record a problem if this is not a mapping, and for each missing or unknown field (`known`
        None: any name is allowed)."""
        if self.is_absent:
            return self
        if not isinstance(self.value, Mapping):
            self.add_problem("must be a mapping of names to values")
            return self
        for name in self.value:
            if not isinstance(name, str) or not name:
                self._new_child(str(name), None).add_problem(
                    "the name must be a string; put it in quotes"
                )
            elif known is not None and name not in known:
                self._new_child(name, None).add_problem(
                    f"unknown; must be one of {', '.join(known)}"
                )
        for name in required:
            if name not in self.value:
                self._new_child(name, _ABSENT).add_problem("is missing and has no default")
        return self

    def read_int(self, default: int, *, least: int) -> int:
        if self.is_absent:
            return default
        if isinstance(self.value, bool) or not isinstance(self.value, int) or self.value < least:
            self.add_problem(f"must be a whole number from {least} up")
            return default
        return self.value

    def read_seconds(self, default: int) -> int:
        """A time to live."""
        seconds = self.read_int(default, least=1)
        if seconds <= TTL_SECONDS_MAX:
            return seconds
        self.add_problem(f"must be at most {TTL_SECONDS_MAX} seconds, a thousand years")
        return default

    def read_bool(self, *, default: bool) -> bool:
        if self.is_absent:
            return default
        if not isinstance(self.value, bool):
            self.add_problem("must be true or false")
            return default
        return self.value

    def read_choice(self, words: Collection[str], default: str) -> str:
        if self.is_absent:
            return default
        if not isinstance(self.value, str) or self.value not in words:
            self.add_problem(f"must be one of {', '.join(words)}")
            return default
        return self.value

    def read_choices(self, words: Collection[str], default: Collection[str] = ()) -> frozenset[str]:
        if self.is_absent:
            return frozenset(default)
        if not isinstance(self.value, list):
            self.add_problem(f"must be a list of {', '.join(words)}")
            return frozenset(default)
        items = [self._new_child(index, item) for index, item in enumerate(self.value)]
        return frozenset(item.read_choice(words, "") for item in items) - {""}


_SCOPES = tuple(map(str, MemoryScope))
_RISKS = tuple(risk.label for risk in reversed(PiiRisk))
_SECTIONS = ("default_ttl", "policies", "pii", "vacuum", "backup", "audit")


def _read_rules(root: _DocumentNode) -> RetentionRules:
    root.check_mapping(_SECTIONS, required=("default_ttl",))
    pii = root.child("pii").check_mapping(("tags", "retention_rules"))
    return RetentionRules(
        _read_default_ttl(root.child("default_ttl")),
        _read_policies(root.child("policies")),
        _read_tags(pii.child("tags")),
        _read_risks(pii.child("retention_rules")),
        _read_vacuum(root.child("vacuum")),
        _read_backup(root.child("backup")),
        _read_audit(root.child("audit")),
    )


def _read_default_ttl(node: _DocumentNode) -> Mapping[MemoryScope, int]:
    node.check_mapping(_SCOPES, required=_SCOPES)
    return MappingProxyType({scope: node.child(scope).read_seconds(1) for scope in MemoryScope})


def _read_policies(node: _DocumentNode) -> Mapping[str, RetentionPolicy]:
    if node.is_absent:
        return DEFAULT_POLICIES
    members = node.check_mapping(None).children()
    return MappingProxyType({name: _read_policy(name, member) for name, member in members})


def _read_policy(name: str, node: _DocumentNode) -> RetentionPolicy:
    ends = node.child("until_run_completes").read_bool(default=False)
    # A forgotten TTL must not mean "never expires": that takes an explicit null.
    required = ("scopes",) if ends else ("ttl_seconds", "scopes")
    node.check_mapping(("ttl_seconds", "scopes", "until_run_completes"), required)
    ttl = node.child("ttl_seconds")
    seconds = None if ttl.is_absent or ttl.value is None else ttl.read_seconds(1)
    return RetentionPolicy(
        name, seconds, _read_policy_scopes(node.child("scopes"), ends=ends), ends
    )


def _read_policy_scopes(node: _DocumentNode, *, ends: bool) -> frozenset[MemoryScope]:
    scopes = frozenset(map(MemoryScope, node.read_choices(_SCOPES)))
    if node.value == []:
        node.add_problem(f"must name at least one scope of {', '.join(_SCOPES)}")
    if ends and scopes - SESSION_ONLY:
        node.add_problem("must be [session] alone, because the policy ends with the run")
    return scopes


def _read_tags(node: _DocumentNode) -> Mapping[str, PiiTagRule]:
    members = node.check_mapping(PII_TAGS).children()
    sent = {
        tag: _read_tag(member, DEFAULT_TAG_RULES[tag])
        for tag, member in members
        if tag in DEFAULT_TAG_RULES
    }
    return MappingProxyType({**DEFAULT_TAG_RULES, **sent})


def _read_tag(node: _DocumentNode, shipped: PiiTagRule) -> PiiTagRule:
    node.check_mapping(("risk", "handling"), required=("risk",))
    risk = node.child("risk").read_choice(_RISKS, shipped.risk.label)
    handling = node.child("handling").read_choices(tuple(PiiHandling), shipped.handling)
    return PiiTagRule(PiiRisk[risk.upper()], frozenset(map(PiiHandling, handling)))


def _read_risks(node: _DocumentNode) -> Mapping[PiiRisk, PiiRiskRule]:
    node.check_mapping(_RISKS)
    rules = {
        risk: _read_risk(node.child(risk.label), DEFAULT_RISK_RULES[risk])
        for risk in DEFAULT_RISK_RULES
    }
    for riskier, tamer in pairwise(rules):
        if rules[riskier].max_ttl_seconds > rules[tamer].max_ttl_seconds:
            # Otherwise one more tag could extend the life of a row.
            most = rules[tamer].max_ttl_seconds
            node.child(riskier.label).add_problem(
                f"max_ttl_seconds must be at most {tamer.label}'s {most}"
            )
    return MappingProxyType(rules)


def _read_risk(node: _DocumentNode, shipped: PiiRiskRule) -> PiiRiskRule:
    node.check_mapping(("max_ttl_seconds", "approval", "delete_on_run_completion"))
    return PiiRiskRule(
        node.child("max_ttl_seconds").read_seconds(shipped.max_ttl_seconds),
        node.child("approval").read_bool(default=shipped.approval),
        node.child("delete_on_run_completion").read_bool(default=shipped.delete_on_run_completion),
    )


def _read_vacuum(node: _DocumentNode) -> VacuumRules:
    node.check_mapping(("enabled", "interval_hours", "grace_days", "after_days"))
    after = node.child("after_days").check_mapping(_SCOPES)
    return VacuumRules(
        node.child("enabled").read_bool(default=True),
        node.child("interval_hours").read_int(24, least=1),
        node.child("grace_days").read_int(7, least=0),
        MappingProxyType(
            {s: after.child(s).read_int(VACUUM_AFTER_DAYS[s], least=0) for s in MemoryScope}
        ),
    )


def _read_backup(node: _DocumentNode) -> BackupRules:
    node.check_mapping(("before_vacuum", "format", "keep_days", "directory"))
    directory = node.child("directory")
    if not (directory.is_absent or directory.value is None or isinstance(directory.value, str)):
        directory.add_problem("must be a directory's path, or null for a place beside the database")
    return BackupRules(
        node.child("before_vacuum").read_bool(default=True),
        node.child("format").read_choice(("jsonl",), "jsonl"),
        node.child("keep_days").read_int(365, least=0),
        directory.value if isinstance(directory.value, str) else None,
    )


def _read_audit(node: _DocumentNode) -> AuditRules:
    node.check_mapping(("log_content", "alerts"))
    log_content = node.child("log_content")
    if log_content.read_bool(default=False):
        log_content.add_problem("must be false: the audit log never holds content")
    alerts = node.child("alerts").check_mapping(("mass_deletion", "pii_access_spike"))
    shipped = AuditRules()
    return AuditRules(
        _read_alert(alerts.child("mass_deletion"), shipped.mass_deletion, ()),
        _read_alert(alerts.child("pii_access_spike"), shipped.pii_access_spike, ("tags",)),
    )


def _read_alert(node: _DocumentNode, shipped: AuditAlert, more: tuple[str, ...]) -> AuditAlert:
    node.check_mapping(("count", "window_minutes", *more))
    return AuditAlert(
        node.child("count").read_int(shipped.count, least=1),
        node.child("window_minutes").read_int(shipped.window_minutes, least=1),
        node.child("tags").read_choices(PII_TAGS, shipped.tags) if more else shipped.tags,
    )
