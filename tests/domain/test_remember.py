"""How long "remember …" asks to be remembered."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.remember import explicit_term

NOW = datetime(2026, 11, 16, 10, 30, tzinfo=UTC)  # a Monday
LISBON = ZoneInfo("Europe/Lisbon")
LOS_ANGELES = ZoneInfo("America/Los_Angeles")


def expiry(text: str, zone: ZoneInfo = LISBON, now: datetime = NOW) -> datetime | None:
    term = explicit_term(text, now, zone)
    return term.expires_at if term else None


def rest(text: str) -> str | None:
    term = explicit_term(text, NOW, LISBON)
    return term.text_without_phrase if term else None


def day(year: int, month: int, number: int) -> datetime:
    """The start of a winter day in Lisbon, which is that of UTC."""
    return datetime(year, month, number, tzinfo=UTC)


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        ("10 minutes", timedelta(minutes=10)),
        ("an hour", timedelta(hours=1)),
        ("36 hours", timedelta(hours=36)),
        ("1 day", timedelta(days=1)),
        ("a week", timedelta(days=7)),
        ("2 weeks", timedelta(days=14)),
        ("two weeks", timedelta(days=14)),
        ("a couple of weeks", timedelta(days=14)),
        ("the next two weeks", timedelta(days=14)),
        ("a fortnight", timedelta(days=14)),
        ("TWELVE DAYS", timedelta(days=12)),
        ("30  days", timedelta(days=30)),
    ],
)
def test_a_length_is_counted_from_now(length: str, expected: timedelta) -> None:
    assert expiry(f"remember for {length} that the gate code is blue") == NOW + expected


def test_a_day_is_24_hours_also_when_the_clocks_change() -> None:
    eve = datetime(2026, 10, 24, 12, tzinfo=UTC)
    assert expiry("remember for 2 days that x", LISBON, eve) == eve + timedelta(days=2)


def test_a_month_goes_by_the_calendar_of_the_zone() -> None:
    evening = datetime(2027, 2, 1, 4, tzinfo=UTC)  # January 31 in Los Angeles
    march_1 = datetime(2027, 3, 1, 4, tzinfo=UTC)  # February 28 there, 20:00
    assert expiry("remember for a month that x", LOS_ANGELES, evening) == march_1
    assert expiry("remember for 2 years that x") == NOW.replace(year=2028)


@pytest.mark.parametrize(
    ("until", "last_day"),
    [
        ("2027-03-01", day(2027, 3, 1)),
        ("March 15", day(2027, 3, 15)),
        ("march 15th, 2028", day(2028, 3, 15)),
        ("15 March 2027", day(2027, 3, 15)),
        ("the 15th of March", day(2027, 3, 15)),
        ("Dec 24", day(2026, 12, 24)),
        ("November 16", day(2026, 11, 16)),
        ("Feb 29", day(2028, 2, 29)),
        ("the 20th", day(2026, 11, 20)),
        ("the 3rd", day(2026, 12, 3)),
        ("today", day(2026, 11, 16)),
        ("tomorrow", day(2026, 11, 17)),
        ("Friday", day(2026, 11, 20)),
        ("Monday", day(2026, 11, 23)),
        ("next Friday", day(2026, 11, 27)),
        ("end of the day", day(2026, 11, 16)),
        ("the end of the week", day(2026, 11, 22)),
        ("end of the month", day(2026, 11, 30)),
        ("the end of next month", day(2026, 12, 31)),
        ("the end of February", day(2027, 2, 28)),
        ("the end of the year", day(2026, 12, 31)),
    ],
)
def test_the_day_named_is_the_last_that_counts(until: str, last_day: datetime) -> None:
    assert expiry(f"Remember until {until}: the lift is broken") == last_day + timedelta(days=1)


def test_days_end_in_the_speakers_zone() -> None:
    assert expiry("remember until tomorrow that x", LOS_ANGELES) == datetime(
        2026, 11, 18, 8, tzinfo=UTC
    )


def test_a_time_of_day_is_kept() -> None:
    at_eight = datetime(2026, 12, 1, 8, tzinfo=UTC)
    assert expiry("remember until 2026-12-01T08:00 that x") == at_eight


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("remember for 2 weeks that the code is blue", "remember that the code is blue"),
        ("Remember until Friday: the lift is broken", "Remember: the lift is broken"),
        ("Please remember this for a week: I'm off sugar.", "Please remember this: I'm off sugar."),
        ("For two weeks, remember that Ann covers.", "Remember that Ann covers."),
        ("Until Friday remember the code is blue.", "Remember the code is blue."),
        ("Remember that the code is blue, for 3 days.", "Remember that the code is blue."),
        ("Remember the code is blue (until Friday).", "Remember the code is blue."),
        ("Don't forget until Friday: 3.5 litres", "Don't forget: 3.5 litres"),
        ("Hi! Remember for a day that x. I ate for 3.", "Hi! Remember that x. I ate for 3."),
        ("Could you remember for 2 days that x?", "Could you remember that x?"),
        ("remember this until Friday", "remember this"),
    ],
)
def test_the_term_is_taken_out_of_the_text(text: str, expected: str) -> None:
    assert rest(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Remember that I'm in Porto until Friday.",
        "Remember I'm away for 2 weeks",
        "remember that the pool is closed until Friday",
    ],
)
def test_a_term_that_is_also_part_of_the_fact_stays_in_the_text(text: str) -> None:
    assert expiry(text) is not None
    assert rest(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "I lived there for 2 weeks",
        "Remember that I lived there for 2 weeks",
        "Remember that I've known Ann for 2 years.",
        "Remember that Ann was in Porto until Friday.",
        "Remember when we were there for 2 weeks?",
        "I remember it for 2 weeks now",
        "Do you remember the two of us there, for 2 weeks?",
        "Remember that the shop closes. I stay for 2 weeks.",
        "Remember that for 2 weeks of work one gets a day off",
        "Remember that Q's launch is March 15",
        "remember for ever that x",
        "remember for 2 weeks and 3 days that x",
        "remember for 1.5 days that x",
        "remember until I say so that x",
        "remember until 15/03/2027 that x",
        "remember until 2026-02-30 that x",
        "remember until 2026-12-01T99:00 that x",
        "remember for 2 weeksome",
        "",
    ],
)
def test_other_times_set_no_term(text: str) -> None:
    assert explicit_term(text, NOW, LISBON) is None


@pytest.mark.parametrize(
    "text",
    [
        "remember for 0 days that x",
        "remember until 2020-01-01 that x",
        "remember until March 1, 2026 that x",
        "remember for 9999 years that x",
        "remember until 9999-12-31 that x",
    ],
)
def test_what_is_over_or_past_the_calendar_sets_no_term(text: str) -> None:
    assert explicit_term(text, NOW, LISBON) is None


pieces = st.sampled_from(
    [
        *("remember ", "please ", "for ", "until ", "2 ", "a ", "weeks ", "months ", "Friday"),
        *("that ", "I ", "lived ", ", ", ". ", "(", ")", "March ", "31 ", "2027", "-02-30"),
        *("end of ", "the ", "\n"),
    ]
)


@given(
    st.lists(pieces, max_size=12).map("".join) | st.text(),
    st.datetimes(timezones=st.sampled_from([UTC, LISBON, LOS_ANGELES])),
)
def test_a_term_is_always_in_the_future(text: str, now: datetime) -> None:
    term = explicit_term(text, now, LOS_ANGELES)
    assert term is None or (term.expires_at > now and term.expires_at.tzinfo is UTC)
