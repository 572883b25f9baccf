"""Parses the date or instant in "until …", with calendar arithmetic in the speaker's time zone.

Words and calendar are those of `patterns` and `calendar`; the grammar is stricter. `find_phrases`
takes from a question whatever it can read, and a wrong guess costs some rank. An expiry that is
misread deletes a memory, so a date is read as a whole or not at all.
"""

import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo

from recollect.text.dates import calendar, patterns
from recollect.text.dates.calendar import DayRange, add_days
from recollect.text.dates.patterns import MONTH_WORD, NTH, WEEKDAY_WORD

_HOURS_OF_HALF = 12


def end_of_date(found: re.Match[str], local: datetime) -> datetime | None:
    """The instant, in UTC, at which the date in a match of `DATE` is over; None if there is no
    such date.

    A date with a time of day is that instant, in the time zone given with it, or else in the
    speaker's.
    """
    days = _named_days(found, local.date())
    # The calendar is clamped: days that end with its last day may end later.
    if days is None or days.until == date.max:
        return None
    if not found["clock"]:
        return datetime.combine(days.until, time(), local.tzinfo).astimezone(UTC)
    try:
        zone = _parse_offset(found["offset"]) if found["offset"] else local.tzinfo
        clock = _parse_clock(found["clock"].lower())
        return datetime.combine(add_days(days.until, -1), clock, zone).astimezone(UTC)
    except ValueError:
        return None


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


def _named_days(found: re.Match[str], today: date) -> DayRange | None:
    """The days that the date names; None if there are no such days."""
    if found["iso"]:
        return calendar.single_day(*map(int, found["iso"].split("-")))
    if found["word"]:
        first = add_days(today, patterns.NAMED_DAYS[found["word"].lower()][0])
        return DayRange(first, add_days(first, 1))
    if found["weekday"]:
        cycle = patterns.named_cycle(found["weekday"].lower())
        if (found["which"] or "").strip().lower() != "next":
            return cycle.first_after(today)
        next_week = calendar.WEEKS.first_after(today)
        return cycle.first_unfinished(next_week.start) if next_week else None
    if found["period"]:
        period = found["period"].lower()
        cycle = calendar.DAYS if period == "day" else patterns.named_cycle(period)
        return cycle.first_after(today) if found["next"] else cycle.round_at(today)
    year = found["month_year"] or found["year"] or found["year_after"]
    month, day = found["month_end"] or found["month"] or found["month_after"], None
    if not found["month_end"]:
        day = int(found["day"] or found["day_first"] or found["day_alone"])
    if month is None:
        cycle = calendar.day_of_month(day or 1)
    elif day is None:
        cycle = patterns.named_cycle(month.lower())
    else:
        cycle = calendar.day_of_year(patterns.month_number(month.lower()), day)
    # Without a year the next such days are meant: the first that exist and are not over.
    return cycle.at(int(year)) if year else cycle.first_unfinished(today)


_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_CLOCK = (
    r"(?P<clock>noon|\d{1,2}(?::\d\d){1,2}(?:\.\d{1,6})?(?:(?: )?[ap]m\b)?|\d{1,2}(?: )?[ap]m\b)"
    r"(?:(?: )?(?P<offset>z\b|utc\b|gmt\b|[+-]\d\d(?::?\d\d)?))?"
)
DAY_WORDS = rf"(?:today|tonight|tomorrow|{WEEKDAY_WORD}|{MONTH_WORD})"
"""A pattern for words that name a day. Use it with IGNORECASE."""
DATE = "".join(
    (
        r"(?:(?P<iso>\d{4}-\d\d-\d\d)",
        r"|(?P<word>today|tonight|tomorrow)",
        rf"|(?P<which>next |this |coming )?(?P<weekday>{WEEKDAY_WORD})",
        r"|(?:the )?end of (?:(?:the|this) |(?P<next>next ))?(?P<period>day|week|month|year)",
        rf"|(?:the )?end of (?P<month_end>{MONTH_WORD})(?: (?P<month_year>\d{{4}}))?",
        rf"|(?:{WEEKDAY_WORD},? )?(?:",
        rf"(?:the )?(?P<day_first>{_DAY}){NTH}? (?:of )?(?P<month_after>{MONTH_WORD})",
        r"(?:,? (?P<year_after>\d{4}))?",
        rf"|(?P<month>{MONTH_WORD}) (?:the )?(?P<day>{_DAY}){NTH}?(?:,? (?P<year>\d{{4}}))?",
        rf"|the (?P<day_alone>{_DAY}){NTH}))",
        rf"(?:(?:t|,? (?:at )?){_CLOCK})?",
        r"(?![\w/+]|[:.]\d)",
    )
)
"""A pattern for a date, perhaps with a time of day. Use it with IGNORECASE."""
