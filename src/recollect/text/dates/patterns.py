"""English words for times, and regular expressions for the phrases made of them.

Patterns expect lower-case text. Every repetition is bounded, so a search takes linear time. A group
`unsure` matches a word that means a time only together with another one: "may", "fall", "wed".
"""

import re
from collections.abc import Iterable

from recollect.text import english
from recollect.text.dates import calendar


def _one_of(words: Iterable[str]) -> str:
    # Longest first, because the first alternative that matches wins: "sept" before "sep".
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}
NUMBER_WORDS = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
}
COUNTS = NUMBER_WORDS | {"couple": 2, "few": 3, "several": 4}
NAMED_DAYS = {
    "day before yesterday": (-2, 1),
    "yesterday": (-1, 1),
    "last night": (-1, 1),
    "today": (0, 1),
    "tonight": (0, 1),
    "this morning": (0, 1),
    "this afternoon": (0, 1),
    "this evening": (0, 1),
    "tomorrow": (1, 1),
    "day after tomorrow": (2, 1),
    "other day": (-7, 7),
}
# Meteorological seasons of the northern hemisphere, in whole months.
SEASONS = {
    "spring": calendar.months_of_year(3, 3),
    "summer": calendar.months_of_year(6, 3),
    "autumn": calendar.months_of_year(9, 3),
    "fall": calendar.months_of_year(9, 3),
    "winter": calendar.months_of_year(12, 3),
    "christmas": calendar.day_of_year(12, 25),
    "halloween": calendar.day_of_year(10, 31),
}
CALENDAR = SEASONS | {
    "week": calendar.WEEKS,
    "weekend": calendar.WEEKENDS,
    "month": calendar.MONTHS,
    "quarter": calendar.QUARTERS,
    "year": calendar.YEARS,
}
AHEAD = frozenset(("next", "coming", "following", "upcoming"))
BACK = frozenset(("ago", "back", "earlier"))
TURNS = {
    **dict.fromkeys(("last", "past", "previous"), -1),
    **dict.fromkeys(("this", "current"), 0),
    **dict.fromkeys(AHEAD, 1),
}
MONTHS_OF = {"month": 1, "year": 12, "decade": 120}
DAYS_OF = {"day": 1, "night": 1, "week": 7, "weekend": 7, "fortnight": 14}
SPREAD_DAYS = {
    **dict.fromkeys(("minute", "hour", "day", "night"), 0),
    **dict.fromkeys(("week", "weekend", "fortnight"), 3),
    "month": 15,
    "year": 182,
    "decade": 1826,
}

_S = r"\s{1,3}"
NTH = "(?:st|nd|rd|th)"
# Without "sat" and "sun", which are more often other words.
_SHORT_WEEKDAYS = ("mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri")
_UNSURE_MONTHS = {*MONTHS, "sept"} | english.UNSURE_MONTHS
# Every month and every whole weekday, for a place where a date must stand. Written by their common
# beginnings: a list of whole words takes a third longer.
MONTH_WORD = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
WEEKDAY_WORD = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_YEAR = rf"(?P<year>(?:19|20)[0-9]{{2}}(?!\w)|(?:last|this|next){_S}year\b)"
_OF_YEAR = rf"(?:(?:,\s{{0,3}}|{_S})(?:(?:of|in){_S})?{_YEAR})?"
_UNIT = rf"(?P<unit>{_one_of(SPREAD_DAYS)})s?\b"
_COUNT = rf"(?P<count>[0-9]{{1,4}}|(?:an?{_S})?(?:couple(?:{_S}of)?|few)|{_one_of(COUNTS)}|an?)"
_TURNING = _one_of(
    {*CALENDAR, *_SHORT_WEEKDAYS} | english.WEEKDAYS | english.MONTHS | _UNSURE_MONTHS
)
# Words after "the 15th" that make it something else: a named month, a floor, a birthday.
_NOT_OF_MONTH = _one_of(
    {"of", "century", "floor", "street", "avenue", "grade", "birthday", "anniversary", "time"}
    | {"place", "day", "week", "month", "year"}
    | english.MONTHS
    | _UNSURE_MONTHS
)


def month_number(name: str) -> int:
    """The number of a month, 1 to 12, by its name in lower case or the beginning of it."""
    return MONTHS.index(name[:3]) + 1


def named_cycle(name: str) -> calendar.CalendarCycle:
    """The cycle of a weekday, a month, a season or a unit, by its name in lower case."""
    if name in CALENDAR:
        return CALENDAR[name]
    if name[:3] in WEEKDAYS:
        return calendar.days_of_week(WEEKDAYS.index(name[:3]))
    return calendar.months_of_year(month_number(name))


NAMED_DAY = re.compile(rf"\b(?:{_one_of(NAMED_DAYS)})\b".replace(" ", _S))
NUMBERS = re.compile(
    r"(?<![\w/-])(?P<year>[0-9]{4})(?P<mark>[-/])(?P<month>[0-9]{1,2})"
    r"(?:(?P=mark)(?P<day>[0-9]{1,2}))?(?![0-9/-])"
)
# Not "April's", which is far more often a name than a month.
MONTH = re.compile(
    rf"\b(?:(?P<day>[0-9]{{1,2}}){NTH}?(?:{_S}|-)(?:of{_S})?)?"
    rf"(?:(?P<month>{_one_of(english.MONTHS)})|(?P<unsure>{_one_of(_UNSURE_MONTHS)}))"
    r"\b(?!['’]s\b)\.?"
    rf"(?:{_S}(?:the{_S})?(?P<after>[0-9]{{1,2}}){NTH}?(?![\w:]))?{_OF_YEAR}"
)
SEASON = re.compile(
    r"\b(?:(?P<season>summer|autumn|winter|christmas|halloween)|(?P<unsure>spring|fall))\b"
    rf"{_OF_YEAR}"
)
QUARTER = re.compile(
    rf"\b(?:q(?P<quarter>[1-4])|(?P<nth>{_one_of(ORDINALS)}){_S}quarter)\b{_OF_YEAR}"
)
YEAR = re.compile(
    r"(?<![\w$€£#.,:/])(?<![^0-9]-)(?:(?P<decade>(?:19|20)[0-9]0)s\b"
    r"|(?P<year>(?:19|20)[0-9]{2})(?!\w|%|[.,:/][0-9]|-[0-9]{1,2}(?![0-9])))"
)
STRETCH = re.compile(rf"\b(?:(?P<turn>last|past|previous|next|coming){_S}{_COUNT}|past){_S}{_UNIT}")
TURN = re.compile(rf"\b(?!this{_S}may\b)(?P<turn>{_one_of(TURNS)}){_S}(?P<cycle>{_TURNING})\b")
DISTANCE = re.compile(rf"\b{_COUNT}{_S}{_UNIT}{_S}(?P<way>ago|back|earlier|from{_S}now)\b")
DISTANCE_AHEAD = re.compile(rf"\b(?P<way>in){_S}(?!an?{_S}(?!couple|few)){_COUNT}{_S}{_UNIT}")
WEEKDAY = re.compile(
    rf"\b(?:(?P<sure>{_one_of(english.WEEKDAYS)})"
    rf"|(?P<unsure>{_one_of((*_SHORT_WEEKDAYS, 'weekend'))}))\b"
)
DAY_OF_MONTH = re.compile(rf"\bthe{_S}(?P<unsure>[0-9]{{1,2}}){NTH}\b(?!{_S}(?:{_NOT_OF_MONTH})\b)")
