"""Parses the expiry phrase of an English "remember …" sentence: "for two weeks", "until Friday".

The phrase must say how long to remember, not how long something takes. It counts next to the word
"remember", at the start of the sentence, set off at its end, or after a present state ("I'm away
for 2 weeks"). "I lived there for 2 weeks" and "the bread must bake for 2 hours" have none. Dates
are parsed in `text/dates/until.py`. A phrase is understood as a whole or not at all.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache

from recollect.text.dates import patterns
from recollect.text.dates.calendar import shift_months
from recollect.text.dates.until import DATE, DAY_WORDS, end_of_date


@dataclass(frozen=True, slots=True)
class ExpiryPhrase:
    """The expiry, and the text without the phrase that gave it.

    A phrase at the end of a sentence stays in the text unless a comma, a dash or a bracket sets it
    off: "I'm in Porto until Friday" is also a fact.
    """

    expires_at: datetime
    text_without_phrase: str


def parse_expiry_phrase(text: str, now: datetime, zone: tzinfo) -> ExpiryPhrase | None:
    """The expiry phrase of the first sentence that asks to remember, or None.

    Minutes, hours, days and weeks are exact lengths. Months and years follow the calendar of
    `zone`, to the same time of day, or to the last day of a month that is too short. "Until Friday"
    includes Friday in `zone`; "until 10:00" ends at that time. A date without a year is the next
    one; a weekday is never today. A date in the past gives no expiry.
    """
    sentence = _find_request(text)
    return _parse_phrase(text, sentence, now.astimezone(zone)) if sentence else None


def has_likely_expiry(text: str) -> bool:
    """Whether the first sentence that asks to remember seems to say for how long. Wider than
    `parse_expiry_phrase`: it also matches phrases that can't be parsed, for a warning."""
    sentence = _find_request(text)
    likely = (*_POSITIONS, _LIKELY_EXPIRY)
    return sentence is not None and any(_compile_pattern(one).match(sentence[0]) for one in likely)


def _find_request(text: str) -> re.Match[str] | None:
    asks = _compile_pattern(_ASKS_TO_REMEMBER)
    return next((one for one in _SENTENCE.finditer(text) if asks.match(one[0])), None)


def _parse_phrase(text: str, sentence: re.Match[str], local: datetime) -> ExpiryPhrase | None:
    for place in _POSITIONS:
        found = _compile_pattern(place).match(sentence[0])
        expires_at = _phrase_expiry(found, local) if found else None
        if found and expires_at:
            start, end = sentence.span()
            is_fact = place is _AT_END_OF_FACT
            rest = sentence[0] if is_fact else _remove_phrase(sentence[0], found)
            return ExpiryPhrase(expires_at, text[:start] + rest + text[end:])
    return None


def _remove_phrase(sentence: str, found: re.Match[str]) -> str:
    before, after = sentence[: found.start("phrase")], sentence[found.end("phrase") :]
    if not before.strip():
        return before + after[:1].upper() + after[1:]
    return f"{before.rstrip()}{after}" if after[:1] in ".!" else f"{before}{after}".rstrip()


def _phrase_expiry(found: re.Match[str], local: datetime) -> datetime | None:
    try:
        end = _add_length(found, local) if found["length"] else end_of_date(found, local)
    except OverflowError:
        return None
    return end if end and end > local.astimezone(UTC) else None


def _add_length(found: re.Match[str], local: datetime) -> datetime:
    """The end of a length such as "2 months and 3 days": calendar months first, then the rest."""
    months, exact = 0, timedelta()
    for part in _compile_pattern(_PART).finditer(found["length"]):
        count, unit = _parse_count(part["count"].lower()), part["unit"].lower().removesuffix("s")
        months += count * patterns.MONTHS_OF.get(unit, 0)
        exact += count * _EXACT_UNITS.get(unit, timedelta())
    return shift_months(local, months).astimezone(UTC) + exact


def _parse_count(written: str) -> int:
    number = " ".join(written.split())
    return int(number) if number.isdecimal() else _NUMBERS[number]


_NUMBERS = patterns.NUMBER_WORDS | {"zero": 0, "a": 1, "an": 1, "a couple": 2, "a couple of": 2}
_NUMBERS |= {"fifteen": 15, "twenty": 20, "thirty": 30, "ninety": 90}
_EXACT_UNITS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_EXACT_UNITS |= {unit: timedelta(days=days) for unit, days in patterns.DAYS_OF.items()}


@cache
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    """The pattern with each space replaced by one to four blanks, so that patterns stay
    readable."""
    # Look-behinds need a fixed width, so spaces inside them are left alone.
    parts = re.split(r"(\(\?<![^)]*\))", pattern)
    parts[::2] = (part.replace(" ", r"[^\S\n]{1,4}") for part in parts[::2])
    return re.compile("".join(parts), re.IGNORECASE)


_NUMBER_WORDS = "|".join(sorted(_NUMBERS, key=len, reverse=True))
_UNIT = r"(?:minute|hour|day|week|fortnight|month|year)s?\b"
_PART = rf"(?P<count>\d{{1,4}}|{_NUMBER_WORDS})(?: |-)(?P<unit>{_UNIT})"
_LENGTH_PART = rf"(?:\d{{1,4}}|{_NUMBER_WORDS})(?: |-){_UNIT}"
_LENGTH = (
    r"for (?:the next |the coming |another |about |exactly )?"
    rf"(?P<length>{_LENGTH_PART}(?:(?:, and |, | and | ){_LENGTH_PART}){{0,5}})"
)
_UNTIL = rf"(?:until|till|'til|til) {DATE}"
# Words after a phrase that show it to be part of a longer one, which is not understood: "for 2
# weeks of work", "until Friday at ten", "until 10:00 CET", "for 2 or 3 days". `_WHOLE` refuses it.
_GOES_ON = (
    r"(?:and|or|of|at|from|before|after|since|in|on|per|each|every|plus|minus|sharp|next|last|ago"
    r"|later|long|longer|more|now|am|pm|ad|bc|only|but|max|straight|running|total|local|time"
    r"|o[’']clock|morning|afternoon|evening|night|noon|midnight|lunch|lunchtime|inclusive"
    r"|this (?:week|month|year|morning|afternoon|evening)|the \d"
    r"|(?:utc|gmt|z|[ecmp][sd]t|w?est|ces?t|ees?t|wet|bst|ist|jst|msk|ae[sd]t)"
    rf"|{DAY_WORDS})\b"
)
_WHOLE = rf"(?![-’']\w|\s?(?:[,;–—-]\s?)?(?:[(\[/\d]|[+-]\d|{_GOES_ON}))"
_PHRASE = rf"(?:{_LENGTH}|{_UNTIL}){_WHOLE}"

_POLITE = (
    r"(?:(?:please|hey|ok|okay|hi|and|so|also|now|just|you should|you must|i want you to"
    r"|i need you to|(?:can|could|would|will) you(?: please)?|@?assistant)[,:]? ){0,4}"
)
_REMEMBER = r"(?:remember|memori[sz]e|keep in mind|don[’']t forget|do not forget)"
_MEMORY_ONLY = r"(?! (?:when|how|the time|what|why|who|where|me\b))"
_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?!\s|$)){1,4000}[.!?]*")
_ASKS_TO_REMEMBER = rf"\s*{_POLITE}(?:{_PHRASE}[,:]? {_POLITE})?{_REMEMBER}\b{_MEMORY_ONLY}"
# Words of the past, of conditions and of habits: with one of them in the sentence, a length says
# how long something takes ("I lived there for 2 weeks", "it must bake for 2 hours").
_NOT_NOW = (
    r"(?:(?<!is )(?<!are )(?<!be )(?<!am )(?<![’']s )(?<![’']m )(?<![’']re )"
    r"(?!(?:need|bed|red|shed|seed|feed|speed|indeed)\b)\w+ed|was|were|had|did|went|spent|took|came"
    r"|saw|been|knew|known|gave|got|slept|wrote|ran|kept|held|sat|stood|felt|made|won|lost|met"
    r"|\w+[’']ve|\w+[’']d|must|should|could|would|might|if|when|unless|whenever|every|each|always"
    r"|usually|often|never)"
)
# Beside "remember". After "that" the fact begins, so there the phrase must be set off from it by a
# comma, a colon or the end of the sentence.
_BESIDE_THE_WORD = (
    rf"\s*{_POLITE}{_REMEMBER}(?: this| it| the following|(?P<that> that))?"
    rf"(?P<phrase>,? (?:only |just )?{_PHRASE},?)"
    r"(?(that)(?:(?<=,)|(?=\s*(?::|[.!]*$))))"
)
_AT_START = rf"\s*{_POLITE}(?P<phrase>{_PHRASE}[,:]? )(?={_POLITE}{_REMEMBER}\b)"
_SET_OFF = (
    rf"(?!.*\b{_NOT_NOW}\b)[^\n]*\w[\"'”’)]?"
    rf"(?P<phrase>\s?(?:[,;—–-]|(?P<open>\())\s?(?:but )?(?:only |just )?{_PHRASE}(?(open)\)))"
    r"(?=\s*[.!?]*$)"
)
_STATE = (
    r"(?:away|out|off|here|there|abroad|home|in|at|on|with|closed|shut|open|gone|absent|unavailable"
    r"|busy|broken|ill|sick|free|visiting|staying|travell?ing)"
)
_AT_END_OF_FACT = (
    rf"(?!.*\b{_NOT_NOW}\b)[^\n]*(?:\b(?:am|is|are)|\w[’'](?:m|s|re)) (?:still |now |both |all )?"
    rf"{_STATE}\b(?!-)(?![^\n]*\b(?:and|but|or|because|which|who|that|where|is|are|has|have)\b)"
    rf"[^\n,;:]{{0,80}}(?<=\w)(?P<phrase> (?:only |just )?{_PHRASE})(?=\s*[.!]*$)"
)
_POSITIONS = (_BESIDE_THE_WORD, _AT_START, _SET_OFF, _AT_END_OF_FACT)
_LIKELY_EXPIRY = (
    rf"\s*{_POLITE}(?:{_REMEMBER}(?: this| it| the following)?,? )?"
    r"(?:only |just |at least |at most )?"
    rf"(?:for (?:\S+ ){{0,3}}?(?:\S*\d\S*|half|few|several|some|{_NUMBER_WORDS})"
    rf"(?: an?)?(?: |-){_UNIT}"
    rf"|(?:until|till|'til|til) (?:\S+ ){{0,3}}?(?:\S*\d|{DAY_WORDS}\b|yesterday\b))"
)
