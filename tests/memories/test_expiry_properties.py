"""When a memory ends: what holds for every life."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

from hypothesis import assume, given
from hypothesis import strategies as st

from recollect.kernel.retention_rules import (
    PII_TAGS,
    MemoryScope,
    PiiRisk,
    RetentionProfile,
)
from recollect.memories.expiry import FOREVER, ExpiryInputs, renew_observed_at
from recollect.memories.model import MemoryKind, MemoryType
from tests.memories.expiry_cases import DAY, HOUR, NOW, RULES, SCOPES, ends, offsets, tag_sets

wishes = st.none() | st.integers(1, 10**9).map(lambda seconds: NOW + timedelta(seconds=seconds))
policies = st.none() | st.sampled_from(list(RULES.policies.values()))
profiles = st.sampled_from(RetentionProfile)


@st.composite
def lives(draw: st.DrawFn) -> ExpiryInputs:
    policy = draw(policies)
    scopes = SCOPES if policy is None else sorted(policy.scopes)
    return ExpiryInputs(
        scope=draw(st.sampled_from(scopes)),
        kind=draw(st.sampled_from(MemoryKind)),
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
def test_nothing_lives_past_any_ceiling(life: ExpiryInputs, profile: RetentionProfile) -> None:
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
def test_one_more_tag_never_lets_it_live_longer(
    life: ExpiryInputs, profile: RetentionProfile, tag: str
) -> None:
    tagged = replace(life, pii_tags=(*life.pii_tags, tag))
    before, after = ends(life, profile=profile), ends(tagged, profile=profile)
    assert order(after.expires_at) <= order(before.expires_at)


@given(lives(), profiles, st.integers(0, 10**9))
def test_a_longer_wish_never_ends_sooner(
    life: ExpiryInputs, profile: RetentionProfile, more: int
) -> None:
    assume(life.explicit_expires_at is not None)
    assert life.explicit_expires_at is not None
    longer = replace(life, explicit_expires_at=life.explicit_expires_at + timedelta(seconds=more))
    sooner, later = ends(life, profile=profile), ends(longer, profile=profile)
    assert order(sooner.expires_at) <= order(later.expires_at)


@given(lives(), profiles, st.integers(-(10**7), 10**7))
def test_a_repeat_never_ends_it_sooner(
    life: ExpiryInputs, profile: RetentionProfile, seconds: int
) -> None:
    again = renew_observed_at(life, NOW + timedelta(seconds=seconds))
    before, after = ends(life, profile=profile), ends(again, profile=profile)
    assert order(after.expires_at) >= order(before.expires_at)


@given(lives(), profiles)
def test_the_answer_says_which_rule_and_a_clamp_what_was_asked(
    life: ExpiryInputs, profile: RetentionProfile
) -> None:
    end = ends(life, profile=profile)
    name, _, of = end.rule.partition(":")
    words: dict[str, list[str]] = {
        "explicit": [""],
        "never": [""],
        "policy": list(RULES.policies),
        "type": [str(t) for t in MemoryType],
        "scope": [str(s) for s in MemoryScope],
        "pii": [risk.label for risk in PiiRisk],
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
    life: ExpiryInputs, profile: RetentionProfile, here: timezone, there: timezone
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
