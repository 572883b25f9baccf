"""How long a failed job waits."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.jobs.model import backoff_delay


@pytest.mark.parametrize(
    ("attempt", "seconds"), [(1, 2), (2, 4), (3, 8), (11, 2_048), (12, 3_600), (10**9, 3_600)]
)
def test_back_off_doubles_up_to_an_hour(attempt: int, seconds: int) -> None:
    assert backoff_delay(attempt) == timedelta(seconds=seconds)


@given(st.integers(1, 10**6))
def test_a_later_attempt_never_waits_less(attempt: int) -> None:
    assert (
        timedelta(seconds=2)
        <= backoff_delay(attempt)
        <= backoff_delay(attempt + 1)
        <= timedelta(hours=1)
    )
