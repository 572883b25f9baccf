"""Finds the times that a question names, and measures how near an instant is to them.

English only: a question in another language names no time. Any text is a valid question.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from string import ascii_lowercase, ascii_uppercase

from recollect.text.dates import phrases as timephrases
from recollect.text.dates.calendar import CalendarCycle, DayRange, add_days
from recollect.text.dates.durations import EARLIEST
from recollect.text.dates.phrases import TimePhrase

SPANS_MAX = 16
LATEST = datetime.max.replace(tzinfo=UTC)

_DAY = timedelta(days=1)
_SCALE_MAX = timedelta(days=183)


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A half-open range of instants in UTC, and where its words are in the question."""

    start: datetime
    until: datetime
    words: tuple[int, int]


def find_spans(query: str, now: datetime, zone: tzinfo = UTC) -> tuple[TimeSpan, ...]:
    """The times that a question names, in text order, at most 16.

    Days begin at midnight in `zone`, weeks on Monday. A recurring time ("May", "Friday") means the
    last one that has begun; in a question about the future, the first that is not over. "Before
    2024" has no beginning, "after 2024" has no end, "since" ends with today.
    """
    here = _to_local(now, zone)
    text = query.translate(_LOWER)
    question = _QuestionTime(today=here.date(), future=_is_future(text))
    clauses = _find_clauses(text, timephrases.find_phrases(text, here))
    found = (_to_span(clause, question, zone) for clause in clauses)
    return tuple(itertools.islice(filter(None, found), SPANS_MAX))


def closeness(spans: Iterable[TimeSpan], at: datetime) -> float:
    """How near an instant is to the nearest span: 1 inside, below 1 outside, 0 without spans.

    The value halves with each half length of the span that the instant is away, but at least with
    each half year and at most with each day. A span that is open on one side has an exact end, so
    there it halves with each day.
    """
    return max((_span_closeness(span, at) for span in spans), default=0.0)


def _span_closeness(span: TimeSpan, at: datetime) -> float:
    if span.start <= at < span.until:
        return 1.0
    # `until` itself is outside: without the smallest step its distance would be 0.
    away = span.start - at if at < span.start else at - span.until + timedelta.resolution
    is_open = span.start == EARLIEST or span.until == LATEST
    scale = _DAY if is_open else min(max((span.until - span.start) / 2, _DAY), _SCALE_MAX)
    return float(0.5 ** (away / scale))


@dataclass(frozen=True, slots=True)
class _QuestionTime:
    today: date
    future: bool


@dataclass(frozen=True, slots=True)
class _TimeClause:
    """A phrase, or two that are the ends of a range, with the word that introduces it."""

    lead: str
    first: TimePhrase
    last: TimePhrase
    words: tuple[int, int]


def _to_local(now: datetime, zone: tzinfo) -> datetime:
    try:
        return now.astimezone(zone)
    except OverflowError:  # within a day of the first or last instant
        return now


def _is_future(text: str) -> bool:
    return _FUTURE.search(text) is not None and _PAST.search(text) is None


def _find_clauses(text: str, phrases: Sequence[TimePhrase]) -> Iterator[_TimeClause]:
    taken = -1
    for place, first in enumerate(phrases):
        if place <= taken:
            continue
        lead, begin = _find_lead(text, first)
        last = _find_range_end(text, lead, phrases[place : place + 2])
        if last is not None:
            taken = place + 1
        # "may" and the like count only with a second end or an introducing word.
        if last or lead or first.sure:
            last = last or first
            yield _TimeClause(lead, first, last, (begin, last.end))


def _find_lead(text: str, phrase: TimePhrase) -> tuple[str, int]:
    """The word before a phrase that changes its meaning ("since", "early"), if any, and where both
    together begin."""
    cut = max(0, phrase.begin - _LEAD_CHARS_MAX)
    found = _LEAD.search(text[cut : phrase.begin])
    if found is None or not (found["word"] or found["part"]):
        return "", phrase.begin
    return found["word"] or found["part"], cut + found.start()


def _find_range_end(text: str, lead: str, pair: Sequence[TimePhrase]) -> TimePhrase | None:
    """The second of two phrases if they are the ends of a range: "between March and May"."""
    if len(pair) < 2:
        return None
    first, last = pair
    joint = _JOINT.fullmatch(text, first.end, last.begin)
    if joint is None or (joint["and"] and lead != "between"):
        return None
    return last if lead or first.sure or last.sure else None


def _to_span(clause: _TimeClause, question: _QuestionTime, zone: tzinfo) -> TimeSpan | None:
    """The span of a clause; None if it is empty: "February 30", "from 2024 to 2020"."""
    days = _clause_days(clause, question)
    if days is None:
        return None
    # Compared as instants, not days: a zone that moved across the date line skipped a whole day.
    start, until = _to_instant(days.start, zone), _to_instant(days.until, zone)
    return TimeSpan(start, until, clause.words) if start < until else None


def _clause_days(clause: _TimeClause, question: _QuestionTime) -> DayRange | None:
    if clause.first is not clause.last:
        return _range_days(clause.first.when, clause.last.when, question)
    # "Since May" means the last May even in a question about the future.
    is_past = clause.lead == "since"  # whatever the question asks
    named = _resolve_days(
        clause.first.when, replace(question, future=question.future and not is_past)
    )
    return _apply_lead(clause.lead, named, question.today) if named else None


def _apply_lead(lead: str, days: DayRange, today: date) -> DayRange:
    """Apply the introducing word: "since" extends the days to today, "before" ends at them."""
    match lead:
        case "since":
            return DayRange(days.start, add_days(today, 1))
        case "after":
            return DayRange(days.until, date.max)
        case "before" | "prior to":
            return DayRange(date.min, days.start)
        case "until" | "till" | "by":
            return DayRange(date.min, days.until)
    return days


def _range_days(
    first: DayRange | CalendarCycle, last: DayRange | CalendarCycle, question: _QuestionTime
) -> DayRange | None:
    """From the start of the first to the end of the last. A recurring time is resolved nearest to
    the other end: "from May to 2023" begins in the last May before 2023."""
    if isinstance(first, CalendarCycle) and not question.future:
        until = _resolve_days(last, question)
        start = first.last_started(until.start) if until else None
    else:
        start = _resolve_days(first, question)
        until = _resolve_end(last, start) if start else None
    return DayRange(start.start, until.until) if start and until else None


def _resolve_end(last: DayRange | CalendarCycle, start: DayRange) -> DayRange | None:
    return last if isinstance(last, DayRange) else last.first_unfinished(start.start)


def _resolve_days(when: DayRange | CalendarCycle, question: _QuestionTime) -> DayRange | None:
    if isinstance(when, DayRange):
        return when
    return (
        when.first_unfinished(question.today)
        if question.future
        else when.last_started(question.today)
    )


def _to_instant(day: date, zone: tzinfo) -> datetime:
    if day == date.min:
        return EARLIEST
    if day == date.max:
        return LATEST
    return datetime.combine(day, time.min, tzinfo=zone).astimezone(UTC)


# Only ASCII letters are lowered, so that the text keeps its length and indexes stay valid.
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_LEAD_CHARS_MAX = 40
_LEAD = re.compile(
    r"""\b(?:(?P<word>since|before|after|prior\ to|until|till|by|between|from|in|on|during|at|over
      |around|about|of|for)\s{1,3})?
    (?:the\s{1,3})?
    (?P<part>early|mid|late|(?:beginning|start|middle|end)\ of)?(?(part)[\s-]{1,3})$""",
    re.VERBOSE,
)
_JOINT = re.compile(r"\s{1,3}(?:(?P<and>and)|to|through|until|till)\s{1,3}|\s?[-–—]\s?")
_FUTURE = re.compile(
    r"\b(?:will|shall|gonna|going\s{1,3}to|upcoming|plans?|planning|scheduled|due)\b|['’]ll\b"
)
_PAST = re.compile(r"\b(?:did|was|were|had|has|have)\b")
