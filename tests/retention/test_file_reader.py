"""The retention file: what ships, and how a mistake in a file of one's own is told."""

from dataclasses import fields
from importlib.resources import files
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.kernel.retention_rules import (
    AuditRules,
    BackupRules,
    MemoryScope,
    PiiRisk,
    PiiRiskRule,
    RetentionPolicy,
    RetentionRules,
    VacuumRules,
)
from recollect.retention.file.plain_yaml import read_yaml
from recollect.retention.file.reader import RetentionFileError, load_rules

SHIPPED = files("recollect.retention.file").joinpath("retention_policy.yaml").read_text()
# Four lines, so that a mistake after them begins in line 5.
TTL = "default_ttl:\n  session: 60\n  long_term: 70\n  org: 80\n"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return tmp_path / "own.yaml"


def fault(path: Path, text: str | bytes) -> str:
    """What is told of a file with this text, from the line on."""
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(RetentionFileError) as refusal:
        load_rules(path)
    told = str(refusal.value)
    assert told.startswith(f"{path}, line ")
    return told.removeprefix(f"{path}, ")


def test_the_packaged_file_holds_the_defaults() -> None:
    assert load_rules(None) == RetentionRules()


def test_the_packaged_file_spells_every_default_out() -> None:
    spelled = {".".join(map(str, place)) for place in read_yaml(SHIPPED).lines}
    rules = RetentionRules()
    assert spelled >= {f"policies.{name}.scopes" for name in rules.policies}
    assert spelled >= {f"pii.tags.{tag}.handling" for tag in rules.tags}
    for rule in fields(PiiRiskRule):
        assert spelled >= {f"pii.retention_rules.{risk.label}.{rule.name}" for risk in PiiRisk}
    assert spelled >= {f"vacuum.{member.name}" for member in fields(VacuumRules)}
    assert spelled >= {f"vacuum.after_days.{scope}" for scope in MemoryScope}
    assert spelled >= {f"backup.{member.name}" for member in fields(BackupRules)}
    assert spelled >= {f"audit.alerts.{alert.name}.count" for alert in fields(AuditRules)}
    assert spelled >= {f"audit.alerts.{alert.name}.window_minutes" for alert in fields(AuditRules)}
    assert spelled >= {"audit.log_content", "audit.alerts.pii_access_spike.tags"}


@pytest.mark.parametrize("builder", [SdistBuilder, WheelBuilder])
def test_the_packaged_file_is_in_what_is_released(
    builder: type[SdistBuilder] | type[WheelBuilder],
) -> None:
    released = builder(str(Path(__file__).parents[2])).recurse_included_files()
    inside = "recollect/retention/file/retention_policy.yaml"
    assert [file for file in released if file.distribution_path.endswith(inside)]


def test_a_file_of_one_s_own_is_followed(own: Path) -> None:
    own.write_text(f"{TTL}policies:\n  week: {{ttl_seconds: 604800, scopes: [org]}}\n")
    rules = load_rules(own)
    assert list(rules.default_ttl_seconds.values()) == [60, 70, 80]
    assert dict(rules.policies) == {
        "week": RetentionPolicy("week", 604_800, frozenset({MemoryScope.ORG}))
    }
    assert rules.vacuum == RetentionRules().vacuum


def test_scalars_are_what_they_look_like(own: Path) -> None:
    own.write_text(
        f"{TTL}policies:\n"
        "  'no': {ttl_seconds: ~, scopes: [org]}\n"
        "  on: {ttl_seconds: , scopes: [org]}\n"
        "  2026-01-01: {ttl_seconds: +7, scopes: ['org']}\n"
        "vacuum: {enabled: False}\n"
        'backup: {directory: "/srv/\\u00e9"}\n'
    )
    rules = load_rules(own)
    terms = {name: policy.ttl_seconds for name, policy in rules.policies.items()}
    assert terms == {"no": None, "on": None, "2026-01-01": 7}
    assert not rules.vacuum.enabled
    assert rules.backup.directory == "/srv/é"


@pytest.mark.parametrize(
    ("text", "line", "right"),
    [
        ("retention: {}\n", 5, "retention: unknown; must be one of default_ttl, policies"),
        ("pii:\n  tags:\n    passport: {risk: high}\n", 7, "pii.tags.passport: unknown; must be"),
        ("vacuum:\n  enabled: true\n  grace_days: -1\n", 7, "must be a whole number from 0 up"),
        ("policies:\n  own:\n    ttl_seconds: 5\n", 6, "policies.own.scopes: is missing"),
        ("policies:\n  own:\n    ttl_seconds: 5\n    scopes: []\n", 8, "at least one scope"),
        ("policies:\n  own: {ttl_seconds: 5, scopes:\n    [org,\n    team]}\n", 8, "session, long"),
        ("audit:\n\n  log_content: true\n", 7, "audit.log_content: must be false"),
        ("vacuum:\n  enabled: yes\n", 6, "must be true or false"),
        ("vacuum:\n  grace_days: 010\n", 6, "must be a whole number"),
        ("vacuum:\n  grace_days: 1:30\n", 6, "must be a whole number"),
        ("vacuum:\n  grace_days: '7'\n", 6, "must be a whole number"),
        ("policies:\n  5: {ttl_seconds: 5, scopes: [org]}\n", 6, "policies.5: the name must be"),
    ],
)
def test_a_wrong_member_is_told_with_file_line_and_what_would_be_right(
    own: Path, text: str, line: int, right: str
) -> None:
    told = fault(own, TTL + text)
    assert told.startswith(f"line {line}: ")
    assert right in told


@pytest.mark.parametrize("scope", ["session", "long_term", "org"])
def test_a_missing_default_is_told_with_the_line_of_its_section(own: Path, scope: str) -> None:
    kept = [line for line in TTL.splitlines() if scope not in line]
    told = fault(own, "\n".join(["# mine", *kept]))
    assert told == f"line 2: default_ttl.{scope}: is missing and has no default"


def test_every_wrong_member_is_told_at_once(own: Path) -> None:
    told = fault(own, f"{TTL}vacuum:\n  grace_days: -1\npurge: 1\n")
    assert "line 7: purge: " in told
    assert f"{own}, line 6: vacuum.grace_days: " in told


@pytest.mark.parametrize(
    ("text", "line", "right"),
    [
        ("policies: [dev\nvacuum: {}\n", 6, "must be one YAML document"),
        ("\tvacuum: {}\n", 5, "must be one YAML document"),
        ("vacuum\n", 6, "(line 5), could not find expected ':'"),
        ("---\nvacuum: {}\n", 5, "expected a single document"),
        ("vacuum: {}\npii: {}\nvacuum: {}\n", 7, "vacuum is defined in line 5 already"),
        ("vacuum:\n  enabled: true\n  enabled: true\n", 7, "vacuum.enabled is defined in line 6"),
        ("5: a\n'5': b\n", 6, "5 is defined in line 5 already"),
        ("? [vacuum]\n: 5\n", 5, "a field name must be a string"),
        ("a: &a [x]\nb: *a\n", 6, "must not refer to an anchor"),
        ("a: &a\n  b: *a\n", 6, "must not refer to an anchor"),
        ("a: !!python/name:os.system\n", 5, "must not have a YAML tag"),
        ("a: !!int '5'\n", 5, "must not have a YAML tag"),
        ("a: 1000000000000000000\n", 5, "at most 18 digits"),
        (f"a: {'9' * 5_000}\n", 5, "at most 18 digits"),
        ("a: \x07\n", 5, "must be printable text"),
        ('a:\n  "\\UFFFFFFFF"\n', 6, "too large"),
        (f"a:\n  {'[' * 5_000}\n", 6, "at most 20 deep"),
        (f"a:\n  {'- ' * 5_000}\n", 6, "at most 20 deep"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_no_plain_yaml_is_told_with_its_line(
    own: Path, text: str, line: int, right: str
) -> None:
    told = fault(own, TTL + text)
    assert told.startswith(f"line {line}: ")
    assert right in told


def test_a_file_that_is_no_utf_8_is_told_with_its_line(own: Path) -> None:
    assert fault(own, f"{TTL}# é".encode("latin-1")) == "line 5: must be text in UTF-8"


@pytest.mark.parametrize("text", ["", "# nothing\n", "5\n", "[]\n"])
def test_a_file_without_members_is_told(own: Path, text: str) -> None:
    assert fault(own, text).startswith("line 1: document: must be a mapping")


def test_a_few_lines_that_would_fill_the_memory_are_refused(own: Path) -> None:
    layers = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 30)]
    assert fault(own, "\n".join(["l0: &l0 [x]", *layers])).startswith("line 2: ")


def test_a_file_that_can_t_be_read_is_told_with_the_setting(tmp_path: Path) -> None:
    for path in (tmp_path / "gone.yaml", tmp_path):
        with pytest.raises(RetentionFileError) as refusal:
            load_rules(path)
        assert str(refusal.value).startswith(f"{path}: can't be read (")
        assert "retention.file must name a readable file" in str(refusal.value)


@given(
    st.lists(
        st.sampled_from([*SHIPPED.splitlines()[8:40], *"?-:[]{}&*!|>'\"%@`#\t\\", "1: 2", "  x"])
        | st.text(max_size=8),
        max_size=8,
    ),
    st.integers(0, 12),
)
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_rules_or_a_told_fault(own: Path, lines: list[str], at: int) -> None:
    whole = SHIPPED.splitlines()[8:24]
    own.write_text("\n".join([*whole[:at], *lines, *whole[at:]]), encoding="utf-8")
    try:
        rules = load_rules(own)
    except RetentionFileError:
        return
    assert set(rules.default_ttl_seconds) == set(MemoryScope)
