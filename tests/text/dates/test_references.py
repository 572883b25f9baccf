"""The times that a question names, and how near to them an instant is."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.dates.durations import EARLIEST
from recollect.text.dates.references import (
    LATEST,
    SPANS_MAX,
    TimeSpan,
    closeness,
    find_spans,
)

NOW = datetime(2026, 11, 16, 10, 30, tzinfo=UTC)  # a Monday

WORDS = """
    yesterday today last this next past week month year Monday on Friday in May march 2025 7 7th the
    15th 2025-05-07 three days ago two weeks summer fall between and since before after until Q1
    from to - , Feb 29 February 30 9999 1990s 0000-00-00 9999-12-31 decades hours of will did
"""
questions = st.text() | st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join)
zones = st.sampled_from(
    [UTC, ZoneInfo("America/Los_Angeles"), ZoneInfo("Pacific/Kiritimati")]
) | st.integers(-23, 23).map(lambda hours: timezone(timedelta(hours=hours)))
instants = st.datetimes(timezones=st.just(UTC))


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def named(query: str, now: datetime = NOW) -> list[tuple[datetime, datetime]]:
    return [(span.start, span.until) for span in find_spans(query, now)]


@pytest.mark.parametrize(
    ("words", "start", "until"),
    [
        ("yesterday", "2026-11-15", "2026-11-16"),
        ("day before yesterday", "2026-11-14", "2026-11-15"),
        ("last night", "2026-11-15", "2026-11-16"),
        ("today", "2026-11-16", "2026-11-17"),
        ("this  morning", "2026-11-16", "2026-11-17"),
        ("tomorrow", "2026-11-17", "2026-11-18"),
        ("other day", "2026-11-09", "2026-11-16"),
        ("last week", "2026-11-09", "2026-11-16"),
        ("this week", "2026-11-16", "2026-11-23"),
        ("next week", "2026-11-23", "2026-11-30"),
        ("last month", "2026-10-01", "2026-11-01"),
        ("last quarter", "2026-07-01", "2026-10-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("last Monday", "2026-11-09", "2026-11-10"),
        ("on Monday", "2026-11-16", "2026-11-17"),
        ("on Friday", "2026-11-13", "2026-11-14"),
        ("on Tue", "2026-11-10", "2026-11-11"),
        ("next Friday", "2026-11-20", "2026-11-21"),
        ("this Friday", "2026-11-20", "2026-11-21"),
        ("over the weekend", "2026-11-14", "2026-11-16"),
        ("in May", "2026-05-01", "2026-06-01"),
        ("in November", "2026-11-01", "2026-12-01"),
        ("in December", "2025-12-01", "2026-01-01"),
        ("late May", "2026-05-01", "2026-06-01"),
        ("in May 2025", "2025-05-01", "2025-06-01"),
        ("May of last year", "2025-05-01", "2025-06-01"),
        ("last May", "2026-05-01", "2026-06-01"),
        ("May 7", "2026-05-07", "2026-05-08"),
        ("Dec. 7", "2025-12-07", "2025-12-08"),
        ("March 3rd, 2024", "2024-03-03", "2024-03-04"),
        ("7 May 2025", "2025-05-07", "2025-05-08"),
        ("7th of May", "2026-05-07", "2026-05-08"),
        ("Feb 29", "2024-02-29", "2024-03-01"),
        ("2025-05-07", "2025-05-07", "2025-05-08"),
        ("2025/5/7", "2025-05-07", "2025-05-08"),
        ("2025-05", "2025-05-01", "2025-06-01"),
        ("in 2024", "2024-01-01", "2025-01-01"),
        ("in the 1990s", "1990-01-01", "2000-01-01"),
        ("three days ago", "2026-11-13", "2026-11-14"),
        ("11 hours ago", "2026-11-15", "2026-11-16"),
        ("two weeks ago", "2026-10-30", "2026-11-06"),
        ("a couple of months ago", "2026-09-01", "2026-10-02"),
        ("in three days", "2026-11-19", "2026-11-20"),
        ("past week", "2026-11-09", "2026-11-17"),
        ("past 3 months", "2026-08-16", "2026-11-17"),
        ("last ten days", "2026-11-06", "2026-11-17"),
        ("next 3 days", "2026-11-16", "2026-11-20"),
        ("last summer", "2026-06-01", "2026-09-01"),
        ("last fall", "2025-09-01", "2025-12-01"),
        ("this winter", "2026-12-01", "2027-03-01"),
        ("summer of 2023", "2023-06-01", "2023-09-01"),
        ("on the 15th", "2026-11-15", "2026-11-16"),
        ("on the 31st", "2026-10-31", "2026-11-01"),
        ("between March and May", "2026-03-01", "2026-06-01"),
        ("between November and February", "2025-11-01", "2026-03-01"),
        ("between May 2025 and August", "2025-05-01", "2025-09-01"),
        ("between March and May 2024", "2024-03-01", "2024-06-01"),
        ("from Monday to Friday", "2026-11-09", "2026-11-14"),
        ("2020-2024", "2020-01-01", "2025-01-01"),
        ("since June", "2026-06-01", "2026-11-17"),
        ("since last Monday", "2026-11-09", "2026-11-17"),
        ("Q1", "2026-01-01", "2026-04-01"),
        ("Q1 2025", "2025-01-01", "2025-04-01"),
        ("first quarter of 2024", "2024-01-01", "2024-04-01"),
        ("last Christmas", "2025-12-25", "2025-12-26"),
    ],
)
def test_words_for_a_time_are_read(words: str, start: str, until: str) -> None:
    query = f"What did we do {words}?"
    (span,) = find_spans(query, NOW)
    assert (span.start, span.until) == (at(start), at(until))
    assert query[slice(*span.words)] == words
    assert named(query.upper()) == named(query)


@pytest.mark.parametrize(
    ("query", "start", "until"),
    [
        ("before 2024", EARLIEST, at("2024-01-01")),
        ("until Friday", EARLIEST, at("2026-11-14")),
        ("by the end of May", EARLIEST, at("2026-06-01")),
        ("after 2024", at("2025-01-01"), LATEST),
    ],
)
def test_before_and_after_are_open_on_one_side(
    query: str, start: datetime, until: datetime
) -> None:
    assert find_spans(query, NOW) == (TimeSpan(start, until, (0, len(query))),)


@pytest.mark.parametrize(
    ("query", "start"),
    [
        ("What will I do in May?", "2027-05-01"),
        ("What are my plans for November?", "2026-11-01"),
        ("I'll see whom on Friday?", "2026-11-20"),
        ("What did Will say in May?", "2026-05-01"),
        ("Which plans were made in May?", "2026-05-01"),
        ("Which plans since December?", "2025-12-01"),
    ],
)
def test_a_question_about_the_future_means_the_next_one(query: str, start: str) -> None:
    assert [begin for begin, _ in named(query)] == [at(start)]


@pytest.mark.parametrize(
    "query",
    [
        "",
        "May I march? This may be a fall.",
        "in the sun she sat",
        "on the 15th floor in the 20th century",
        "April's dog and the first quarter of the game",
        "costs $2000, 2000.50, 2000%, A2000, 2024-25 and 2024-13-01",
        "February 30, 32 May and 2025-02-29",
        "after February 30 and since February 30",
        "how often in a week, on Mondays",
        "gestern, le 7 mai, 昨日",
        "since tomorrow, from 2024 to 2020",
    ],
)
def test_other_words_name_no_time(query: str) -> None:
    assert named(query) == []


def test_several_times_are_told_in_the_order_of_their_words() -> None:
    found = named("Was it yesterday, in May or on 2025-05-07?")
    assert [start for start, _ in found] == [at("2026-11-15"), at("2026-05-01"), at("2025-05-07")]


def test_days_begin_at_midnight_of_the_zone() -> None:
    west = ZoneInfo("America/Los_Angeles")
    late = datetime(2026, 2, 11, 23, 30, tzinfo=west).astimezone(UTC)
    (span,) = find_spans("dentist tomorrow", late, west)
    assert (span.start, span.until) == (at("2026-02-12T08:00"), at("2026-02-13T08:00"))


def test_a_day_on_which_clocks_change_has_23_hours() -> None:
    (span,) = find_spans("on 2026-03-08", NOW, ZoneInfo("America/Los_Angeles"))
    assert span.until - span.start == timedelta(hours=23)


def test_a_day_that_a_zone_skipped_names_no_time() -> None:
    assert find_spans("on 2011-12-30", NOW, ZoneInfo("Pacific/Apia")) == ()


def test_a_winter_that_began_last_year_is_this_winter() -> None:
    january = at("2026-01-10")
    assert named("this winter", january) == [(at("2025-12-01"), at("2026-03-01"))]
    assert named("last winter", january) == [(at("2024-12-01"), at("2025-03-01"))]


def test_of_very_many_times_only_the_first_are_told() -> None:
    assert len(named("yesterday " * 1000)) == SPANS_MAX


@given(questions, instants, zones)
def test_any_text_at_any_time_gives_spans_of_its_own_words(
    query: str, now: datetime, zone: timezone | ZoneInfo
) -> None:
    found = find_spans(query, now, zone)
    places = [place for span in found for place in span.words]
    assert places == sorted(places)
    assert all(0 <= place <= len(query) for place in places)
    assert all(span.start < span.until for span in found)
    assert all(span.start.tzinfo is span.until.tzinfo is UTC for span in found)
    assert find_spans(query, now, zone) == found


WEEK = TimeSpan(at("2026-11-09"), at("2026-11-16"), (0, 9))


def test_closeness_is_one_inside_and_halves_with_half_the_length_outside() -> None:
    assert closeness([WEEK], at("2026-11-09")) == 1
    assert closeness([WEEK], at("2026-11-15T23:59:59")) == 1
    assert 0.99 < closeness([WEEK], WEEK.until) < 1
    assert closeness([WEEK], at("2026-11-05T12:00")) == pytest.approx(0.5)
    assert closeness([WEEK], at("2026-11-19T12:00")) == pytest.approx(0.5)


def test_closeness_to_a_single_day_halves_in_a_day() -> None:
    assert closeness(find_spans("yesterday", NOW), at("2026-11-18")) == pytest.approx(0.25)


def test_closeness_to_a_time_open_on_one_side_ends_where_its_words_say() -> None:
    before = find_spans("before 2024", NOW)
    assert closeness(before, at("1999-01-01")) == 1
    assert closeness(before, at("2024-01-02")) == pytest.approx(0.5)


def test_closeness_is_that_of_the_nearest_span_and_zero_without_any() -> None:
    far = TimeSpan(at("2020-01-01"), at("2020-01-02"), (0, 1))
    assert closeness([far, WEEK], at("2026-11-10")) == 1
    assert closeness([], NOW) == 0


@given(instants, instants, instants)
def test_closeness_never_grows_with_distance(a: datetime, b: datetime, c: datetime) -> None:
    inside, near, far = sorted([a, b, c])
    span = TimeSpan(inside, inside + timedelta(days=1), (0, 1)) if inside.year < 9999 else WEEK
    if near >= span.until:
        assert 0 <= closeness([span], far) <= closeness([span], near) < 1
