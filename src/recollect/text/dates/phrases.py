"""Finds phrases in a text that name a time, and the days that each names.

A phrase is read on its own here. `find_spans` handles the words around it ("since", "between …
and …").
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime

from recollect.text.dates import calendar, patterns
from recollect.text.dates.calendar import CalendarCycle, DayRange, add_days


@dataclass(frozen=True, slots=True)
class TimePhrase:
    """A time and where its words are. One that is not `sure` ("may") counts only together with
    another word."""

    begin: int
    end: int
    when: DayRange | CalendarCycle
    sure: bool


def find_phrases(text: str, now: datetime) -> list[TimePhrase]:
    """The phrases of a lower-case text, in order. Of overlapping ones the first is used, of those
    that begin at the same place the longest."""
    found = [
        TimePhrase(*match.span(), when, _is_sure(match))
        for pattern, read in _RULES
        for match in pattern.finditer(text)
        if (when := read(match, now)) is not None
    ]
    return list(_drop_overlaps(sorted(found, key=lambda phrase: (phrase.begin, -phrase.end))))


def _is_sure(match: re.Match[str]) -> bool:
    """ "May" alone may be a verb; "May 7" is a date."""
    named = match.groupdict()
    return not named.get("unsure") or any(map(named.get, ("day", "after", "year")))


def _drop_overlaps(phrases: Iterable[TimePhrase]) -> Iterable[TimePhrase]:
    end = 0
    for phrase in phrases:
        if phrase.begin >= end:
            end = phrase.end
            yield phrase


_TimeMatch = re.Match[str]
_PhraseReader = Callable[[_TimeMatch, datetime], DayRange | CalendarCycle | None]


def _read_named_day(match: _TimeMatch, now: datetime) -> DayRange:
    start, length = patterns.NAMED_DAYS[" ".join(match[0].split())]
    first = add_days(now.date(), start)
    return DayRange(first, add_days(first, length))


def _read_numbers(match: _TimeMatch, _: datetime) -> DayRange | None:
    year, month = int(match["year"]), int(match["month"])
    if match["day"]:
        return calendar.single_day(year, month, int(match["day"]))
    return calendar.month_range(year * 12 + month - 1, 1) if 1 <= month <= 12 else None


def _read_month(match: _TimeMatch, now: datetime) -> DayRange | CalendarCycle | None:
    month, day = (
        patterns.month_number(match["month"] or match["unsure"]),
        match["day"] or match["after"],
    )
    cycle = calendar.day_of_year(month, int(day)) if day else calendar.months_of_year(month)
    return _in_year(cycle, match, now)


def _read_season(match: _TimeMatch, now: datetime) -> DayRange | CalendarCycle | None:
    return _in_year(patterns.SEASONS[match["season"] or match["unsure"]], match, now)


def _read_quarter(match: _TimeMatch, now: datetime) -> DayRange | CalendarCycle | None:
    if match["nth"] and not match["year"]:  # "the first quarter" of a game or an hour
        return None
    quarter = int(match["quarter"]) if match["quarter"] else patterns.ORDINALS[match["nth"]]
    return _in_year(calendar.months_of_year(quarter * 3 - 2, 3), match, now)


def _in_year(
    cycle: CalendarCycle, match: _TimeMatch, now: datetime
) -> DayRange | CalendarCycle | None:
    """The cycle's days in the year that the match names; without a year the cycle itself."""
    year = match["year"]
    if year is None:
        return cycle
    return cycle.at(int(year) if year.isdigit() else now.year + patterns.TURNS[year.split()[0]])


def _read_year(match: _TimeMatch, _: datetime) -> DayRange:
    length = 120 if match["decade"] else 12
    return calendar.month_range(int(match["decade"] or match["year"]) * 12, length)


def _read_turn(match: _TimeMatch, now: datetime) -> DayRange | None:
    cycle, turn, today = (
        patterns.named_cycle(match["cycle"]),
        patterns.TURNS[match["turn"]],
        now.date(),
    )
    if turn == 0:
        return cycle.round_at(today)
    return cycle.last_finished(today) if turn < 0 else cycle.first_after(today)


def _read_stretch(match: _TimeMatch, now: datetime) -> DayRange:
    """ "Past three weeks" ends with today; "next three weeks" begins today."""
    count = _parse_count(match["count"] or "a")
    ahead = match["turn"] in patterns.AHEAD
    far, tomorrow = (
        _day_at_distance(now, count if ahead else -count, match["unit"]),
        add_days(now.date(), 1),
    )
    return (
        DayRange(now.date(), add_days(far, 1))
        if ahead
        else DayRange(min(far, now.date()), tomorrow)
    )


def _read_distance(match: _TimeMatch, now: datetime) -> DayRange:
    """ "Two weeks ago": that day and half a week on either side, since such words are not exact."""
    count, unit = _parse_count(match["count"]), match["unit"]
    middle = _day_at_distance(now, -count if match["way"] in patterns.BACK else count, unit)
    return DayRange(
        add_days(middle, -patterns.SPREAD_DAYS[unit]),
        add_days(middle, patterns.SPREAD_DAYS[unit] + 1),
    )


def _read_weekday(match: _TimeMatch, _: datetime) -> CalendarCycle:
    return patterns.named_cycle(match["sure"] or match["unsure"])


def _read_day_of_month(match: _TimeMatch, _: datetime) -> CalendarCycle:
    return calendar.day_of_month(int(match["unsure"]))


def _parse_count(words: str) -> int:
    """The number that "three", "12" or "a couple of" means."""
    if words.isdigit():
        return int(words)
    return next(
        (patterns.COUNTS[word] for word in reversed(words.split()) if word in patterns.COUNTS), 1
    )


def _day_at_distance(now: datetime, count: int, unit: str) -> date:
    today = now.date()
    if unit in patterns.MONTHS_OF:
        return calendar.add_months(today, count * patterns.MONTHS_OF[unit])
    if unit in patterns.DAYS_OF:
        return add_days(today, count * patterns.DAYS_OF[unit])
    minutes = count * (60 if unit == "hour" else 1)
    return add_days(today, (now.hour * 60 + now.minute + minutes) // (24 * 60))


# All patterns are tried on the whole text; `_drop_overlaps` then keeps the first and longest.
_RULES: tuple[tuple[re.Pattern[str], _PhraseReader], ...] = (
    (patterns.NAMED_DAY, _read_named_day),
    (patterns.NUMBERS, _read_numbers),
    (patterns.MONTH, _read_month),
    (patterns.SEASON, _read_season),
    (patterns.QUARTER, _read_quarter),
    (patterns.YEAR, _read_year),
    (patterns.STRETCH, _read_stretch),
    (patterns.TURN, _read_turn),
    (patterns.DISTANCE, _read_distance),
    (patterns.DISTANCE_AHEAD, _read_distance),
    (patterns.WEEKDAY, _read_weekday),
    (patterns.DAY_OF_MONTH, _read_day_of_month),
)
