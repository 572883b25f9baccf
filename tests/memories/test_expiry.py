"""When a memory ends: what was asked, its policy, its type, its scope."""

from datetime import timedelta, timezone
from typing import Any

import pytest

from recollect.kernel.errors import ValidationFailed
from recollect.kernel.retention_rules import TTL_SECONDS_MAX, MemoryScope, RetentionProfile
from recollect.memories.expiry import FOREVER, Expiry, explicit_expiry
from recollect.memories.model import MemoryKind, MemoryType
from tests.memories.expiry_cases import DAY, HOUR, NOW, TICK, a_life, a_record, ends


@pytest.mark.parametrize("type_", ["preference", "identity", "relationship", "knowledge"])
def test_lasting_types_never_end(type_: str) -> None:
    assert ends(a_life(type=MemoryType(type_))) == Expiry(None, "never")


@pytest.mark.parametrize(
    ("type_", "days"), [("context", 7), ("event", 30), ("task", 14), ("observation", 3)]
)
def test_passing_types_end_after_their_days_from_when_they_were_observed(
    type_: str, days: int
) -> None:
    observed = NOW - HOUR
    life = a_life(type=MemoryType(type_), observed_at=observed)
    assert ends(life) == Expiry(observed + days * DAY, f"type:{type_}")


@pytest.mark.parametrize(
    ("scope", "term"),
    [("session", HOUR), ("long_term", 30 * DAY), ("org", 90 * DAY)],
)
def test_a_record_without_ttl_ends_after_the_default_of_its_scope_from_creation(
    scope: str, term: timedelta
) -> None:
    life = a_record(scope=MemoryScope(scope), observed_at=NOW - 100 * DAY)
    assert ends(life) == Expiry(NOW + term, f"scope:{scope}")


@pytest.mark.parametrize("kind", MemoryKind)
@pytest.mark.parametrize("type_", MemoryType)
@pytest.mark.parametrize("profile", RetentionProfile)
def test_every_row_of_a_run_ends_after_an_hour(
    kind: MemoryKind, type_: MemoryType, profile: RetentionProfile
) -> None:
    life = a_life(scope=MemoryScope.SESSION, kind=kind, type=type_, observed_at=NOW - DAY)
    assert ends(life, profile=profile) == Expiry(NOW + HOUR, "scope:session")


@pytest.mark.parametrize("scope", [MemoryScope.LONG_TERM, MemoryScope.ORG])
def test_the_profile_none_switches_the_defaults_of_lasting_records_off(scope: MemoryScope) -> None:
    assert ends(a_record(scope=scope), profile=RetentionProfile.NONE) == Expiry(None, "never")


def test_a_statement_has_no_default_of_its_scope() -> None:
    assert ends(a_life(scope=MemoryScope.ORG)).expires_at is None


def test_a_records_type_comes_before_its_scope() -> None:
    life = a_record(type=MemoryType.OBSERVATION)
    assert ends(life) == Expiry(NOW + 3 * DAY, "type:observation")


@pytest.mark.parametrize(
    ("policy", "scope", "term"),
    [
        ("dev", "session", HOUR),
        ("dev", "org", HOUR),
        ("production", "long_term", 30 * DAY),
        ("compliance", "org", 365 * DAY),
        ("ephemeral", "session", HOUR),
    ],
)
@pytest.mark.parametrize("type_", ["preference", "observation"])
def test_a_named_policy_comes_before_type_and_scope_and_counts_from_creation(
    policy: str, scope: str, term: timedelta, type_: str
) -> None:
    life = a_record(
        policy=policy, scope=MemoryScope(scope), type=MemoryType(type_), observed_at=NOW - DAY
    )
    assert ends(life) == Expiry(NOW + term, f"policy:{policy}")


@pytest.mark.parametrize("type_", MemoryType)
def test_permanent_is_for_ever_whatever_the_type(type_: MemoryType) -> None:
    assert ends(a_record(policy="permanent", type=type_)) == Expiry(None, "policy:permanent")


@pytest.mark.parametrize("days", [1, 30])
@pytest.mark.parametrize("type_", MemoryType)
def test_an_explicit_expiry_replaces_type_decay_shorter_or_longer(
    type_: MemoryType, days: int
) -> None:
    at = explicit_expiry(days * 86_400, None, counted_from=NOW)
    life = a_life(type=type_, observed_at=NOW - DAY, explicit_expires_at=at)
    assert ends(life) == Expiry(NOW + days * DAY, "explicit")


def test_for_two_weeks_lasts_exactly_fourteen_days() -> None:
    at = explicit_expiry(14 * 86_400, None, counted_from=NOW)
    life = a_life(type=MemoryType.OBSERVATION, explicit_expires_at=at)
    assert ends(life).expires_at == NOW + timedelta(days=14)


def test_an_explicit_term_in_a_change_counts_from_the_change() -> None:
    changed = NOW + 10 * DAY
    at = explicit_expiry(5 * 86_400, None, counted_from=changed)
    assert ends(a_life(explicit_expires_at=at)).expires_at == NOW + 15 * DAY


def test_an_explicit_instant_is_taken_as_it_is() -> None:
    wish = (NOW + DAY).astimezone(timezone(timedelta(hours=9, minutes=30)))
    assert explicit_expiry(None, wish, counted_from=NOW) == NOW + DAY
    assert explicit_expiry(None, wish.replace(tzinfo=None), counted_from=NOW) == NOW + (
        DAY + timedelta(hours=9, minutes=30)
    )
    assert explicit_expiry(None, None, counted_from=NOW) is None
    assert explicit_expiry(None, NOW + TICK, counted_from=NOW) == NOW + TICK


@pytest.mark.parametrize("ttl", [0, -1, True, 1.5, "60"])
def test_a_term_is_a_whole_number_of_seconds_above_zero(ttl: Any) -> None:
    with pytest.raises(ValidationFailed, match="ttl_seconds"):
        explicit_expiry(ttl, None, counted_from=NOW)


@pytest.mark.parametrize("offset", [0, 5, -11])
@pytest.mark.parametrize("ago", [timedelta(0), TICK, DAY])
def test_an_expiry_that_is_past_is_refused(ago: timedelta, offset: int) -> None:
    past = (NOW - ago).astimezone(timezone(timedelta(hours=offset)))
    with pytest.raises(ValidationFailed, match="expires_at: must lie in the future"):
        explicit_expiry(None, past, counted_from=NOW)


def test_a_term_and_an_instant_at_once_are_refused() -> None:
    with pytest.raises(ValidationFailed, match="not both"):
        explicit_expiry(1, NOW + DAY, counted_from=NOW)


@pytest.mark.parametrize("seconds", [TTL_SECONDS_MAX + 1, 10**11, 10**15, 10**40])
def test_a_term_of_more_than_a_thousand_years_is_refused(seconds: int) -> None:
    with pytest.raises(ValidationFailed, match=f"ttl_seconds: .* from 1 to {TTL_SECONDS_MAX}"):
        explicit_expiry(seconds, None, counted_from=NOW)


def test_a_thousand_years_are_a_term() -> None:
    at = explicit_expiry(TTL_SECONDS_MAX, None, counted_from=NOW)
    assert at == NOW + 365_000 * DAY
    assert ends(a_life(explicit_expires_at=FOREVER)) == Expiry(FOREVER, "explicit")
