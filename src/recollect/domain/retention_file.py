"""Validates a parsed retention file and builds `RetentionRules`; collects all problems first."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from recollect.domain.retention import (
    AFTER_DAYS,
    ONLY_SESSION,
    PII_TAGS,
    POLICIES,
    RISK_RULES,
    TAG_RULES,
    Alert,
    AuditRules,
    BackupRules,
    Handling,
    MemoryScope,
    Policy,
    RetentionRules,
    Risk,
    RiskRule,
    TagRule,
    VacuumRules,
)
from recollect.errors import ValidationFailed, Violation

Path = tuple[str | int, ...]
Lines = Callable[[Path], int | None]


def parse_rules(document: object, lines: Lines) -> RetentionRules:
    """The rules of a parsed document; `lines` returns the line of a field, None if unknown.

    `default_ttl` is required with its three scopes. Any other section or field that is absent has
    the shipped value; but `policies`, if present, replaces the shipped ones. Raises one
    ValidationFailed with every problem: field, line, and what would be right.
    """
    root = _Node((), document, lines, [])
    rules = _rules(root)
    if root.problems:
        told = "; ".join(f"{problem.field}: {problem.message}" for problem in root.problems)
        raise ValidationFailed(told, root.problems)
    return rules


class _Absent:
    """The value of a field that the document does not have (None is a value in YAML)."""


_ABSENT = _Absent()


@dataclass(frozen=True, slots=True)
class _Node:
    """A value of the document with its path. A problem is recorded, and reading goes on with the
    default: all problems are reported at once."""

    path: Path
    value: object
    lines: Lines
    problems: list[Violation]

    @property
    def absent(self) -> bool:
        return self.value is _ABSENT

    def refuse(self, message: str) -> None:
        line = self._line()
        at = f"line {line}: " if line is not None else ""
        name = ".".join(map(str, self.path)) or "document"
        self.problems.append(Violation(name, at + message))

    def _line(self) -> int | None:
        # A missing field has no line: take that of the nearest enclosing one.
        around = (self.path[:end] for end in range(len(self.path), -1, -1))
        return next((line for path in around if (line := self.lines(path)) is not None), None)

    def member(self, name: str) -> "_Node":
        value = self.value.get(name, _ABSENT) if isinstance(self.value, Mapping) else _ABSENT
        return self._inner(name, value)

    def members(self) -> list[tuple[str, "_Node"]]:
        """All fields with a string as name; call `check_mapping` first."""
        names = list(self.value) if isinstance(self.value, Mapping) else []
        return [(name, self.member(name)) for name in names if isinstance(name, str)]

    def _inner(self, step: str | int, value: object) -> "_Node":
        return _Node((*self.path, step), value, self.lines, self.problems)

    def shape(self, known: Collection[str] | None, required: Collection[str] = ()) -> "_Node":
        """Record a problem if this is not a mapping, and for each missing or unknown field (`known`
        None: any name is allowed)."""
        if self.absent:
            return self
        if not isinstance(self.value, Mapping):
            self.refuse("must be a mapping of names to values")
            return self
        for name in self.value:
            if not isinstance(name, str) or not name:
                self._inner(str(name), None).refuse("the name must be a string; put it in quotes")
            elif known is not None and name not in known:
                self._inner(name, None).refuse(f"unknown; must be one of {', '.join(known)}")
        for name in required:
            if name not in self.value:
                self._inner(name, _ABSENT).refuse("is missing and has no default")
        return self

    def whole(self, default: int, *, least: int) -> int:
        if self.absent:
            return default
        if isinstance(self.value, bool) or not isinstance(self.value, int) or self.value < least:
            self.refuse(f"must be a whole number from {least} up")
            return default
        return self.value

    def flag(self, *, default: bool) -> bool:
        if self.absent:
            return default
        if not isinstance(self.value, bool):
            self.refuse("must be true or false")
            return default
        return self.value

    def word(self, words: Collection[str], default: str) -> str:
        if self.absent:
            return default
        if not isinstance(self.value, str) or self.value not in words:
            self.refuse(f"must be one of {', '.join(words)}")
            return default
        return self.value

    def words(self, words: Collection[str], default: Collection[str] = ()) -> frozenset[str]:
        if self.absent:
            return frozenset(default)
        if not isinstance(self.value, list):
            self.refuse(f"must be a list of {', '.join(words)}")
            return frozenset(default)
        items = [self._inner(index, item) for index, item in enumerate(self.value)]
        return frozenset(item.word(words, "") for item in items) - {""}


_SCOPES = tuple(map(str, MemoryScope))
_RISKS = tuple(risk.word for risk in reversed(Risk))
_SECTIONS = ("default_ttl", "policies", "pii", "vacuum", "backup", "audit")


def _rules(root: _Node) -> RetentionRules:
    root.shape(_SECTIONS, required=("default_ttl",))
    pii = root.member("pii").shape(("tags", "retention_rules"))
    return RetentionRules(
        _default_ttl(root.member("default_ttl")),
        _policies(root.member("policies")),
        _tags(pii.member("tags")),
        _risks(pii.member("retention_rules")),
        _vacuum(root.member("vacuum")),
        _backup(root.member("backup")),
        _audit(root.member("audit")),
    )


def _default_ttl(node: _Node) -> Mapping[MemoryScope, int]:
    node.shape(_SCOPES, required=_SCOPES)
    return MappingProxyType({scope: node.member(scope).whole(1, least=1) for scope in MemoryScope})


def _policies(node: _Node) -> Mapping[str, Policy]:
    if node.absent:
        return POLICIES
    members = node.shape(None).members()
    return MappingProxyType({name: _policy(name, member) for name, member in members})


def _policy(name: str, node: _Node) -> Policy:
    ends = node.member("until_run_completes").flag(default=False)
    # A forgotten TTL must not mean "never expires": that takes an explicit null.
    required = ("scopes",) if ends else ("ttl_seconds", "scopes")
    node.shape(("ttl_seconds", "scopes", "until_run_completes"), required)
    ttl = node.member("ttl_seconds")
    seconds = None if ttl.absent or ttl.value is None else ttl.whole(1, least=1)
    return Policy(name, seconds, _policy_scopes(node.member("scopes"), ends=ends), ends)


def _policy_scopes(node: _Node, *, ends: bool) -> frozenset[MemoryScope]:
    scopes = frozenset(map(MemoryScope, node.words(_SCOPES)))
    if node.value == []:
        node.refuse(f"must name at least one scope of {', '.join(_SCOPES)}")
    if ends and scopes - ONLY_SESSION:
        node.refuse("must be [session] alone, because the policy ends with the run")
    return scopes


def _tags(node: _Node) -> Mapping[str, TagRule]:
    members = node.shape(PII_TAGS).members()
    told = {tag: _tag(member, TAG_RULES[tag]) for tag, member in members if tag in TAG_RULES}
    return MappingProxyType({**TAG_RULES, **told})


def _tag(node: _Node, shipped: TagRule) -> TagRule:
    node.shape(("risk", "handling"), required=("risk",))
    risk = node.member("risk").word(_RISKS, shipped.risk.word)
    handling = node.member("handling").words(tuple(Handling), shipped.handling)
    return TagRule(Risk[risk.upper()], frozenset(map(Handling, handling)))


def _risks(node: _Node) -> Mapping[Risk, RiskRule]:
    node.shape(_RISKS)
    rules = {risk: _risk(node.member(risk.word), RISK_RULES[risk]) for risk in RISK_RULES}
    for riskier, tamer in pairwise(rules):
        if rules[riskier].max_ttl_seconds > rules[tamer].max_ttl_seconds:
            # Otherwise one more tag could extend the life of a row.
            most = rules[tamer].max_ttl_seconds
            node.member(riskier.word).refuse(
                f"max_ttl_seconds must be at most {tamer.word}'s {most}"
            )
    return MappingProxyType(rules)


def _risk(node: _Node, shipped: RiskRule) -> RiskRule:
    node.shape(("max_ttl_seconds", "approval", "delete_on_run_completion"))
    return RiskRule(
        node.member("max_ttl_seconds").whole(shipped.max_ttl_seconds, least=1),
        node.member("approval").flag(default=shipped.approval),
        node.member("delete_on_run_completion").flag(default=shipped.delete_on_run_completion),
    )


def _vacuum(node: _Node) -> VacuumRules:
    node.shape(("enabled", "interval_hours", "grace_days", "after_days"))
    after = node.member("after_days").shape(_SCOPES)
    return VacuumRules(
        node.member("enabled").flag(default=True),
        node.member("interval_hours").whole(24, least=1),
        node.member("grace_days").whole(7, least=0),
        MappingProxyType({s: after.member(s).whole(AFTER_DAYS[s], least=0) for s in MemoryScope}),
    )


def _backup(node: _Node) -> BackupRules:
    node.shape(("before_vacuum", "format", "keep_days", "directory"))
    directory = node.member("directory")
    if not (directory.absent or directory.value is None or isinstance(directory.value, str)):
        directory.refuse("must be a directory's path, or null for a place beside the database")
    return BackupRules(
        node.member("before_vacuum").flag(default=True),
        node.member("format").word(("jsonl",), "jsonl"),
        node.member("keep_days").whole(365, least=0),
        directory.value if isinstance(directory.value, str) else None,
    )


def _audit(node: _Node) -> AuditRules:
    node.shape(("log_content", "alerts"))
    log_content = node.member("log_content")
    if log_content.flag(default=False):
        log_content.refuse("must be false: the audit log never holds content")
    alerts = node.member("alerts").shape(("mass_deletion", "pii_access_spike"))
    shipped = AuditRules()
    return AuditRules(
        _alert(alerts.member("mass_deletion"), shipped.mass_deletion, ()),
        _alert(alerts.member("pii_access_spike"), shipped.pii_access_spike, ("tags",)),
    )


def _alert(node: _Node, shipped: Alert, more: tuple[str, ...]) -> Alert:
    node.shape(("count", "window_minutes", *more))
    return Alert(
        node.member("count").whole(shipped.count, least=1),
        node.member("window_minutes").whole(shipped.window_minutes, least=1),
        node.member("tags").words(PII_TAGS, shipped.tags) if more else shipped.tags,
    )
