"""How refused credentials are counted."""

import pytest

from recollect.identity import failed_attempts
from recollect.identity.failed_attempts import WINDOW_SECONDS, FailedAttempts
from recollect.kernel.errors import TooManyAttempts

MOST = 3


class Seconds:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def wait_after(counted: FailedAttempts, address: str | None) -> int:
    """Seconds to wait after one more failure; 0 if it may be tried again at once."""
    try:
        counted.count(address)
    except TooManyAttempts as error:
        return error.retry_after_seconds
    return 0


def test_an_address_waits_for_the_end_of_its_minute() -> None:
    clock = Seconds()
    counted = FailedAttempts(MOST, monotonic=clock)
    assert [wait_after(counted, "192.0.2.1") for _ in range(MOST)] == [0] * MOST
    clock.now += 20
    assert wait_after(counted, "192.0.2.1") == WINDOW_SECONDS - 20
    assert wait_after(counted, "192.0.2.2") == 0
    clock.now += WINDOW_SECONDS - 20
    assert wait_after(counted, "192.0.2.1") == 0


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        (None, "no address", True),
    ],
)
def test_what_counts_as_one_address(first: str | None, second: str | None, same: bool) -> None:
    counted = FailedAttempts(1, monotonic=Seconds())
    wait_after(counted, first)
    assert bool(wait_after(counted, second)) is same


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failed_attempts, "ADDRESSES_MAX", 10)
    counted = FailedAttempts(1, monotonic=Seconds())
    for number in range(100):
        wait_after(counted, f"192.0.2.{number}")
    assert [wait_after(counted, f"192.0.2.{n}") > 0 for n in (0, 99)] == [False, True]


def test_no_limit_counts_nothing() -> None:
    counted = FailedAttempts(0)
    assert {wait_after(counted, "192.0.2.1") for _ in range(100)} == {0}
