"""When a memory ends. Each sentence of the contract's "Expiry", and who may let it live longer."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recollect.domain.expiry import (
    FOREVER,
    Approval,
    ApprovalStatus,
    Expiry,
    Life,
    Profile,
    approval_deadline,
    decided,
    expiry,
    explicit_expiry,
    extension_needed,
    is_due,
    is_stale,
    lowered,
    renewed,
    status_at,
    still_approved,
)
from recollect.domain.memories import Kind, Memory, MemoryId, MemoryType, Status
from recollect.domain.retention import PII_TAGS, MemoryScope, RetentionRules, Risk
from recollect.domain.spaces import Space, SpaceKind
from recollect.errors import Conflict, Forbidden, ValidationFailed

NOW = datetime(2026, 3, 1, 12, 0, 0, 123_456, tzinfo=UTC)
RULES = RetentionRules()
DAY = timedelta(seconds=86_400)
HOUR = timedelta(hours=1)
TICK = timedelta(microseconds=1)
SCOPES = list(MemoryScope)


def a_life(*, policy: str | None = None, **changes: Any) -> Life:
    """A statement of knowledge, created and observed now, in a lasting space."""
    given: dict[str, Any] = {
        "scope": MemoryScope.LONG_TERM,
        "kind": Kind.STATEMENT,
        "type": MemoryType.KNOWLEDGE,
        "created_at": NOW,
        "observed_at": NOW,
        "policy": None if policy is None else RULES.policies[policy],
    }
    return Life(**given | changes)


def a_record(**changes: Any) -> Life:
    return a_life(kind=Kind.RECORD, **changes)


def ends(life: Life, **options: Any) -> Expiry:
    return expiry(life, RULES, **options)


class SummerTime(tzinfo):
    """A zone whose clocks go forward an hour on 29 March 2026, and back on 25 October."""

    def utcoffset(self, at: datetime | None) -> timedelta:
        assert at is not None
        wall = at.replace(tzinfo=None)
        starts = NOW.replace(tzinfo=None, month=3, day=29, hour=1)
        return HOUR if starts <= wall < starts.replace(month=10, day=25) else timedelta(0)

    def dst(self, at: datetime | None) -> timedelta:
        return self.utcoffset(at)

    def tzname(self, at: datetime | None) -> str:
        return "summer"


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


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("type_", MemoryType)
@pytest.mark.parametrize("profile", Profile)
def test_every_row_of_a_run_ends_after_an_hour(
    kind: Kind, type_: MemoryType, profile: Profile
) -> None:
    life = a_life(scope=MemoryScope.SESSION, kind=kind, type=type_, observed_at=NOW - DAY)
    assert ends(life, profile=profile) == Expiry(NOW + HOUR, "scope:session")


@pytest.mark.parametrize("scope", [MemoryScope.LONG_TERM, MemoryScope.ORG])
def test_the_profile_none_switches_the_defaults_of_lasting_records_off(scope: MemoryScope) -> None:
    assert ends(a_record(scope=scope), profile=Profile.NONE) == Expiry(None, "never")


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


@pytest.mark.parametrize("seconds", [10**11, 10**12, 10**15, 10**40])
def test_a_term_beyond_the_calendar_ends_with_it(seconds: int) -> None:
    at = explicit_expiry(seconds * 10, None, counted_from=NOW)
    assert at == FOREVER
    assert ends(a_life(explicit_expires_at=at)) == Expiry(FOREVER, "explicit")


def test_email_and_phone_under_compliance_end_after_90_days_and_say_so() -> None:
    life = a_record(policy="compliance", pii_tags=("email", "phone"))
    assert ends(life) == Expiry(
        NOW + 90 * DAY, "pii:high", requested_expires_at=NOW + 365 * DAY, clamped=True
    )


@pytest.mark.parametrize("kind", Kind)
def test_an_ssn_ends_after_thirty_days(kind: Kind) -> None:
    assert ends(a_life(kind=kind, pii_tags=("ssn",))).expires_at == NOW + 30 * DAY


@pytest.mark.parametrize(
    ("tags", "days", "risk"),
    [
        (("ssn",), 30, "critical"),
        (("email", "credit_card"), 30, "critical"),
        (("address", "name"), 90, "high"),
        (("name",), 365, "medium"),
        (("ip_address",), 365, "low"),
        (("ip_address", "name"), 365, "medium"),
    ],
)
def test_the_riskiest_tag_caps_what_would_never_end(
    tags: tuple[str, ...], days: int, risk: str
) -> None:
    assert ends(a_life(pii_tags=tags)) == Expiry(NOW + days * DAY, f"pii:{risk}")


def test_a_cap_counts_from_creation_whenever_things_were_observed_or_asked() -> None:
    late = a_life(type=MemoryType.EVENT, observed_at=NOW + 40 * DAY, pii_tags=("ssn",))
    assert ends(late).expires_at == NOW + 30 * DAY
    asked = explicit_expiry(20 * 86_400, None, counted_from=NOW + 20 * DAY)
    assert ends(a_life(explicit_expires_at=asked, pii_tags=("ssn",))) == Expiry(
        NOW + 30 * DAY, "pii:critical", requested_expires_at=NOW + 40 * DAY, clamped=True
    )


def test_permanent_is_clamped_and_what_was_asked_has_no_instant() -> None:
    life = a_record(policy="permanent", pii_tags=("email",))
    assert ends(life) == Expiry(NOW + 90 * DAY, "pii:high", None, clamped=True)


def test_a_shortened_default_is_no_clamped_wish() -> None:
    assert not ends(a_life(pii_tags=("email",))).clamped
    assert not ends(a_record(scope=MemoryScope.ORG, pii_tags=("ssn",))).clamped


def test_the_named_policys_term_is_a_ceiling_for_an_explicit_wish() -> None:
    wish = NOW + 60 * DAY
    assert ends(a_record(policy="production", explicit_expires_at=wish)) == Expiry(
        NOW + 30 * DAY, "policy:production", requested_expires_at=wish, clamped=True
    )
    assert ends(a_record(policy="compliance", explicit_expires_at=wish)) == Expiry(wish, "explicit")
    assert ends(a_record(policy="permanent", explicit_expires_at=wish)) == Expiry(wish, "explicit")


def test_ephemeral_never_outlives_the_default_of_a_session() -> None:
    session = {"scope": MemoryScope.SESSION, "policy": "ephemeral"}
    wish = NOW + 2 * HOUR
    assert ends(a_record(explicit_expires_at=wish, **session)) == Expiry(
        NOW + HOUR, "policy:ephemeral", requested_expires_at=wish, clamped=True
    )
    soon = NOW + HOUR / 2
    assert ends(a_record(explicit_expires_at=soon, **session)) == Expiry(soon, "explicit")


def test_ephemeral_follows_the_file_of_the_server() -> None:
    short = replace(RULES, default_ttl_seconds={**RULES.default_ttl_seconds, SCOPES[0]: 60})
    life = a_record(scope=MemoryScope.SESSION, policy="ephemeral")
    assert expiry(life, short).expires_at == NOW + timedelta(seconds=60)


def test_without_a_policy_an_explicit_wish_may_outlive_a_session() -> None:
    life = a_record(scope=MemoryScope.SESSION, explicit_expires_at=NOW + DAY)
    assert ends(life) == Expiry(NOW + DAY, "explicit")


def test_a_wish_that_is_just_met_is_not_clamped() -> None:
    wish = NOW + 90 * DAY
    life = a_life(explicit_expires_at=wish, pii_tags=("email",))
    assert ends(life) == Expiry(wish, "explicit")
    longer = ends(replace(life, explicit_expires_at=wish + TICK))
    assert (longer.expires_at, longer.rule, longer.clamped) == (wish, "pii:high", True)


def test_a_tag_added_later_applies_its_cap_at_once() -> None:
    memory = Memory(
        id=MemoryId("m"),
        kind=Kind.RECORD,
        content="c",
        space=Space(SpaceKind.AGENT_PRIVATE, "a"),
        created_at=NOW,
        updated_at=NOW,
        observed_at=NOW,
        retention_policy="compliance",
    )
    policy = RULES.policy("compliance", memory.space.scope)
    assert ends(Life.of(memory, policy)).expires_at == NOW + 365 * DAY
    tagged = replace(memory, pii_tags=("health",), updated_at=NOW + 100 * DAY)
    assert ends(Life.of(tagged, policy)).expires_at == NOW + 30 * DAY


def test_an_observation_is_shown_to_the_last_microsecond_and_then_hidden() -> None:
    at = ends(a_life(type=MemoryType.OBSERVATION)).expires_at
    assert not is_due(NOW + timedelta(seconds=259_199), at)
    assert not is_due(NOW + timedelta(seconds=259_199, microseconds=999_999), at)
    assert is_due(NOW + timedelta(seconds=259_200), at)
    assert is_due(NOW + timedelta(seconds=259_201), at)


def test_what_never_ends_is_never_due() -> None:
    assert not is_due(FOREVER, None)


@pytest.mark.parametrize("status", Status)
def test_a_due_row_is_expired_without_any_job(status: Status) -> None:
    assert status_at(NOW - TICK, status, NOW) is status
    assert status_at(NOW, status, NOW) is Status.EXPIRED
    assert status_at(NOW, status, None) is status


offsets = st.integers(-23 * 60, 23 * 60).map(lambda m: timezone(timedelta(minutes=m)))
instants = st.integers(-(10**15), 10**15).map(lambda ticks: NOW + ticks * TICK)


@given(instants, offsets, offsets, st.sampled_from([-TICK, timedelta(0), TICK]))
def test_equal_instants_are_due_together_whatever_their_offsets(
    at: datetime, here: timezone, there: timezone, shift: timedelta
) -> None:
    now = (at + shift).astimezone(here)
    assert is_due(now, at.astimezone(there)) == is_due(now, at) == (shift >= timedelta(0))


def test_a_time_without_offset_is_utc() -> None:
    assert is_due(NOW.replace(tzinfo=None), NOW)
    assert not is_due(NOW.replace(tzinfo=None) - TICK, NOW)


def test_a_day_is_86_400_seconds_also_when_clocks_change() -> None:
    eve = NOW.replace(month=3, day=28, hour=20).astimezone(SummerTime())
    life = a_life(type=MemoryType.OBSERVATION, created_at=eve, observed_at=eve)
    end = ends(life).expires_at
    assert end == NOW.replace(month=3, day=31, hour=20)
    assert explicit_expiry(86_400, None, counted_from=eve) == NOW.replace(month=3, day=29, hour=20)


def test_a_repeat_renews_type_decay_from_its_own_time() -> None:
    life = a_life(type=MemoryType.TASK)
    again = renewed(life, NOW + 5 * DAY)
    assert ends(again) == Expiry(NOW + 19 * DAY, "type:task")


def test_an_older_word_that_arrives_later_shortens_nothing() -> None:
    life = a_life(type=MemoryType.TASK)
    assert renewed(life, NOW - 5 * DAY) == life


def test_a_repeat_never_renews_a_cap_a_wish_a_policy_or_a_scope() -> None:
    later = NOW + 29 * DAY
    capped = a_life(type=MemoryType.EVENT, pii_tags=("ssn",))
    assert ends(renewed(capped, later)) == Expiry(NOW + 30 * DAY, "pii:critical")
    for life in (
        a_life(explicit_expires_at=NOW + DAY),
        a_record(policy="production"),
        a_record(),
    ):
        assert ends(renewed(life, later)) == ends(life)


def test_a_candidate_whose_decay_is_over_is_stale() -> None:
    old = a_life(type=MemoryType.OBSERVATION, observed_at=NOW - 3 * DAY)
    assert is_stale(old, RULES, NOW)
    assert not is_stale(replace(old, observed_at=NOW - 3 * DAY + TICK), RULES, NOW)


def test_what_does_not_decay_is_never_stale() -> None:
    long_ago = NOW - 1000 * DAY
    for life in (
        a_life(observed_at=long_ago),
        a_life(type=MemoryType.TASK, observed_at=long_ago, explicit_expires_at=NOW + DAY),
        a_life(type=MemoryType.TASK, observed_at=long_ago, scope=MemoryScope.SESSION),
    ):
        assert not is_stale(life, RULES, NOW)


def test_a_kept_expiry_is_lowered_to_the_cap_alone() -> None:
    kept = Expiry(NOW + 400 * DAY, "policy:gone")
    assert lowered(kept, a_life(), RULES) == kept
    assert lowered(kept, a_life(pii_tags=("email",)), RULES) == Expiry(
        NOW + 90 * DAY, "pii:high", requested_expires_at=NOW + 400 * DAY, clamped=True
    )
    approved = a_life(pii_tags=("ssn",), approved_expires_at=NOW + 400 * DAY)
    assert lowered(kept, approved, RULES) == kept
    endless = Expiry(None, "never")
    assert lowered(endless, a_life(), RULES) == endless
    assert lowered(endless, a_life(pii_tags=("name",)), RULES).expires_at == NOW + 365 * DAY


wishes = st.none() | st.integers(1, 10**9).map(lambda seconds: NOW + timedelta(seconds=seconds))
tag_sets = st.sets(st.sampled_from(PII_TAGS)).map(lambda tags: tuple(sorted(tags)))
policies = st.none() | st.sampled_from(list(RULES.policies.values()))
profiles = st.sampled_from(Profile)


@st.composite
def lives(draw: st.DrawFn) -> Life:
    policy = draw(policies)
    scopes = SCOPES if policy is None else sorted(policy.scopes)
    return Life(
        scope=draw(st.sampled_from(scopes)),
        kind=draw(st.sampled_from(Kind)),
        type=draw(st.sampled_from(MemoryType)),
        created_at=NOW,
        observed_at=NOW + draw(st.integers(-100, 100)) * DAY / 7,
        explicit_expires_at=draw(wishes),
        policy=policy,
        pii_tags=draw(tag_sets),
    )


def order(at: datetime | None) -> datetime:
    return at or FOREVER


@given(lives(), profiles)
def test_nothing_lives_past_any_ceiling(life: Life, profile: Profile) -> None:
    end = order(ends(life, profile=profile).expires_at)
    for tag in life.pii_tags:
        assert end <= NOW + timedelta(seconds=RULES.risks[RULES.tags[tag].risk].max_ttl_seconds)
    if life.policy is not None and life.policy.ttl_seconds is not None:
        assert end <= NOW + timedelta(seconds=life.policy.ttl_seconds)
    if life.policy is not None and life.policy.name == "ephemeral":
        assert end <= NOW + HOUR
    if life.explicit_expires_at is not None:
        assert end <= life.explicit_expires_at
    if life.scope is MemoryScope.SESSION and life.explicit_expires_at is None:
        assert end <= NOW + HOUR


@given(lives(), profiles, st.sampled_from(PII_TAGS))
def test_one_more_tag_never_lets_it_live_longer(life: Life, profile: Profile, tag: str) -> None:
    tagged = replace(life, pii_tags=(*life.pii_tags, tag))
    before, after = ends(life, profile=profile), ends(tagged, profile=profile)
    assert order(after.expires_at) <= order(before.expires_at)


@given(lives(), profiles, st.integers(0, 10**9))
def test_a_longer_wish_never_ends_sooner(life: Life, profile: Profile, more: int) -> None:
    assume(life.explicit_expires_at is not None)
    assert life.explicit_expires_at is not None
    longer = replace(life, explicit_expires_at=life.explicit_expires_at + timedelta(seconds=more))
    sooner, later = ends(life, profile=profile), ends(longer, profile=profile)
    assert order(sooner.expires_at) <= order(later.expires_at)


@given(lives(), profiles, st.integers(-(10**7), 10**7))
def test_a_repeat_never_ends_it_sooner(life: Life, profile: Profile, seconds: int) -> None:
    again = renewed(life, NOW + timedelta(seconds=seconds))
    before, after = ends(life, profile=profile), ends(again, profile=profile)
    assert order(after.expires_at) >= order(before.expires_at)


@given(lives(), profiles)
def test_the_answer_says_which_rule_and_a_clamp_what_was_asked(
    life: Life, profile: Profile
) -> None:
    end = ends(life, profile=profile)
    name, _, of = end.rule.partition(":")
    words: dict[str, list[str]] = {
        "explicit": [""],
        "never": [""],
        "policy": list(RULES.policies),
        "type": [str(t) for t in MemoryType],
        "scope": [str(s) for s in MemoryScope],
        "pii": [risk.word for risk in Risk],
    }
    assert of in words[name]
    assert (end.expires_at is None) <= (end.rule in {"never", "policy:permanent"})
    if end.clamped:
        assert name in {"policy", "pii"}
        assert end.expires_at is not None
        assert order(end.requested_expires_at) > end.expires_at
    else:
        assert end.requested_expires_at is None


@given(lives(), profiles, offsets, offsets)
def test_offsets_of_the_inputs_change_nothing(
    life: Life, profile: Profile, here: timezone, there: timezone
) -> None:
    explicit = life.explicit_expires_at
    moved = replace(
        life,
        created_at=life.created_at.astimezone(here),
        observed_at=life.observed_at.astimezone(there),
        explicit_expires_at=explicit and explicit.astimezone(here),
    )
    end = ends(moved, profile=profile)
    assert end == ends(life, profile=profile)
    assert end.expires_at is None or end.expires_at.tzinfo is UTC


def an_approval(**changes: Any) -> Approval:
    given: dict[str, Any] = {
        "id": "a1",
        "memory_id": "m1",
        "requested_by": "ann",
        "requested_expires_at": NOW + 60 * DAY,
        "valid_until": NOW + DAY,
    }
    return Approval(**given | changes)


def test_critical_data_past_its_cap_needs_an_approval() -> None:
    wish = NOW + 60 * DAY
    assert extension_needed(a_record(pii_tags=("ssn",), explicit_expires_at=wish), RULES) == wish
    late = a_record(pii_tags=("ssn",), policy="compliance")
    assert extension_needed(late, RULES) == NOW + 365 * DAY
    assert extension_needed(replace(late, policy=RULES.policies["permanent"]), RULES) == FOREVER


def test_an_approval_is_asked_for_what_the_policy_would_allow() -> None:
    life = a_record(pii_tags=("ssn",), policy="compliance", explicit_expires_at=NOW + 500 * DAY)
    assert extension_needed(life, RULES) == NOW + 365 * DAY


@pytest.mark.parametrize(
    "life",
    [
        a_record(pii_tags=("email",), explicit_expires_at=NOW + 500 * DAY),
        a_record(pii_tags=("name",), policy="permanent"),
        a_record(pii_tags=("ssn",), explicit_expires_at=NOW + 30 * DAY),
        a_record(pii_tags=("ssn",), explicit_expires_at=NOW + 60 * DAY, policy="production"),
        a_record(pii_tags=("ssn",)),
        a_life(pii_tags=("ssn",)),
        a_record(explicit_expires_at=NOW + 500 * DAY),
    ],
    ids=["high", "medium", "within", "policy", "record", "statement", "untagged"],
)
def test_anything_else_is_met_or_clamped(life: Life) -> None:
    assert extension_needed(life, RULES) is None


@given(
    st.integers(31, 10**4),
    st.sampled_from([None, "compliance", "permanent"]),
    tag_sets,
    st.sampled_from(Kind),
)
def test_an_approved_extension_gives_what_was_asked(
    days: int, policy: str | None, tags: tuple[str, ...], kind: Kind
) -> None:
    wish = NOW + days * DAY
    life = a_life(kind=kind, policy=policy, pii_tags=("health", *tags), explicit_expires_at=wish)
    asked = extension_needed(life, RULES)
    approved = replace(life, approved_expires_at=asked)
    assert asked == (min(wish, NOW + 365 * DAY) if policy == "compliance" else wish)
    assert ends(approved).expires_at == asked
    assert extension_needed(approved, RULES) is None


def test_an_approval_without_end_lets_it_live_for_ever() -> None:
    life = a_record(policy="permanent", pii_tags=("ssn",), approved_expires_at=FOREVER)
    assert ends(life) == Expiry(None, "policy:permanent")


def test_an_approval_sets_no_longer_expiry_than_was_asked() -> None:
    life = a_record(pii_tags=("ssn",), approved_expires_at=NOW + 60 * DAY)
    assert ends(replace(life, explicit_expires_at=NOW + 10 * DAY)).expires_at == NOW + 10 * DAY
    assert ends(replace(life, explicit_expires_at=NOW + 90 * DAY)) == Expiry(
        NOW + 60 * DAY, "pii:critical", requested_expires_at=NOW + 90 * DAY, clamped=True
    )


def test_a_tag_that_an_approval_did_not_know_ends_it() -> None:
    until = NOW + 60 * DAY
    assert still_approved(until, ["ssn", "email"], ["ssn"]) == until
    assert still_approved(until, ["ssn"], ["ssn"]) == until
    assert still_approved(until, ["ssn"], ["ssn", "health"]) is None
    assert still_approved(None, ["ssn"], ["ssn"]) is None


@pytest.mark.parametrize("approve", [True, False])
def test_somebody_else_decides_once(approve: bool) -> None:
    after = decided(an_approval(), "bo", NOW, approve=approve)
    word = ApprovalStatus.APPROVED if approve else ApprovalStatus.DENIED
    assert (after.status, after.decided_by, after.decided_at) == (word, "bo", NOW)
    assert after.status_at(NOW + 100 * DAY) is word
    with pytest.raises(Conflict) as refusal:
        decided(after, "cy", NOW, approve=True)
    assert refusal.value.details == {"reason": "wrong_state"}


@pytest.mark.parametrize("approve", [True, False])
def test_nobody_decides_their_own_request(approve: bool) -> None:
    with pytest.raises(Forbidden):
        decided(an_approval(), "ann", NOW, approve=approve)


def test_a_request_lapses_at_its_deadline() -> None:
    approval = an_approval()
    assert approval.status_at(NOW + DAY - TICK) is ApprovalStatus.PENDING
    assert approval.status_at(NOW + DAY) is ApprovalStatus.EXPIRED
    with pytest.raises(Conflict):
        decided(approval, "bo", NOW + DAY, approve=True)


def test_a_request_is_open_for_a_day_and_never_longer_than_the_row() -> None:
    assert approval_deadline(NOW, None, ttl_minutes=1440) == NOW + DAY
    assert approval_deadline(NOW, NOW + 2 * DAY, ttl_minutes=1440) == NOW + DAY
    assert approval_deadline(NOW, NOW + HOUR, ttl_minutes=1440) == NOW + HOUR
