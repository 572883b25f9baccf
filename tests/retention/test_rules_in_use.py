"""The rules of keeping: what is loaded, what they would do, and a file that can't be used."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect.app.application import build
from recollect.kernel.errors import InvalidInput
from recollect.settings.load import load
from tests.conftest import Host
from tests.support.memory.callers import Callers

CREATED = "2026-01-10T12:00:00Z"
DEFAULTS = "default_ttl: {session: 60, long_term: 120, org: 180}\n"


def previews(callers: Callers, **members: Any) -> tuple[timedelta | None, str, bool]:
    """How long such a memory would live, by which rule, and whether a wish was cut."""
    body = {"scope": "long_term", "created_at": CREATED} | members
    told = callers.person("ann").post("/retention/preview", body=body).expect(200)
    ends = told["expires_at"]
    lives = None if ends is None else datetime.fromisoformat(ends) - datetime.fromisoformat(CREATED)
    return lives, told["expiry_rule"], told["clamped"]


def days(count: int) -> timedelta:
    return timedelta(days=count)


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"scope": "session"}, (timedelta(hours=1), "scope:session", False)),
        ({}, (days(30), "scope:long_term", False)),
        ({"scope": "org"}, (days(90), "scope:org", False)),
        ({"type": "preference"}, (None, "never", False)),
        ({"type": "observation"}, (days(3), "type:observation", False)),
        ({"type": "observation", "ttl_seconds": 86_400}, (days(1), "explicit", False)),
        ({"retention_policy": "permanent"}, (None, "policy:permanent", False)),
        (
            {"retention_policy": "compliance", "pii_tags": ["EMAIL", "phone"]},
            (days(90), "pii:high", True),
        ),
        ({"ttl_seconds": 40 * 86_400, "pii_tags": ["ssn"]}, (days(30), "pii:critical", True)),
    ],
)
def test_a_preview_tells_end_and_rule(
    callers: Callers, members: dict[str, Any], expected: tuple[timedelta | None, str, bool]
) -> None:
    assert previews(callers, **members) == expected


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"scope": "forever"}, "scope"),
        ({"ttl_seconds": 0}, "ttl_seconds"),
        ({"pii_tags": ["email", "shoe_size"]}, "pii_tags[1]"),
        ({"kind": "record"}, "kind"),
        ({"type": "rumour"}, "type"),
        ({"created_at": "yesterday"}, "created_at"),
    ],
)
def test_a_preview_refuses_by_the_name_of_the_member(
    callers: Callers, members: dict[str, Any], field: str
) -> None:
    body = {"scope": "long_term"} | members
    refused = callers.person("ann").post("/retention/preview", body=body)
    (violation,) = refused.refused(422, "validation_error")["violations"]
    assert violation["field"] == field


def test_a_policy_of_another_scope_is_refused_with_the_allowed_ones(callers: Callers) -> None:
    body = {"scope": "session", "retention_policy": "permanent"}
    details = (
        callers.person("ann").post("/retention/preview", body=body).refused(422, "policy_scope")
    )
    assert details["allowed"] == ["dev", "ephemeral"]


def test_anybody_sees_the_loaded_rules(callers: Callers) -> None:
    rules = callers.person("ann").get("/retention/policies").expect(200)
    by_name = {policy["name"]: policy for policy in rules["policies"]}
    assert list(by_name) == ["dev", "production", "compliance", "ephemeral", "permanent"]
    assert by_name["permanent"]["ttl_seconds"] is None
    assert by_name["ephemeral"]["until_run_completes"]
    assert rules["default_ttl"] == {"session": 3600, "long_term": 2_592_000, "org": 7_776_000}
    assert rules["pii"]["tags"]["ssn"]["risk"] == "critical"
    assert rules["pii"]["retention_rules"]["critical"]["approval"]
    assert rules["vacuum"]["after_days"] == {"session": 1, "long_term": 30, "org": 90}
    assert "directory" not in rules["backup"]


def test_rules_of_a_file_are_used(host: Host, tmp_path: Path) -> None:
    policy = "policies: {brief: {ttl_seconds: 7, scopes: [long_term]}}\n"
    file = tmp_path / "rules.yaml"
    file.write_text(DEFAULTS + policy)
    with host(retention__file=str(file)) as world:
        callers = Callers(world)
        assert previews(callers) == (timedelta(seconds=120), "scope:long_term", False)
        assert previews(callers, retention_policy="brief")[0] == timedelta(seconds=7)


@pytest.mark.scenario(28)
def test_a_file_with_an_unknown_tag_stops_the_start_and_names_the_line(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(DEFAULTS + "pii:\n  tags:\n    shoe_size: {risk: low}\n")
    flags = {"retention.file": str(file), "database.url": f"sqlite:///{tmp_path / 'r.db'}"}
    settings = load(flags=flags, environ={}).settings
    with pytest.raises(InvalidInput, match=r"rules\.yaml, line 4: pii\.tags\.shoe_size"):
        build(settings)


def test_a_missing_file_stops_the_start(tmp_path: Path) -> None:
    flags = {
        "retention.file": str(tmp_path / "none.yaml"),
        "database.url": f"sqlite:///{tmp_path / 'r.db'}",
    }
    with pytest.raises(InvalidInput, match="can't be read"):
        build(load(flags=flags, environ={}).settings)


@pytest.mark.parametrize(
    "text",
    [
        "Remember until 2020-01-01 that the lift is broken",
        "Remember for 10000000 hours that the lift is broken",
        "Remember until Friday evening that the lift is broken",
    ],
)
def test_a_term_that_nobody_can_keep_is_told_and_the_text_is_stored_as_sent(
    callers: Callers, text: str
) -> None:
    ann = callers.person("ann")
    body = {"content": text, "space": {"kind": "user"}}
    result = ann.post("/memories", body=body).expect(201)
    assert (result["memory"]["content"], result["memory"]["expires_at"]) == (text, None)
    (warning,) = result["warnings"]
    assert warning["code"] == "term_ignored"
    assert "lift" not in warning["message"]
    again = ann.post("/memories", body=body | {"ttl_seconds": 60}).expect(201)
    assert "term_ignored" not in {one["code"] for one in again["warnings"]}
