"""Calendar arithmetic in whole days, and calendar cycles: weekdays, months, seasons, years.

Results stay within the years 1 to 9999: anything beyond is clamped to the first or last day.
"""

import calendar
from collections.abc import Callable
from dataclasses import dataclass
from datetime import MAXYEAR, date, datetime

# A leap day may be eight years away (1896, then 1904), so a cycle of years is searched that far.
_STEPS_MAX = 9


@dataclass(frozen=True, slots=True)
class DayRange:
    """Consecutive days from `start` up to, but without, `until`."""

    start: date
    until: date


@dataclass(frozen=True, slots=True)
class CalendarCycle:
    """A recurring range of days. `index` gives the number of the round that a day falls into, and
    `at` the days of a round; None if the round has none, as February 29 in most years."""

    index: Callable[[date], int]
    at: Callable[[int], DayRange | None]

    def last_started(self, day: date) -> DayRange | None:
        """The last round that has begun by this day."""
        return self._nearest_round(day, -1, lambda days: days.start <= day)

    def last_finished(self, day: date) -> DayRange | None:
        """The last round that is over on this day."""
        return self._nearest_round(day, -1, lambda days: days.until <= day)

    def first_unfinished(self, day: date) -> DayRange | None:
        """The first round that is not over on this day."""
        # A round may reach into the next year: winter begins in December.
        running = self.last_started(day)
        if running is not None and running.until > day:
            return running
        return self.first_after(day)

    def first_after(self, day: date) -> DayRange | None:
        """The first round that begins after this day."""
        return self._nearest_round(day, 1, lambda days: days.start > day)

    def round_at(self, day: date) -> DayRange | None:
        """The round that contains this day, else the one of the same week, month or year."""
        running = self.last_started(day)
        return running if running and running.until > day else self.at(self.index(day))

    def _nearest_round(
        self, day: date, step: int, fits: Callable[[DayRange], bool]
    ) -> DayRange | None:
        present = self.index(day)
        rounds = (self.at(present + step * turn) for turn in range(_STEPS_MAX))
        return next((days for days in rounds if days and fits(days)), None)


def add_days(day: date, days: int) -> date:
    """The day that many days later, or earlier if negative."""
    return _from_ordinal(day.toordinal() + days)


def add_months(day: date, months: int) -> date:
    """The same day of a later month, or that month's last day if it is shorter."""
    first = _first_of_month(_month_index(day) + months)
    return first.replace(day=min(day.day, calendar.monthrange(first.year, first.month)[1]))


def shift_months(instant: datetime, months: int) -> datetime:
    """The same time of day that many months later, or earlier if negative; the last day of a month
    that is shorter. Raises OverflowError outside of the years 1 to 9999."""
    if not 12 <= _month_index(instant) + months < 12 * (MAXYEAR + 1):
        raise OverflowError("year is out of the calendar")
    day = add_months(instant.date(), months)
    return instant.replace(year=day.year, month=day.month, day=day.day)


def month_range(index: int, months: int) -> DayRange:
    """Whole months; `index` counts them from January of year 0."""
    return DayRange(_first_of_month(index), _first_of_month(index + months))


def single_day(year: int, month: int, day: int) -> DayRange | None:
    """The range of one date; None if there is no such date."""
    try:
        start = date(year, month, day)
    except ValueError:
        return None
    return DayRange(start, add_days(start, 1))


def months_of_year(month: int, length: int = 1) -> CalendarCycle:
    """`length` months of each year, beginning with `month` (1 to 12)."""
    return CalendarCycle(_year_index, lambda year: month_range(year * 12 + month - 1, length))


def day_of_year(month: int, day: int) -> CalendarCycle:
    """A date of each year that has it."""
    return CalendarCycle(_year_index, lambda year: single_day(year, month, day))


def day_of_month(day: int) -> CalendarCycle:
    """A day of each month that has it."""
    return CalendarCycle(_month_index, lambda index: single_day(index // 12, index % 12 + 1, day))


def days_of_week(weekday: int, length: int = 1) -> CalendarCycle:
    """`length` days of each week, beginning with `weekday`; Monday is 0."""

    # Ordinal 1, the first of January of year 1, is a Monday.
    def days_in(week: int) -> DayRange:
        first = week * 7 + weekday + 1
        return DayRange(_from_ordinal(first), _from_ordinal(first + length))

    return CalendarCycle(lambda day: (day.toordinal() - 1) // 7, days_in)


def _year_index(day: date) -> int:
    return day.year


def _month_index(day: date) -> int:
    return day.year * 12 + day.month - 1


def _from_ordinal(ordinal: int) -> date:
    return date.fromordinal(min(max(ordinal, 1), date.max.toordinal()))


def _first_of_month(index: int) -> date:
    year, month = divmod(index, 12)
    if year < 1:
        return date.min
    return date(year, month + 1, 1) if year <= date.max.year else date.max


DAYS = CalendarCycle(
    date.toordinal, lambda day: DayRange(_from_ordinal(day), _from_ordinal(day + 1))
)
WEEKS = days_of_week(0, 7)
WEEKENDS = days_of_week(5, 2)
MONTHS = CalendarCycle(_month_index, lambda index: month_range(index, 1))
QUARTERS = CalendarCycle(
    lambda day: _month_index(day) // 3, lambda quarter: month_range(quarter * 3, 3)
)
YEARS = months_of_year(1, 12)
