"""ISO-8601 durations: what is one, and what lies that long before an instant."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.dates.durations import EARLIEST, Duration, parse_duration

instants = st.datetimes(timezones=st.just(UTC))
amounts = st.integers(0, 10**6) | st.integers(0, 10**12)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("P1W", "2024-03-08", "2024-03-01"),
        ("P90D", "2024-03-31", "2024-01-01"),
        ("PT36H", "2024-03-01T12:00", "2024-02-29"),
        ("PT90M", "2024-03-01T01:30", "2024-03-01"),
        ("P1Y2M10DT2H30M", "2025-05-21T02:30", "2024-03-11"),
        ("P1Y2W", "2025-01-15", "2024-01-01"),
        ("P1M", "2024-03-31", "2024-02-29"),
        ("P1M", "2023-03-31", "2023-02-28"),
        ("P1Y", "2024-02-29", "2023-02-28"),
        ("P4Y", "2024-02-29", "2020-02-29"),
        ("P1M1D", "2024-03-31", "2024-02-28"),
        ("P14M", "2024-01-15", "2022-11-15"),
        ("P12M", "2024-12-31", "2023-12-31"),
        ("P0.5Y", "2024-07-01", "2024-01-01"),
        ("P0,5M", "2024-01-16", "2024-01-01"),
        ("P1.5W", "2024-01-11T12:00", "2024-01-01"),
        ("P0Y1.5D", "2024-01-02T12:00", "2024-01-01"),
        ("PT0.000001S", "2024-01-01T00:00:00.000001", "2024-01-01"),
        ("PT0.0000001S", "2024-01-01T00:00:00.000001", "2024-01-01"),
        ("P001D", "2024-01-02", "2024-01-01"),
        ("P2023Y", "2024-05-06", "0001-05-06"),
    ],
)
def test_a_duration_leads_back_by_the_calendar(text: str, start: str, end: str) -> None:
    assert parse_duration(text).subtract_from(at(start)) == at(end)


MISSHAPEN = [
    "P",
    "PT",
    "P1DT",
    "1D",
    "P1",
    "PD",
    "T1H",
    "PT1D",
    "P1H",
    "P1D1Y",
    "P1D1D",
    "PT1S1M",
    "P1DT1D",
    "P2024-01-01",
    "P1D/P1D",
]
MISSPELT = ["p1d", "P1d", "Pt1H", "-P1D", "+P1D", "P-1D", "P+1D", "P1e3D", "P٣D", "P１D", "P1_0D"]
MISPOINTED = ["P1.5DT1H", "P1.5Y1M", "P1.D", "P.5D", "P1..5D", "P1.5.5D"]
SPACED = ["", " ", "P 1D", " P1D", "P1D ", "P1D\n", "P1D\x00", "90 days"]
TOO_LONG = ["P" + "9" * 200 + "D", "P" + "1D" * 10**5]


@pytest.mark.parametrize("text", [*MISSHAPEN, *MISSPELT, *MISPOINTED, *SPACED, *TOO_LONG])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="ISO-8601 duration"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["P0D", "PT0S", "P0Y0M0W0DT0H0M0S", "PT0.000S", "P0,0Y"])
def test_zero_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="above zero"):
        parse_duration(text)


@given(st.text("PT0123456789.,YMWDHS-+ ", max_size=20))
def test_any_text_is_a_duration_above_zero_or_a_value_error(text: str) -> None:
    try:
        duration = parse_duration(text)
    except ValueError:
        return
    assert duration.months > 0 or duration.microseconds > 0


@given(st.lists(amounts, min_size=7, max_size=7).filter(any))
def test_components_add_up(numbers: list[int]) -> None:
    years, months, weeks, days, hours, minutes, seconds = numbers
    text = f"P{years}Y{months}M{weeks}W{days}DT{hours}H{minutes}M{seconds}S"
    total = (((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds
    assert parse_duration(text) == Duration(years * 12 + months, total * 10**6)


@given(instants, amounts, amounts)
def test_a_duration_leads_strictly_back_and_never_before_year_one(
    instant: datetime, months: int, microseconds: int
) -> None:
    before = Duration(months, microseconds + 1).subtract_from(instant)
    assert before < instant or before == instant == EARLIEST
    assert before >= EARLIEST


@given(instants, amounts, amounts, amounts)
def test_a_longer_duration_never_leads_to_a_later_instant(
    instant: datetime, months: int, micros: int, more: int
) -> None:
    shorter = Duration(months, micros).subtract_from(instant)
    assert Duration(months + more, micros).subtract_from(instant) <= shorter
    assert Duration(months, micros + more).subtract_from(instant) <= shorter


@given(instants, st.integers(1, 30_000))
def test_months_keep_the_day_or_take_the_last_of_the_month(instant: datetime, months: int) -> None:
    before = Duration(months, 0).subtract_from(instant)
    if before == EARLIEST:
        return
    assert (instant.year - before.year) * 12 + instant.month - before.month == months
    is_last = (before + timedelta(days=1)).month != before.month
    assert before.day == instant.day or (before.day < instant.day and is_last)
    assert before.timetz() == instant.timetz()


@pytest.mark.parametrize(
    "text", ["P2024Y", "P9999999999Y", "P" + "9" * 90 + "D", "PT" + "9" * 90 + "S"]
)
def test_absurd_durations_lead_to_the_beginning_of_time(text: str) -> None:
    assert parse_duration(text).subtract_from(at("2024-01-01")) == EARLIEST
