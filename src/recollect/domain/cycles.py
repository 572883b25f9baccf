"""Calendar arithmetic in whole days, and calendar cycles: weekdays, months, seasons, years.

Results stay within the years 1 to 9999: anything beyond is clamped to the first or last day.
"""

import calendar
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

# A leap day may be eight years away (1896, then 1904), so a cycle of years is searched that far.
_STEPS_MAX = 9


@dataclass(frozen=True, slots=True)
class Days:
    """Consecutive days from `start` up to, but without, `until`."""

    start: date
    until: date


@dataclass(frozen=True, slots=True)
class Cycle:
    """A recurring range of days. `index` gives the number of the round that a day falls into, and
    `at` the days of a round; None if the round has none, as February 29 in most years."""

    index: Callable[[date], int]
    at: Callable[[int], Days | None]

    def latest(self, day: date) -> Days | None:
        """The last round that has begun by this day."""
        return self._nearest(day, -1, lambda days: days.start <= day)

    def finished(self, day: date) -> Days | None:
        """The last round that is over on this day."""
        return self._nearest(day, -1, lambda days: days.until <= day)

    def upcoming(self, day: date) -> Days | None:
        """The first round that is not over on this day."""
        # A round may reach into the next year: winter begins in December.
        running = self.latest(day)
        if running is not None and running.until > day:
            return running
        return self.following(day)

    def following(self, day: date) -> Days | None:
        """The first round that begins after this day."""
        return self._nearest(day, 1, lambda days: days.start > day)

    def current(self, day: date) -> Days | None:
        """The round that contains this day, else the one of the same week, month or year."""
        running = self.latest(day)
        return running if running and running.until > day else self.at(self.index(day))

    def _nearest(self, day: date, step: int, fits: Callable[[Days], bool]) -> Days | None:
        present = self.index(day)
        rounds = (self.at(present + step * turn) for turn in range(_STEPS_MAX))
        return next((days for days in rounds if days and fits(days)), None)


def shifted(day: date, days: int) -> date:
    """The day that many days later, or earlier if negative."""
    return _from_ordinal(day.toordinal() + days)


def months_later(day: date, months: int) -> date:
    """The same day of a later month, or that month's last day if it is shorter."""
    first = _first_of(_month_index(day) + months)
    return first.replace(day=min(day.day, calendar.monthrange(first.year, first.month)[1]))


def months_from(index: int, months: int) -> Days:
    """Whole months; `index` counts them from January of year 0."""
    return Days(_first_of(index), _first_of(index + months))


def one_day(year: int, month: int, day: int) -> Days | None:
    """The range of one date; None if there is no such date."""
    try:
        start = date(year, month, day)
    except ValueError:
        return None
    return Days(start, shifted(start, 1))


def months_of_year(month: int, length: int = 1) -> Cycle:
    """`length` months of each year, beginning with `month` (1 to 12)."""
    return Cycle(_year, lambda year: months_from(year * 12 + month - 1, length))


def day_of_year(month: int, day: int) -> Cycle:
    """A date of each year that has it."""
    return Cycle(_year, lambda year: one_day(year, month, day))


def day_of_month(day: int) -> Cycle:
    """A day of each month that has it."""
    return Cycle(_month_index, lambda index: one_day(index // 12, index % 12 + 1, day))


def days_of_week(weekday: int, length: int = 1) -> Cycle:
    """`length` days of each week, beginning with `weekday`; Monday is 0."""

    # Ordinal 1, the first of January of year 1, is a Monday.
    def at(week: int) -> Days:
        first = week * 7 + weekday + 1
        return Days(_from_ordinal(first), _from_ordinal(first + length))

    return Cycle(lambda day: (day.toordinal() - 1) // 7, at)


def _year(day: date) -> int:
    return day.year


def _month_index(day: date) -> int:
    return day.year * 12 + day.month - 1


def _from_ordinal(ordinal: int) -> date:
    return date.fromordinal(min(max(ordinal, 1), date.max.toordinal()))


def _first_of(index: int) -> date:
    year, month = divmod(index, 12)
    if year < 1:
        return date.min
    return date(year, month + 1, 1) if year <= date.max.year else date.max


WEEKS = days_of_week(0, 7)
WEEKENDS = days_of_week(5, 2)
MONTHS = Cycle(_month_index, lambda index: months_from(index, 1))
QUARTERS = Cycle(lambda day: _month_index(day) // 3, lambda quarter: months_from(quarter * 3, 3))
YEARS = months_of_year(1, 12)
