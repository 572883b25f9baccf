"""How long an explicit "remember …" asks to be remembered: "for two weeks", "until Friday".

English. The term must belong to the remembering: beside the word "remember", or at the start or
the end of its sentence. "I lived there for 2 weeks" has none, nor has "remember that I lived there
for 2 weeks": what is over can't say how long to keep it. Dates are read in `remember_dates.py`.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from recollect.domain.remember_dates import DATE, end_of_date, months_after


@dataclass(frozen=True, slots=True)
class Term:
    """When to forget, and the text without the words that said so.

    At the end of a sentence the words stay in the text unless a comma, a dash or a bracket sets
    them off: "I'm in Porto until Friday" is also a fact.
    """

    expires_at: datetime
    text_without_phrase: str


def explicit_term(text: str, now: datetime, zone: tzinfo) -> Term | None:
    """The term of the first sentence that asks to remember, or None.

    Hours, days and weeks are exact lengths; months and years go by the calendar of `zone`, to the
    same time of day, on the last day if the month is too short. What follows "until" is included:
    until Friday ends as Friday ends in `zone`. A date without a year is the next one to come; a
    weekday is never today. A date that is over sets no term.
    """
    for sentence in _SENTENCE.finditer(text):
        if _ASKS_TO_REMEMBER.match(sentence[0]):
            return _term(text, sentence, now.astimezone(zone))
    return None


def _term(text: str, sentence: re.Match[str], local: datetime) -> Term | None:
    for place in _PLACES:
        found = place.match(sentence[0])
        expires_at = _expiry(found, local) if found else None
        if found and expires_at:
            start, end = sentence.span()
            return Term(expires_at, text[:start] + _rest(sentence[0], found) + text[end:])
    return None


def _rest(sentence: str, found: re.Match[str]) -> str:
    if found.re is _AT_END_OF_FACT:
        return sentence
    before, after = sentence[: found.start("phrase")], sentence[found.end("phrase") :]
    if not before.strip():
        return before + after[:1].upper() + after[1:]
    return f"{before.rstrip()}{after}" if after[:1] in ".!" else f"{before}{after}".rstrip()


def _expiry(found: re.Match[str], local: datetime) -> datetime | None:
    try:
        end = _length_after(found, local) if found["unit"] else end_of_date(found, local)
    except OverflowError:
        return None
    return end if end and end > local.astimezone(UTC) else None


def _length_after(found: re.Match[str], local: datetime) -> datetime | None:
    count = _count(found["count"].lower())
    unit = _UNITS[found["unit"].lower()[:2]]
    if isinstance(unit, timedelta):
        return local.astimezone(UTC) + count * unit
    return months_after(local, count * unit)


def _count(written: str) -> int:
    return int(written) if written.isdecimal() else _NUMBERS[written]


_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = {word: number for number, word in enumerate(_WORDS)}
_NUMBERS |= {"a": 1, "an": 1, "a couple": 2, "a couple of": 2}
_NUMBERS |= {"eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "ninety": 90}
_UNITS: dict[str, timedelta | int] = {
    "mi": timedelta(minutes=1),
    "ho": timedelta(hours=1),
    "da": timedelta(days=1),
    "we": timedelta(weeks=1),
    "fo": timedelta(weeks=2),
    "mo": 1,
    "ye": 12,
}


def _compiled(pattern: str) -> re.Pattern[str]:
    """Spaces in a pattern stand for a few blanks."""
    # Not inside the look-behinds, which have a fixed width.
    parts = re.split(r"(\(\?<![^)]*\))", pattern)
    parts[::2] = (part.replace(" ", r"[^\S\n]{1,4}") for part in parts[::2])
    return re.compile("".join(parts), re.IGNORECASE)


_COUNT = rf"(?P<count>\d{{1,4}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_UNIT = r"(?P<unit>minute|hour|day|week|fortnight|month|year)s?"
_LENGTH = (
    rf"for (?:the next |the coming |another |about |exactly )?{_COUNT}(?: |-){_UNIT}\b"
    r"(?! (?:and|of)\b)"
)
_UNTIL = rf"(?:until|till|'til|til) {DATE}"
_PHRASE = rf"(?:{_LENGTH}|{_UNTIL})"

_POLITE = (
    r"(?:(?:please|hey|ok|okay|hi|and|so|also|now|just|you should|you must|i want you to"
    r"|i need you to|(?:can|could|would|will) you(?: please)?|@?assistant)[,:]? ){0,4}"
)
_REMEMBER = r"(?:remember|memori[sz]e|keep in mind|don[’']t forget|do not forget)"
_MEMORY_ONLY = r"(?! (?:when|how|the time|what|why|who|where|me\b))"
_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?!\s|$)){1,4000}[.!?]*")
_ASKS_TO_REMEMBER = _compiled(
    rf"\s*{_POLITE}(?:{_PHRASE}[,:]? {_POLITE})?{_REMEMBER}\b{_MEMORY_ONLY}"
)
# What is over: "I lived there for 2 weeks", "I've known her for 2 years".
_PAST = (
    r"(?:(?<!is )(?<!are )(?<!be )(?<!am )(?<![’']s )(?<![’']m )(?<![’']re )"
    r"(?!(?:need|bed|red|shed|seed|feed|speed|indeed)\b)\w+ed|was|were|had|did|went|spent|took|came"
    r"|saw|been|knew|known|gave|got|slept|wrote|ran|kept|held|sat|stood|felt|made|won|lost|met"
    r"|\w+[’']ve|\w+[’']d)"
)
# After "that" the fact begins, unless the term is set off from it.
_BESIDE_THE_WORD = _compiled(
    rf"\s*{_POLITE}{_REMEMBER}(?: this| it| the following|(?P<that> that))?"
    rf"(?P<phrase>,? {_PHRASE},?)"
    r"(?(that)(?:(?<=,)|(?=\s*(?::|[.!]*$))))"
)
_AT_START = _compiled(rf"\s*{_POLITE}(?P<phrase>{_PHRASE}[,:]? )(?={_POLITE}{_REMEMBER}\b)")
_SET_OFF = _compiled(
    rf"[^\n]*\w[\"'”’)]?(?P<phrase>\s?[,;—–(-]\s?(?:but )?(?:only |just )?{_PHRASE}\)?)"
    r"(?=\s*[.!?]*$)"
)
_AT_END_OF_FACT = _compiled(
    rf"(?!.*\b{_PAST}\b)[^\n]*\w(?P<phrase> (?:only |just )?{_PHRASE})(?=\s*[.!]*$)"
)
_PLACES = (_BESIDE_THE_WORD, _AT_START, _SET_OFF, _AT_END_OF_FACT)
