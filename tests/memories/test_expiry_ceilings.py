"""What a memory does not outlive."""

from dataclasses import replace
from datetime import timedelta

import pytest

from recollect.kernel.ids import MemoryId
from recollect.kernel.retention_rules import MemoryScope
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.expiry import (
    Expiry,
    ExpiryInputs,
    compute_expiry,
    explicit_expiry,
)
from recollect.memories.model import Memory, MemoryKind, MemoryType
from tests.memories.expiry_cases import DAY, HOUR, NOW, RULES, SCOPES, TICK, a_life, a_record, ends


def test_email_and_phone_under_compliance_end_after_90_days_and_say_so() -> None:
    life = a_record(policy="compliance", pii_tags=("email", "phone"))
    assert ends(life) == Expiry(
        NOW + 90 * DAY, "pii:high", requested_expires_at=NOW + 365 * DAY, clamped=True
    )


@pytest.mark.parametrize("kind", MemoryKind)
def test_an_ssn_ends_after_thirty_days(kind: MemoryKind) -> None:
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
    assert compute_expiry(life, short).expires_at == NOW + timedelta(seconds=60)


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
        kind=MemoryKind.RECORD,
        content="c",
        space=Space(SpaceKind.AGENT_PRIVATE, "a"),
        created_at=NOW,
        updated_at=NOW,
        observed_at=NOW,
        retention_policy="compliance",
    )
    policy = RULES.require_policy("compliance", memory.space.scope)
    assert ends(ExpiryInputs.from_memory(memory, policy)).expires_at == NOW + 365 * DAY
    tagged = replace(memory, pii_tags=("health",), updated_at=NOW + 100 * DAY)
    assert ends(ExpiryInputs.from_memory(tagged, policy)).expires_at == NOW + 30 * DAY
