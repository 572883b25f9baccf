"""How long "remember …" asks to be remembered."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.memories.write.ttl_phrases import (
    has_likely_expiry,
    parse_expiry_phrase,
)

NOW = datetime(2026, 11, 16, 10, 30, tzinfo=UTC)  # a Monday
LISBON = ZoneInfo("Europe/Lisbon")
LOS_ANGELES = ZoneInfo("America/Los_Angeles")


def expiry(text: str, zone: ZoneInfo = LISBON, now: datetime = NOW) -> datetime | None:
    term = parse_expiry_phrase(text, now, zone)
    return term.expires_at if term else None


def rest(text: str) -> str | None:
    term = parse_expiry_phrase(text, NOW, LISBON)
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
        ("2 weeks and 3 days", timedelta(days=17)),
        ("1 hour 30 minutes", timedelta(minutes=90)),
        ("a  couple of weeks, two days and 1 hour", timedelta(days=16, hours=1)),
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
    assert expiry("remember for 3 days and a month that x") == NOW.replace(month=12, day=19)


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
        ("Next Friday", day(2026, 11, 27)),
        ("Friday, December 4", day(2026, 12, 4)),
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


@pytest.mark.parametrize(
    ("until", "end"),
    [
        ("2026-12-01T08:00", datetime(2026, 12, 1, 16, tzinfo=UTC)),
        ("2026-12-01 08:00", datetime(2026, 12, 1, 16, tzinfo=UTC)),
        ("2027-01-05T10:00:00Z", datetime(2027, 1, 5, 10, tzinfo=UTC)),
        ("2027-01-05T10:00:00.250z", datetime(2027, 1, 5, 10, 0, 0, 250_000, tzinfo=UTC)),
        ("2027-01-05 10:00 UTC", datetime(2027, 1, 5, 10, tzinfo=UTC)),
        ("2027-01-05T10:00:00+02:00", datetime(2027, 1, 5, 8, tzinfo=UTC)),
        ("2027-01-05T10:00-0830", datetime(2027, 1, 5, 18, 30, tzinfo=UTC)),
        ("5 January 2027 at 10:00", datetime(2027, 1, 5, 18, tzinfo=UTC)),
        ("January 5, 2027, 9:30", datetime(2027, 1, 5, 17, 30, tzinfo=UTC)),
        ("Friday at 5 pm", datetime(2026, 11, 21, 1, tzinfo=UTC)),
        ("tomorrow at 12:15am", datetime(2026, 11, 17, 8, 15, tzinfo=UTC)),
        ("tomorrow noon", datetime(2026, 11, 17, 20, tzinfo=UTC)),
        ("the end of the month at 23:00", datetime(2026, 12, 1, 7, tzinfo=UTC)),
    ],
)
def test_a_time_of_day_ends_it_in_its_own_zone_or_in_the_speakers(
    until: str, end: datetime
) -> None:
    for text in (f"Remember until {until} that x", f"Remember until {until}: x"):
        term = parse_expiry_phrase(text, NOW, LOS_ANGELES)
        assert term is not None
        assert term.expires_at == end
        assert term.text_without_phrase == text.replace(f" until {until}", "")


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
        "Remember that the bread must bake for 2 hours",
        "Remember that the meeting lasts for 2 hours.",
        "Remember: antibiotics for 7 days",
        "Remember that the lease is for 2 years",
        "Remember that Ann is out and the bread bakes for 2 hours",
        "Remember that I'm in Porto every year for 2 weeks",
        "Remember that they pay if the pool is closed for 2 weeks",
        "Remember that I lived there, for 2 weeks",
        "Remember the pool (closed, for 3 days)",
        "remember for 2 weeks and a half that x",
        "remember for a week or two that x",
        "remember until Friday's meeting that x",
        "remember until Friday evening that x",
        "remember until Friday at ten that x",
        "remember until Friday (the 20th) that x",
        "remember until 2027-01-05 10:00 CET that x",
        "remember until 2027-01-05T10:00+99:00 that x",
        "remember until tomorrow at 13 pm that x",
        "remember until 10:00 that x",
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
    assert parse_expiry_phrase(text, NOW, LISBON) is None


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
    assert parse_expiry_phrase(text, NOW, LISBON) is None


@pytest.mark.parametrize(
    ("text", "seems"),
    [
        ("Remember for 10000000 hours that x", True),
        ("Remember for 1.5 days that x", True),
        ("Remember for -1 days that x", True),
        ("Please remember this for half an hour: x", True),
        ("Remember until 2020-01-01 that x", True),
        ("Remember until yesterday that x", True),
        ("Remember until 15/03/2027 that x", True),
        ("Remember that x, until 2020-01-01.", True),
        ("Remember that for 2 weeks I was ill", False),
        ("Remember for 3 people we need eggs", False),
        ("Remember for my day off: sunscreen", False),
        ("Remember until I say so that x", False),
        ("Remember that the bread must bake for 2 hours", False),
        ("I was away for 2 weeks", False),
    ],
)
def test_what_seems_to_be_a_term_is_told_from_what_is_none(text: str, seems: bool) -> None:
    assert parse_expiry_phrase(text, NOW, LISBON) is None
    assert has_likely_expiry(text) is seems


lengths = st.builds(
    "for {} {}{}".format,
    st.sampled_from(["2", "a", "the next two", "1.5", "about 3", "ten", "99999"]),
    st.sampled_from(["weeks", "hour", "days", "months", "parsecs"]),
    st.sampled_from(["", " and 3 days", ", 2 hours", " and a half", " or two", " of work"]),
)
days = st.sampled_from(
    [
        *("2027-01-05", "2027-01-05T10:00", "2027-02-30", "5 January 2027", "Jan 5", "Friday"),
        *("next Friday, 5 March", "tomorrow", "the 20th", "end of the month", "noon"),
    ]
)
clocks = st.sampled_from(
    [
        *("", " at 10:00", ":00Z", " 10:00+02:00", ":00-08:00", " 5 pm", " at 25:00", " evening"),
        *("+02:00", " at ten", " 10:00 CET", "'s end", "-ish", ", 2028", " – Monday", " (early)"),
    ]
)
terms = lengths | st.builds("until {}{}".format, days, clocks)


@given(terms, st.sampled_from(["Remember", "Please remember this", "Don't forget"]))
def test_what_is_taken_out_of_a_text_is_the_whole_phrase(term: str, wish: str) -> None:
    at_start = f"{term[0].upper()}{term[1:]}, remember that x"
    for text, whole in [
        (f"{wish} {term} that x", f"{wish} that x"),
        (f"{wish} {term}: x", f"{wish}: x"),
        (at_start, "Remember that x"),
        (f"{wish} that the code is blue, {term}.", f"{wish} that the code is blue."),
    ]:
        assert rest(text) in (None, whole)


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
    term = parse_expiry_phrase(text, now, LOS_ANGELES)
    assert term is None or (term.expires_at > now and term.expires_at.tzinfo is UTC)
