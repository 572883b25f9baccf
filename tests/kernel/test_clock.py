"""Time as text: one form, whose order is the order of time."""

import re
from datetime import UTC, datetime, timedelta, timezone

from hypothesis import example, given
from hypothesis import strategies as st

from recollect.kernel.clock import SystemClock, from_text, to_text

instants = st.datetimes(timezones=st.just(UTC))


@given(instants, instants)
@example(datetime(999, 12, 31, tzinfo=UTC), datetime(1000, 1, 1, tzinfo=UTC))
@example(datetime(1, 1, 1, tzinfo=UTC), datetime(20, 1, 1, tzinfo=UTC))
@example(datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, microsecond=1, tzinfo=UTC))
def test_text_order_is_time_order(a: datetime, b: datetime) -> None:
    assert (to_text(a) < to_text(b)) == (a < b)


@given(instants)
def test_text_has_one_form_and_reads_back(instant: datetime) -> None:
    text = to_text(instant)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", text)
    assert from_text(text) == instant


def test_an_offset_becomes_utc() -> None:
    east = timezone(timedelta(hours=5, minutes=30))
    text = to_text(datetime(2024, 1, 1, 2, 0, tzinfo=east))
    assert text == "2023-12-31T20:30:00.000000Z"


def test_the_system_clock_speaks_utc() -> None:
    assert SystemClock().now().utcoffset() == timedelta()
