"""ISO-8601 durations, and calendar arithmetic with them."""

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from recollect.text.dates.calendar import shift_months

CHARS_MAX = 100
EARLIEST = datetime.min.replace(tzinfo=UTC)

# A fraction is allowed in the last component only: a unit and the end of the text must follow.
_NUMBER = r"[0-9]+(?:[.,][0-9]+(?=[A-Z]\Z))?"
_DATE = "".join(rf"(?:({_NUMBER}){unit})?" for unit in "YMWD")
_TIME = "".join(rf"(?:({_NUMBER}){unit})?" for unit in "HMS")
_DURATION = re.compile(rf"P(?=.){_DATE}(?:T(?=.){_TIME})?")

_MICROSECOND = timedelta(microseconds=1)
_MONTHS = (12, 1)
_MICROS = tuple(seconds * 10**6 for seconds in (7 * 86_400, 86_400, 3_600, 60, 1))
_MICROS_OF_MONTH = 30 * 86_400 * 10**6


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time above zero: whole months, and the rest in microseconds."""

    months: int
    microseconds: int

    def subtract_from(self, instant: datetime) -> datetime:
        """The instant this long before `instant`, in UTC. Months are subtracted first.

        If the month is shorter, its last day is used. Anything before year 1 becomes the beginning
        of year 1.
        """
        try:
            start = shift_months(instant.astimezone(UTC), -self.months)
        except OverflowError:
            return EARLIEST
        if self.microseconds > (start - EARLIEST) // _MICROSECOND:
            return EARLIEST
        return start - timedelta(microseconds=self.microseconds)


def parse_duration(text: str) -> Duration:
    """Parse an ISO-8601 duration such as `P1Y2M10DT2H30M`, `P1W` or `PT0.5S`.

    Weeks may be combined with other components. The last component may have a decimal fraction,
    with point or comma. A fraction of a month counts as that share of 30 days, and fractions of a
    microsecond are rounded up. Raises ValueError for anything else, zero and signs included.
    """
    match = _DURATION.fullmatch(text) if len(text) <= CHARS_MAX else None
    if match is None:
        raise ValueError("must be an ISO-8601 duration such as P90D, P1Y6M or PT36H")
    duration = _to_duration(
        [Fraction((number or "0").replace(",", ".")) for number in match.groups()]
    )
    if duration == Duration(0, 0):
        raise ValueError("must be a duration above zero")
    return duration


def _to_duration(amounts: list[Fraction]) -> Duration:
    months = sum(amount * unit for amount, unit in zip(amounts[:2], _MONTHS, strict=True))
    micros = sum(amount * unit for amount, unit in zip(amounts[2:], _MICROS, strict=True))
    # A fraction of a month can't be a calendar step, so it becomes a share of 30 days.
    whole = math.floor(months)
    return Duration(whole, math.ceil(micros + (months - whole) * _MICROS_OF_MONTH))
