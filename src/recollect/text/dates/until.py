"""Parses the date or instant in "until …", with calendar arithmetic in the speaker's time zone."""

import calendar
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo

_LEAP_YEARS_APART_MAX = 8
_HOURS_OF_HALF = 12


def end_of_date(found: re.Match[str], local: datetime) -> datetime | None:
    """The instant, in UTC, at which the date in a match of `DATE` is over; None if there is no
    such date.

    A date with a time of day is that instant, in the time zone given with it, or else in the
    speaker's.
    """
    last = _last_day(found, local.date())
    if last is None:
        return None
    if not found["clock"]:
        return _day_start(last + timedelta(days=1), local)
    try:
        zone = _parse_offset(found["offset"]) if found["offset"] else local.tzinfo
        return datetime.combine(last, _parse_clock(found["clock"].lower()), zone).astimezone(UTC)
    except ValueError:
        return None


def months_after(local: datetime, months: int) -> datetime:
    """The same time of day that many months later, in UTC. Raises OverflowError past year 9999."""
    year, month = divmod(local.year * 12 + local.month - 1 + months, 12)
    day = _month_end(year, month + 1)
    return local.replace(year=year, month=month + 1, day=min(day.day, local.day)).astimezone(UTC)


def _parse_clock(written: str) -> time:
    """Parse "10:00", "22:15:30.5", "5 pm" or "noon". Raises ValueError if there is no such time."""
    if written == "noon":
        return time(12)
    if written[-1] != "m":
        hour, rest = written.split(":", 1)
        return time.fromisoformat(f"{hour:0>2}:{rest}")
    hour, _, minutes = written[:-2].rstrip().partition(":")
    if not 1 <= int(hour) <= _HOURS_OF_HALF:
        raise ValueError("an hour of half a day is from 1 to 12")
    begins = _HOURS_OF_HALF if written[-2] == "p" else 0
    return time.fromisoformat(f"{int(hour) % _HOURS_OF_HALF + begins:02}:{minutes or '00'}")


def _parse_offset(written: str) -> tzinfo:
    if written[0] not in "+-":
        return UTC
    digits = written[1:].replace(":", "").ljust(4, "0")
    ahead = time.fromisoformat(f"{digits[:2]}:{digits[2:]}")
    length = timedelta(hours=ahead.hour, minutes=ahead.minute)
    return timezone(length if written[0] == "+" else -length)


def _day_start(day: date, local: datetime) -> datetime:
    return datetime.combine(day, time(), local.tzinfo).astimezone(UTC)


def _last_day(found: re.Match[str], today: date) -> date | None:
    if found["iso"]:
        return _calendar_day(*map(int, found["iso"].split("-")))
    if found["word"]:
        return today + timedelta(days=found["word"].lower() == "tomorrow")
    if found["weekday"]:
        which = (found["which"] or "").strip().lower()
        return _weekday_date(found["weekday"], today, of_next_week=which == "next")
    if found["period"]:
        return _period_end(found["period"].lower(), today, next_one=bool(found["next"]))
    if found["month_end"]:
        return _named_month_end(found["month_end"], found["month_year"], today)
    return _named_day(found, today)


def _calendar_day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _weekday_date(name: str, today: date, *, of_next_week: bool) -> date:
    number = _WEEKDAYS.index(name.lower()[:3])
    if of_next_week:
        return today + timedelta(days=7 - today.weekday() + number)
    return today + timedelta(days=(number - today.weekday() - 1) % 7 + 1)


def _period_end(period: str, today: date, *, next_one: bool) -> date:
    if period == "day":
        return today + timedelta(days=next_one)
    if period == "week":
        return today + timedelta(days=6 - today.weekday() + 7 * next_one)
    if period == "year":
        return _month_end(today.year + next_one, 12)
    year, month = divmod(today.year * 12 + today.month - 1 + next_one, 12)
    return _month_end(year, month + 1)


def _named_month_end(name: str, year: str | None, today: date) -> date:
    month = _month_number(name)
    if year:
        return _month_end(int(year), month)
    return _month_end(today.year + (month < today.month), month)


def _named_day(found: re.Match[str], today: date) -> date | None:
    day = int(found["day"] or found["day_first"] or found["day_alone"])
    name = found["month"] or found["month_after"]
    year = found["year"] or found["year_after"]
    if year:
        return _calendar_day(int(year), _month_number(name), day)
    # Without a year the next such day is meant: the first in the coming months or years that exists
    # and is not over.
    months = _coming_months(today) if name is None else _coming_years(_month_number(name), today)
    days = (_calendar_day(at_year, month, day) for at_year, month in months)
    return next((at for at in days if at and at >= today), None)


def _coming_months(today: date) -> Iterator[tuple[int, int]]:
    for month in range(today.month - 1, today.month + 2):
        yield today.year + month // 12, month % 12 + 1


def _coming_years(month: int, today: date) -> Iterator[tuple[int, int]]:
    for year in range(today.year, today.year + _LEAP_YEARS_APART_MAX + 1):
        yield year, month


def _month_end(year: int, month: int) -> date:
    if not 1 <= year <= 9999:
        raise OverflowError("year is out of the calendar")
    return date(year, month, calendar.monthrange(year, month)[1])


def _month_number(name: str) -> int:
    return _MONTHS.index(name.lower()[:3]) + 1


_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS = (*("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_NTH = r"(?:st|nd|rd|th)"
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_CLOCK = (
    r"(?P<clock>noon|\d{1,2}(?::\d\d){1,2}(?:\.\d{1,6})?(?:(?: )?[ap]m\b)?|\d{1,2}(?: )?[ap]m\b)"
    r"(?:(?: )?(?P<offset>z\b|utc\b|gmt\b|[+-]\d\d(?::?\d\d)?))?"
)
DAY_WORDS = rf"(?:today|tonight|tomorrow|{_WEEKDAY}|{_MONTH})"
"""A pattern for words that name a day. Use it with IGNORECASE."""
DATE = "".join(
    (
        r"(?:(?P<iso>\d{4}-\d\d-\d\d)",
        r"|(?P<word>today|tonight|tomorrow)",
        rf"|(?P<which>next |this |coming )?(?P<weekday>{_WEEKDAY})",
        r"|(?:the )?end of (?:(?:the|this) |(?P<next>next ))?(?P<period>day|week|month|year)",
        rf"|(?:the )?end of (?P<month_end>{_MONTH})(?: (?P<month_year>\d{{4}}))?",
        rf"|(?:{_WEEKDAY},? )?(?:",
        rf"(?:the )?(?P<day_first>{_DAY}){_NTH}? (?:of )?(?P<month_after>{_MONTH})",
        r"(?:,? (?P<year_after>\d{4}))?",
        rf"|(?P<month>{_MONTH}) (?:the )?(?P<day>{_DAY}){_NTH}?(?:,? (?P<year>\d{{4}}))?",
        rf"|the (?P<day_alone>{_DAY}){_NTH}))",
        rf"(?:(?:t|,? (?:at )?){_CLOCK})?",
        r"(?![\w/+]|[:.]\d)",
    )
)
"""A pattern for a date, perhaps with a time of day. Use it with IGNORECASE."""
