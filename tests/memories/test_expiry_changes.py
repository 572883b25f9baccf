"""When a memory is due, and what a repeat or an import changes in that."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone, tzinfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.kernel.retention_rules import MemoryScope
from recollect.memories.expiry import (
    FOREVER,
    Expiry,
    apply_pii_cap,
    explicit_expiry,
    is_expired_when_stored,
    renew_observed_at,
)
from recollect.memories.model import (
    MemoryStatus,
    MemoryType,
    effective_status,
    is_expired,
)
from tests.memories.expiry_cases import DAY, HOUR, NOW, RULES, TICK, a_life, a_record, ends, offsets


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


def test_an_observation_is_shown_to_the_last_microsecond_and_then_hidden() -> None:
    at = ends(a_life(type=MemoryType.OBSERVATION)).expires_at
    assert not is_expired(NOW + timedelta(seconds=259_199), at)
    assert not is_expired(NOW + timedelta(seconds=259_199, microseconds=999_999), at)
    assert is_expired(NOW + timedelta(seconds=259_200), at)
    assert is_expired(NOW + timedelta(seconds=259_201), at)


def test_what_never_ends_is_never_due() -> None:
    assert not is_expired(FOREVER, None)


@pytest.mark.parametrize("status", MemoryStatus)
def test_a_due_row_is_expired_without_any_job(status: MemoryStatus) -> None:
    assert effective_status(NOW - TICK, status, NOW) is status
    assert effective_status(NOW, status, NOW) is MemoryStatus.EXPIRED
    assert effective_status(NOW, status, None) is status


instants = st.integers(-(10**15), 10**15).map(lambda ticks: NOW + ticks * TICK)


@given(instants, offsets, offsets, st.sampled_from([-TICK, timedelta(0), TICK]))
def test_equal_instants_are_due_together_whatever_their_offsets(
    at: datetime, here: timezone, there: timezone, shift: timedelta
) -> None:
    now = (at + shift).astimezone(here)
    assert is_expired(now, at.astimezone(there)) == is_expired(now, at) == (shift >= timedelta(0))


def test_a_time_without_offset_is_utc() -> None:
    assert is_expired(NOW.replace(tzinfo=None), NOW)
    assert not is_expired(NOW.replace(tzinfo=None) - TICK, NOW)


def test_a_day_is_86_400_seconds_also_when_clocks_change() -> None:
    eve = NOW.replace(month=3, day=28, hour=20).astimezone(SummerTime())
    life = a_life(type=MemoryType.OBSERVATION, created_at=eve, observed_at=eve)
    end = ends(life).expires_at
    assert end == NOW.replace(month=3, day=31, hour=20)
    assert explicit_expiry(86_400, None, counted_from=eve) == NOW.replace(month=3, day=29, hour=20)


def test_a_repeat_renews_type_decay_from_its_own_time() -> None:
    life = a_life(type=MemoryType.TASK)
    again = renew_observed_at(life, NOW + 5 * DAY)
    assert ends(again) == Expiry(NOW + 19 * DAY, "type:task")


def test_an_older_word_that_arrives_later_shortens_nothing() -> None:
    life = a_life(type=MemoryType.TASK)
    assert renew_observed_at(life, NOW - 5 * DAY) == life


def test_a_repeat_never_renews_a_cap_a_wish_a_policy_or_a_scope() -> None:
    later = NOW + 29 * DAY
    capped = a_life(type=MemoryType.EVENT, pii_tags=("ssn",))
    assert ends(renew_observed_at(capped, later)) == Expiry(NOW + 30 * DAY, "pii:critical")
    for life in (
        a_life(explicit_expires_at=NOW + DAY),
        a_record(policy="production"),
        a_record(),
    ):
        assert ends(renew_observed_at(life, later)) == ends(life)


def test_a_candidate_whose_decay_is_over_is_stale() -> None:
    old = a_life(type=MemoryType.OBSERVATION, observed_at=NOW - 3 * DAY)
    assert is_expired_when_stored(old, RULES, NOW)
    assert not is_expired_when_stored(replace(old, observed_at=NOW - 3 * DAY + TICK), RULES, NOW)


def test_what_does_not_decay_is_never_stale() -> None:
    long_ago = NOW - 1000 * DAY
    for life in (
        a_life(observed_at=long_ago),
        a_life(type=MemoryType.TASK, observed_at=long_ago, explicit_expires_at=NOW + DAY),
        a_life(type=MemoryType.TASK, observed_at=long_ago, scope=MemoryScope.SESSION),
    ):
        assert not is_expired_when_stored(life, RULES, NOW)


def test_a_kept_expiry_is_lowered_to_the_cap_alone() -> None:
    kept = Expiry(NOW + 400 * DAY, "policy:gone")
    assert apply_pii_cap(kept, a_life(), RULES) == kept
    assert apply_pii_cap(kept, a_life(pii_tags=("email",)), RULES) == Expiry(
        NOW + 90 * DAY, "pii:high", requested_expires_at=NOW + 400 * DAY, clamped=True
    )
    approved = a_life(pii_tags=("ssn",), approved_expires_at=NOW + 400 * DAY)
    assert apply_pii_cap(kept, approved, RULES) == kept
    endless = Expiry(None, "never")
    assert apply_pii_cap(endless, a_life(), RULES) == endless
    assert apply_pii_cap(endless, a_life(pii_tags=("name",)), RULES).expires_at == NOW + 365 * DAY
