"""Finds phrases in a text that name a time, and the days that each names.

A phrase is read on its own here. `find_spans` handles the words around it ("since", "between …
and …").
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime

from recollect.domain import cycles
from recollect.domain import timepatterns as patterns
from recollect.domain.cycles import Cycle, Days, shifted


@dataclass(frozen=True, slots=True)
class Phrase:
    """A time and where its words are. One that is not `sure` ("may") counts only together with
    another word."""

    begin: int
    end: int
    when: Days | Cycle
    sure: bool


def find(text: str, now: datetime) -> list[Phrase]:
    """The phrases of a lower-case text, in order. Of overlapping ones the first is used, of those
    that begin at the same place the longest."""
    found = [
        Phrase(*match.span(), when, _is_sure(match))
        for pattern, read in _RULES
        for match in pattern.finditer(text)
        if (when := read(match, now)) is not None
    ]
    return list(_apart(sorted(found, key=lambda phrase: (phrase.begin, -phrase.end))))


def _is_sure(match: re.Match[str]) -> bool:
    """ "May" alone may be a verb; "May 7" is a date."""
    named = match.groupdict()
    return not named.get("unsure") or any(map(named.get, ("day", "after", "year")))


def _apart(phrases: Iterable[Phrase]) -> Iterable[Phrase]:
    end = 0
    for phrase in phrases:
        if phrase.begin >= end:
            end = phrase.end
            yield phrase


_Found = re.Match[str]
_Read = Callable[[_Found, datetime], Days | Cycle | None]


def _read_named_day(match: _Found, now: datetime) -> Days:
    start, length = patterns.NAMED_DAYS[" ".join(match[0].split())]
    first = shifted(now.date(), start)
    return Days(first, shifted(first, length))


def _read_numbers(match: _Found, _: datetime) -> Days | None:
    year, month = int(match["year"]), int(match["month"])
    if match["day"]:
        return cycles.one_day(year, month, int(match["day"]))
    return cycles.months_from(year * 12 + month - 1, 1) if 1 <= month <= 12 else None


def _read_month(match: _Found, now: datetime) -> Days | Cycle | None:
    month, day = _month(match["month"] or match["unsure"]), match["day"] or match["after"]
    cycle = cycles.day_of_year(month, int(day)) if day else cycles.months_of_year(month)
    return _of_year(cycle, match, now)


def _read_season(match: _Found, now: datetime) -> Days | Cycle | None:
    return _of_year(patterns.SEASONS[match["season"] or match["unsure"]], match, now)


def _read_quarter(match: _Found, now: datetime) -> Days | Cycle | None:
    if match["nth"] and not match["year"]:  # "the first quarter" of a game or an hour
        return None
    quarter = int(match["quarter"]) if match["quarter"] else patterns.ORDINALS[match["nth"]]
    return _of_year(cycles.months_of_year(quarter * 3 - 2, 3), match, now)


def _of_year(cycle: Cycle, match: _Found, now: datetime) -> Days | Cycle | None:
    """The cycle's days in the year that the match names; without a year the cycle itself."""
    year = match["year"]
    if year is None:
        return cycle
    return cycle.at(int(year) if year.isdigit() else now.year + patterns.TURNS[year.split()[0]])


def _read_year(match: _Found, _: datetime) -> Days:
    length = 120 if match["decade"] else 12
    return cycles.months_from(int(match["decade"] or match["year"]) * 12, length)


def _read_turn(match: _Found, now: datetime) -> Days | None:
    cycle, turn, today = _cycle(match["cycle"]), patterns.TURNS[match["turn"]], now.date()
    if turn == 0:
        return cycle.current(today)
    return cycle.finished(today) if turn < 0 else cycle.following(today)


def _read_stretch(match: _Found, now: datetime) -> Days:
    """ "Past three weeks" ends with today; "next three weeks" begins today."""
    count = _count(match["count"] or "a")
    ahead = match["turn"] in patterns.AHEAD
    far, tomorrow = _away(now, count if ahead else -count, match["unit"]), shifted(now.date(), 1)
    return Days(now.date(), shifted(far, 1)) if ahead else Days(min(far, now.date()), tomorrow)


def _read_distance(match: _Found, now: datetime) -> Days:
    """ "Two weeks ago": that day and half a week on either side, since such words are not exact."""
    count, unit = _count(match["count"]), match["unit"]
    middle = _away(now, -count if match["way"] in patterns.BACK else count, unit)
    return Days(
        shifted(middle, -patterns.SPREAD_DAYS[unit]),
        shifted(middle, patterns.SPREAD_DAYS[unit] + 1),
    )


def _read_weekday(match: _Found, _: datetime) -> Cycle:
    return _cycle(match["sure"] or match["unsure"])


def _read_day_of_month(match: _Found, _: datetime) -> Cycle:
    return cycles.day_of_month(int(match["unsure"]))


def _cycle(name: str) -> Cycle:
    if name in patterns.CALENDAR:
        return patterns.CALENDAR[name]
    if name[:3] in patterns.WEEKDAYS:
        return cycles.days_of_week(patterns.WEEKDAYS.index(name[:3]))
    return cycles.months_of_year(_month(name))


def _month(name: str) -> int:
    return patterns.MONTHS.index(name[:3]) + 1


def _count(words: str) -> int:
    """The number that "three", "12" or "a couple of" means."""
    if words.isdigit():
        return int(words)
    return next(
        (patterns.COUNTS[word] for word in reversed(words.split()) if word in patterns.COUNTS), 1
    )


def _away(now: datetime, count: int, unit: str) -> date:
    today = now.date()
    if unit in patterns.MONTHS_OF:
        return cycles.months_later(today, count * patterns.MONTHS_OF[unit])
    if unit in patterns.DAYS_OF:
        return shifted(today, count * patterns.DAYS_OF[unit])
    minutes = count * (60 if unit == "hour" else 1)
    return shifted(today, (now.hour * 60 + now.minute + minutes) // (24 * 60))


# All patterns are tried on the whole text; `_drop_overlaps` then keeps the first and longest.
_RULES: tuple[tuple[re.Pattern[str], _Read], ...] = (
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
