"""Who may let a memory live longer than its cap."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.kernel.errors import Conflict, Forbidden
from recollect.memories.expiry import (
    FOREVER,
    Approval,
    ApprovalStatus,
    Expiry,
    ExpiryInputs,
    approval_deadline,
    decide_approval,
    needed_extension,
    surviving_approval,
)
from recollect.memories.model import MemoryKind
from tests.memories.expiry_cases import (
    DAY,
    HOUR,
    NOW,
    RULES,
    TICK,
    a_life,
    a_record,
    ends,
    tag_sets,
)


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
    assert needed_extension(a_record(pii_tags=("ssn",), explicit_expires_at=wish), RULES) == wish
    late = a_record(pii_tags=("ssn",), policy="compliance")
    assert needed_extension(late, RULES) == NOW + 365 * DAY
    assert needed_extension(replace(late, policy=RULES.policies["permanent"]), RULES) == FOREVER


def test_an_approval_is_asked_for_what_the_policy_would_allow() -> None:
    life = a_record(pii_tags=("ssn",), policy="compliance", explicit_expires_at=NOW + 500 * DAY)
    assert needed_extension(life, RULES) == NOW + 365 * DAY


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
def test_anything_else_is_met_or_clamped(life: ExpiryInputs) -> None:
    assert needed_extension(life, RULES) is None


@given(
    st.integers(31, 10**4),
    st.sampled_from([None, "compliance", "permanent"]),
    tag_sets,
    st.sampled_from(MemoryKind),
)
def test_an_approved_extension_gives_what_was_asked(
    days: int, policy: str | None, tags: tuple[str, ...], kind: MemoryKind
) -> None:
    wish = NOW + days * DAY
    life = a_life(kind=kind, policy=policy, pii_tags=("health", *tags), explicit_expires_at=wish)
    asked = needed_extension(life, RULES)
    approved = replace(life, approved_expires_at=asked)
    assert asked == (min(wish, NOW + 365 * DAY) if policy == "compliance" else wish)
    assert ends(approved).expires_at == asked
    assert needed_extension(approved, RULES) is None


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
    assert surviving_approval(until, ["ssn", "email"], ["ssn"]) == until
    assert surviving_approval(until, ["ssn"], ["ssn"]) == until
    assert surviving_approval(until, ["ssn"], ["ssn", "health"]) is None
    assert surviving_approval(None, ["ssn"], ["ssn"]) is None


@pytest.mark.parametrize("approve", [True, False])
def test_somebody_else_decides_once(approve: bool) -> None:
    after = decide_approval(an_approval(), "bo", NOW, approve=approve)
    word = ApprovalStatus.APPROVED if approve else ApprovalStatus.DENIED
    assert (after.status, after.decided_by, after.decided_at) == (word, "bo", NOW)
    assert after.effective_status(NOW + 100 * DAY) is word
    with pytest.raises(Conflict) as refusal:
        decide_approval(after, "cy", NOW, approve=True)
    assert refusal.value.details == {"reason": "wrong_state"}


@pytest.mark.parametrize("approve", [True, False])
def test_nobody_decides_their_own_request(approve: bool) -> None:
    with pytest.raises(Forbidden):
        decide_approval(an_approval(), "ann", NOW, approve=approve)


def test_a_request_lapses_at_its_deadline() -> None:
    approval = an_approval()
    assert approval.effective_status(NOW + DAY - TICK) is ApprovalStatus.PENDING
    assert approval.effective_status(NOW + DAY) is ApprovalStatus.EXPIRED
    with pytest.raises(Conflict):
        decide_approval(approval, "bo", NOW + DAY, approve=True)


def test_a_request_is_open_for_a_day_and_never_longer_than_the_row() -> None:
    assert approval_deadline(NOW, None, ttl_minutes=1440) == NOW + DAY
    assert approval_deadline(NOW, NOW + 2 * DAY, ttl_minutes=1440) == NOW + DAY
    assert approval_deadline(NOW, NOW + HOUR, ttl_minutes=1440) == NOW + HOUR
