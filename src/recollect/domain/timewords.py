"""Finds the times that a question names, and measures how near an instant is to them.

English only: a question in another language names no time. Any text is a valid question.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from string import ascii_lowercase, ascii_uppercase

from recollect.domain import timephrases
from recollect.domain.cycles import Cycle, Days, shifted
from recollect.domain.durations import EARLIEST
from recollect.domain.timephrases import Phrase

SPANS_MAX = 16
LATEST = datetime.max.replace(tzinfo=UTC)

_DAY = timedelta(days=1)
_SCALE_MAX = timedelta(days=183)


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of instants in UTC, and where its words are in the question."""

    start: datetime
    until: datetime
    words: tuple[int, int]


def spans(query: str, now: datetime, zone: tzinfo = UTC) -> tuple[Span, ...]:
    """The times that a question names, in text order, at most 16.

    Days begin at midnight in `zone`, weeks on Monday. A recurring time ("May", "Friday") means the
    last one that has begun; in a question about the future, the first that is not over. "Before
    2024" has no beginning, "after 2024" has no end, "since" ends with today.
    """
    here = _local(now, zone)
    text = query.translate(_LOWER)
    asked = _Asked(today=here.date(), future=_is_future(text))
    clauses = _clauses(text, timephrases.find(text, here))
    found = (_span(clause, asked, zone) for clause in clauses)
    return tuple(itertools.islice(filter(None, found), SPANS_MAX))


def closeness(spans: Iterable[Span], at: datetime) -> float:
    """How near an instant is to the nearest span: 1 inside, below 1 outside, 0 without spans.

    The value halves with each half length of the span that the instant is away, but at least with
    each half year and at most with each day. A span that is open on one side has an exact end, so
    there it halves with each day.
    """
    return max((_closeness(span, at) for span in spans), default=0.0)


def _closeness(span: Span, at: datetime) -> float:
    if span.start <= at < span.until:
        return 1.0
    # `until` itself is outside: without the smallest step its distance would be 0.
    away = span.start - at if at < span.start else at - span.until + timedelta.resolution
    is_open = span.start == EARLIEST or span.until == LATEST
    scale = _DAY if is_open else min(max((span.until - span.start) / 2, _DAY), _SCALE_MAX)
    return float(0.5 ** (away / scale))


@dataclass(frozen=True, slots=True)
class _Asked:
    today: date
    future: bool


@dataclass(frozen=True, slots=True)
class _Clause:
    """A phrase, or two that are the ends of a range, with the word that introduces it."""

    lead: str
    first: Phrase
    last: Phrase
    words: tuple[int, int]


def _local(now: datetime, zone: tzinfo) -> datetime:
    try:
        return now.astimezone(zone)
    except OverflowError:  # within a day of the first or last instant
        return now


def _is_future(text: str) -> bool:
    return _FUTURE.search(text) is not None and _PAST.search(text) is None


def _clauses(text: str, phrases: Sequence[Phrase]) -> Iterator[_Clause]:
    taken = -1
    for place, first in enumerate(phrases):
        if place <= taken:
            continue
        lead, begin = _lead(text, first)
        last = _partner(text, lead, phrases[place : place + 2])
        if last is not None:
            taken = place + 1
        # "may" and the like count only with a second end or an introducing word.
        if last or lead or first.sure:
            last = last or first
            yield _Clause(lead, first, last, (begin, last.end))


def _lead(text: str, phrase: Phrase) -> tuple[str, int]:
    """The word before a phrase that changes its meaning ("since", "early"), if any, and where both
    together begin."""
    cut = max(0, phrase.begin - _LEAD_CHARS_MAX)
    found = _LEAD.search(text[cut : phrase.begin])
    if found is None or not (found["word"] or found["part"]):
        return "", phrase.begin
    return found["word"] or found["part"], cut + found.start()


def _partner(text: str, lead: str, pair: Sequence[Phrase]) -> Phrase | None:
    """The second of two phrases if they are the ends of a range: "between March and May"."""
    if len(pair) < 2:
        return None
    first, last = pair
    joint = _JOINT.fullmatch(text, first.end, last.begin)
    if joint is None or (joint["and"] and lead != "between"):
        return None
    return last if lead or first.sure or last.sure else None


def _span(clause: _Clause, asked: _Asked, zone: tzinfo) -> Span | None:
    """The span of a clause; None if it is empty: "February 30", "from 2024 to 2020"."""
    days = _days(clause, asked)
    if days is None:
        return None
    # Compared as instants, not days: a zone that moved across the date line skipped a whole day.
    start, until = _instant(days.start, zone), _instant(days.until, zone)
    return Span(start, until, clause.words) if start < until else None


def _days(clause: _Clause, asked: _Asked) -> Days | None:
    if clause.first is not clause.last:
        return _between(clause.first.when, clause.last.when, asked)
    # "Since May" means the last May even in a question about the future.
    is_past = clause.lead == "since"  # whatever the question asks
    named = _resolved(clause.first.when, replace(asked, future=asked.future and not is_past))
    return _led(clause.lead, named, asked.today) if named else None


def _led(lead: str, days: Days, today: date) -> Days:
    """Apply the introducing word: "since" extends the days to today, "before" ends at them."""
    match lead:
        case "since":
            return Days(days.start, shifted(today, 1))
        case "after":
            return Days(days.until, date.max)
        case "before" | "prior to":
            return Days(date.min, days.start)
        case "until" | "till" | "by":
            return Days(date.min, days.until)
    return days


def _between(first: Days | Cycle, last: Days | Cycle, asked: _Asked) -> Days | None:
    """From the start of the first to the end of the last. A recurring time is resolved nearest to
    the other end: "from May to 2023" begins in the last May before 2023."""
    if isinstance(first, Cycle) and not asked.future:
        until = _resolved(last, asked)
        start = first.latest(until.start) if until else None
    else:
        start = _resolved(first, asked)
        until = _ending(last, start) if start else None
    return Days(start.start, until.until) if start and until else None


def _ending(last: Days | Cycle, start: Days) -> Days | None:
    return last if isinstance(last, Days) else last.upcoming(start.start)


def _resolved(when: Days | Cycle, asked: _Asked) -> Days | None:
    if isinstance(when, Days):
        return when
    return when.upcoming(asked.today) if asked.future else when.latest(asked.today)


def _instant(day: date, zone: tzinfo) -> datetime:
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
