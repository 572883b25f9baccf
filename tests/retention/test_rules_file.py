"""The rules of keeping: what ships, what a file may say, and how its faults are told."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.kernel.errors import ValidationFailed
from recollect.kernel.retention_rules import (
    PII_TAGS,
    AuditAlert,
    MemoryScope,
    PiiHandling,
    PiiRisk,
    PiiRiskRule,
    RetentionPolicy,
    RetentionRules,
)
from recollect.retention.rules_file import FieldPath, parse_rules
from tests.support.strategies import json_values

DAY = 86_400
SHIPPED = RetentionRules()
TTL = {"session": 3_600, "long_term": 2_592_000, "org": 7_776_000}
LASTING = ["long_term", "org"]

# The contract's table, spelled out as a file may spell it.
WHOLE: dict[str, Any] = {
    "default_ttl": TTL,
    "policies": {
        "dev": {"ttl_seconds": 3_600, "scopes": ["session", *LASTING]},
        "production": {"ttl_seconds": 2_592_000, "scopes": LASTING},
        "compliance": {"ttl_seconds": 31_536_000, "scopes": LASTING},
        "ephemeral": {"until_run_completes": True, "scopes": ["session"]},
        "permanent": {"ttl_seconds": None, "scopes": LASTING},
    },
    "pii": {
        "tags": {
            tag: {"risk": rule.risk.label, "handling": sorted(rule.handling)}
            for tag, rule in SHIPPED.tags.items()
        },
        "retention_rules": {
            "critical": {
                "max_ttl_seconds": 2_592_000,
                "approval": True,
                "delete_on_run_completion": True,
            },
            "high": {"max_ttl_seconds": 7_776_000},
            "medium": {"max_ttl_seconds": 31_536_000},
            "low": {"max_ttl_seconds": 31_536_000},
        },
    },
    "vacuum": {
        "enabled": True,
        "interval_hours": 24,
        "grace_days": 7,
        "after_days": {"session": 1, "long_term": 30, "org": 90},
    },
    "backup": {"before_vacuum": True, "format": "jsonl", "keep_days": 365, "directory": None},
    "audit": {
        "log_content": False,
        "alerts": {
            "mass_deletion": {"count": 100, "window_minutes": 60},
            "pii_access_spike": {
                "count": 10,
                "window_minutes": 60,
                "tags": ["ssn", "credit_card", "biometric"],
            },
        },
    },
}


def read(document: object, lines: dict[FieldPath, int] | None = None) -> RetentionRules:
    known: dict[FieldPath, int] = lines or {}
    return parse_rules(document, known.get)


def with_member(path: str, value: Any) -> dict[str, Any]:
    """The whole document with one member set."""
    document = deepcopy(WHOLE)
    *above, last = path.split(".")
    place = document
    for name in above:
        place = place.setdefault(name, {})
    place[last] = value
    return document


def faults(document: object, lines: dict[FieldPath, int] | None = None) -> dict[str, str]:
    with pytest.raises(ValidationFailed) as refusal:
        read(document, lines)
    return {violation.field: violation.message for violation in refusal.value.violations}


def test_the_shipped_rules_are_those_of_the_contract() -> None:
    assert read(WHOLE) == SHIPPED


def test_what_a_file_leaves_out_has_the_shipped_value() -> None:
    assert read({"default_ttl": TTL}) == SHIPPED
    rules = read(with_member("pii.retention_rules", {"critical": {"max_ttl_seconds": 60}}))
    assert rules.risks[PiiRisk.CRITICAL] == PiiRiskRule(
        60, approval=True, delete_on_run_completion=True
    )
    assert rules.risks[PiiRisk.HIGH] == SHIPPED.risks[PiiRisk.HIGH]


@pytest.mark.parametrize(
    ("risk", "days", "tags"),
    [
        (PiiRisk.CRITICAL, 30, ["ssn", "credit_card", "biometric", "health"]),
        (PiiRisk.HIGH, 90, ["email", "phone", "address", "financial"]),
        (PiiRisk.MEDIUM, 365, ["name"]),
        (PiiRisk.LOW, 365, ["ip_address"]),
    ],
)
def test_each_tag_has_its_risk_and_each_risk_its_cap(
    risk: PiiRisk, days: int, tags: list[str]
) -> None:
    assert {SHIPPED.highest_risk([tag]) for tag in tags} == {risk}
    assert SHIPPED.risks[risk].max_ttl_seconds == days * DAY


def test_there_are_ten_tags() -> None:
    assert len(PII_TAGS) == len(SHIPPED.tags) == 10


def test_the_riskiest_tag_counts() -> None:
    assert SHIPPED.highest_risk([]) is None
    assert SHIPPED.highest_risk(["ip_address", "email", "name"]) is PiiRisk.HIGH
    assert SHIPPED.highest_risk(["email", "ssn"]) is PiiRisk.CRITICAL


@pytest.mark.parametrize(
    ("scope", "names"),
    [
        ("session", ["dev", "ephemeral"]),
        ("long_term", ["dev", "production", "compliance", "permanent"]),
        ("org", ["dev", "production", "compliance", "permanent"]),
    ],
)
def test_a_scope_allows_its_policies_and_an_other_is_answered_with_them(
    scope: str, names: list[str]
) -> None:
    of = MemoryScope(scope)
    assert list(SHIPPED.allowed_policies(of)) == names
    assert [SHIPPED.require_policy(name, of).name for name in names] == names
    for other in {*SHIPPED.policies, "unheard-of", ""} - set(names):
        with pytest.raises(ValidationFailed) as refusal:
            SHIPPED.require_policy(other, of)
        assert refusal.value.code == "policy_scope"
        assert refusal.value.details is not None
        assert refusal.value.details["allowed"] == names
        assert "unheard-of" not in refusal.value.message


def test_only_critical_data_is_extended_by_approval() -> None:
    assert SHIPPED.needs_approval(["email", "health"])
    assert not SHIPPED.needs_approval(["email", "name"])
    assert not SHIPPED.needs_approval([])


def test_ephemeral_rows_and_critical_data_go_with_their_run() -> None:
    ephemeral, dev = SHIPPED.policies["ephemeral"], SHIPPED.policies["dev"]
    assert SHIPPED.is_deleted_with_run(ephemeral, [])
    assert SHIPPED.is_deleted_with_run(None, ["ssn"])
    assert SHIPPED.is_deleted_with_run(dev, ["credit_card", "name"])
    assert not SHIPPED.is_deleted_with_run(dev, ["email"])
    assert not SHIPPED.is_deleted_with_run(None, [])


def test_grace_is_a_week_and_none_for_critical_data() -> None:
    assert SHIPPED.grace_days([]) == SHIPPED.grace_days(["email"]) == 7
    assert SHIPPED.grace_days(["email", "ssn"]) == 0


def test_a_file_may_say_otherwise() -> None:
    assert read(with_member("default_ttl.org", 5)).default_ttl_seconds[MemoryScope.ORG] == 5
    own = {"week": {"ttl_seconds": 7 * DAY, "scopes": ["org"]}}
    rules = read(with_member("policies", own))
    assert dict(rules.policies) == {
        "week": RetentionPolicy("week", 7 * DAY, frozenset({MemoryScope.ORG}))
    }
    assert rules.allowed_policies(MemoryScope.SESSION) == ()
    rules = read(with_member("pii.tags", {"name": {"risk": "high", "handling": ["consent"]}}))
    assert rules.highest_risk(["name"]) is PiiRisk.HIGH
    assert rules.tags["name"].handling == {PiiHandling.CONSENT}
    assert rules.tags["email"] == SHIPPED.tags["email"]
    assert read(with_member("backup.directory", "/backups")).backup.directory == "/backups"
    assert not read(with_member("vacuum.enabled", False)).vacuum.enabled
    rules = read(with_member("audit.alerts", {"pii_access_spike": {"tags": ["health"]}}))
    assert rules.audit.pii_access_spike == AuditAlert(10, 60, frozenset({"health"}))
    assert rules.audit.mass_deletion == AuditAlert(100, 60)


WRONG = [
    ("retention", {}, "default_ttl, policies, pii, vacuum, backup, audit"),
    ("default_ttl.sesion", 1, "session, long_term, org"),
    ("policies.dev.ttl", 1, "ttl_seconds, scopes, until_run_completes"),
    ("pii.tag", {}, "tags, retention_rules"),
    ("pii.tags.email.risks", "high", "risk, handling"),
    ("pii.retention_rules.severe", {}, "critical, high, medium, low"),
    ("pii.retention_rules.high.ttl", 1, "max_ttl_seconds"),
    ("vacuum.grace", 1, "grace_days"),
    ("vacuum.after_days.user", 1, "session, long_term, org"),
    ("backup.path", "x", "directory"),
    ("audit.alerts.noise", {}, "mass_deletion, pii_access_spike"),
    ("audit.alerts.mass_deletion.tags", [], "count, window_minutes"),
    ("pii.tags.emial", {"risk": "high"}, "email"),
    ("pii.tags.email.risk", "extreme", "critical, high, medium, low"),
    ("pii.tags.email.risk", 3, "critical, high, medium, low"),
    ("backup.format", "csv", "jsonl"),
    ("default_ttl.session", -1, "whole number from 1"),
    ("default_ttl.session", 0, "whole number from 1"),
    ("default_ttl.session", True, "whole number from 1"),
    ("default_ttl.session", 3600.0, "whole number from 1"),
    ("default_ttl.session", "3600", "whole number from 1"),
    ("default_ttl.session", None, "whole number from 1"),
    ("policies.dev.ttl_seconds", -5, "whole number from 1"),
    ("pii.retention_rules.high.max_ttl_seconds", -1, "whole number from 1"),
    ("pii.retention_rules.high.max_ttl_seconds", None, "whole number from 1"),
    ("vacuum.interval_hours", 0, "whole number from 1"),
    ("vacuum.grace_days", -1, "whole number from 0"),
    ("vacuum.after_days.session", -1, "whole number from 0"),
    ("backup.keep_days", -1, "whole number from 0"),
    ("audit.alerts.mass_deletion.count", 0, "whole number from 1"),
    ("policies.dev.scopes", [], "session, long_term, org"),
    ("policies.dev.scopes", None, "list of session, long_term, org"),
    ("policies.dev.scopes", "session", "list of session, long_term, org"),
    ("policies.ephemeral.scopes", ["session", "org"], "[session] alone"),
    ("default_ttl", 3600, "mapping"),
    ("policies", None, "mapping"),
    ("policies", ["dev"], "mapping"),
    ("policies.dev", None, "mapping"),
    ("pii.tags.email", "high", "mapping"),
    ("audit", "loud", "mapping"),
    ("vacuum.enabled", "yes", "true or false"),
    ("policies.dev.until_run_completes", 1, "true or false"),
    ("backup.directory", 5, "path"),
    ("audit.log_content", True, "must be false"),
]


@pytest.mark.parametrize(("path", "value", "right"), WRONG)
def test_a_fault_is_told_with_its_member_line_and_what_would_be_right(
    path: str, value: Any, right: str
) -> None:
    told = faults(with_member(path, value), {tuple(path.split(".")): 42})
    assert list(told) == [path]
    assert told[path].startswith("line 42: ")
    assert right in told[path]


@pytest.mark.parametrize(
    ("path", "value", "item"),
    [
        ("policies.dev.scopes", ["session", "team"], "policies.dev.scopes.1"),
        ("pii.tags.email.handling", ["encrypt", "shred"], "pii.tags.email.handling.1"),
        ("pii.tags.email.handling", [None], "pii.tags.email.handling.0"),
        ("audit.alerts.pii_access_spike.tags", ["emial"], "audit.alerts.pii_access_spike.tags.0"),
    ],
)
def test_a_wrong_item_of_a_list_is_named(path: str, value: list[Any], item: str) -> None:
    assert list(faults(with_member(path, value))) == [item]


@pytest.mark.parametrize("scope", MemoryScope)
def test_a_missing_default_stops_the_start(scope: str) -> None:
    document = deepcopy(WHOLE)
    del document["default_ttl"][scope]
    told = faults(document, {("default_ttl",): 3})
    assert told == {f"default_ttl.{scope}": "line 3: is missing and has no default"}


def test_a_file_without_defaults_stops_the_start() -> None:
    assert list(faults({})) == ["default_ttl"]


@pytest.mark.parametrize("document", [None, "text", 5, [], [WHOLE]], ids=type)
def test_a_file_that_is_no_mapping_stops_the_start(document: object) -> None:
    assert "mapping" in faults(document)["document"]


@pytest.mark.parametrize(
    ("policy", "missing"),
    [
        ({"ttl_seconds": 1}, "policies.mine.scopes"),
        ({"scopes": ["org"]}, "policies.mine.ttl_seconds"),
    ],
)
def test_a_policy_says_its_term_and_its_scopes(policy: dict[str, Any], missing: str) -> None:
    told = faults(with_member("policies.mine", policy), {("policies", "mine"): 8})
    assert told == {missing: "line 8: is missing and has no default"}


def test_a_tag_says_its_risk() -> None:
    assert list(faults(with_member("pii.tags.email", {}))) == ["pii.tags.email.risk"]


@pytest.mark.parametrize("name", [1, None, True, ""])
def test_names_are_texts(name: object) -> None:
    told = faults(with_member("policies", {name: {"ttl_seconds": 1, "scopes": ["org"]}}))
    assert "must be a string" in told[f"policies.{name}"]


def test_a_riskier_kind_may_not_live_longer() -> None:
    told = faults(with_member("pii.retention_rules.critical.max_ttl_seconds", 91 * DAY))
    assert "7776000" in told["pii.retention_rules.critical"]


def test_an_unknown_tag_is_told_with_its_line_and_the_ten() -> None:
    document = with_member("pii.tags.passport", {"risk": "high"})
    told = faults(document, {("pii", "tags", "passport"): 17})["pii.tags.passport"]
    assert told.startswith("line 17: ")
    assert all(tag in told for tag in PII_TAGS)


def test_all_faults_are_told_at_once_in_one_message() -> None:
    document = with_member("vacuum.grace_days", -1) | {"defaults": {}}
    with pytest.raises(ValidationFailed) as refusal:
        read(document, {("defaults",): 1, ("vacuum", "grace_days"): 9})
    assert "defaults: line 1: unknown" in refusal.value.message
    assert "vacuum.grace_days: line 9: must be" in refusal.value.message


@given(json_values, st.sampled_from([path for path, _, _ in WRONG]))
def test_any_value_anywhere_is_rules_or_a_told_fault(value: Any, path: str) -> None:
    try:
        rules = read(with_member(path, value))
    except ValidationFailed:
        return
    assert set(rules.default_ttl_seconds) == set(MemoryScope)
    assert set(rules.tags) == set(PII_TAGS)
    assert all(policy.scopes for policy in rules.policies.values())


@given(json_values)
def test_any_document_is_rules_or_a_told_fault(document: Any) -> None:
    assert faults(document)
