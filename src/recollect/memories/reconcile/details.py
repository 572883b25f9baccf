"""The details that near copies of a text must share: numbers, dates and names.

Extraction is cautious: a word that may be a name counts as one, so that texts about two different
people are never taken for copies. In scripts without letter case every word may be a name.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from recollect.memories.reconcile.attribute_words import (
    DAYS,
    MANY_VALUED,
    MONTHS,
    NUMBERS,
    PRONOUNS,
    SENTENCE_OPENERS,
)
from recollect.text import english
from recollect.text.normal_form import normalize_unicode
from recollect.text.tokens import tokens


@dataclass(frozen=True, slots=True)
class TextDetails:
    """Numbers and names keep their order: "Ann owes Bob" is not "Bob owes Ann"."""

    numbers: tuple[str, ...]
    dates: frozenset[str]
    names: tuple[str, ...]


def has_same_details(a: str, b: str) -> bool:
    """Whether two texts have the same numbers, dates and names.

    A name at the start of one text may stand in lower case inside the other.
    """
    first, second = extract_details(a), extract_details(b)
    if (first.numbers, first.dates) != (second.numbers, second.dates):
        return False
    # A word that begins a sentence in one text has a capital letter there, and may be taken for a
    # name. It is tolerated if both texts have the word.
    extra = set(first.names) ^ set(second.names)
    if not extra <= (_sentence_starts(a) | _sentence_starts(b)) & _lower_words(a) & _lower_words(b):
        return False
    left, right = ([n for n in found.names if n not in extra] for found in (first, second))
    return left == right


def extract_details(text: str) -> TextDetails:
    """The numbers, dates and names of a text, in a normal form."""
    plain = strip_lead_in(unify_spelling(text))
    dates: set[str] = set()
    rest = _DATE.sub(lambda found: _collect_date(found, dates), plain)
    numbers: list[str] = []
    names: list[str] = []
    for word, is_start in _iter_words(rest):
        lower = word.lower()
        if any(char.isdigit() for char in lower) or lower in NUMBERS:
            numbers.append(_normalize_number(lower))
        elif _is_day(word, lower, is_start=is_start):
            dates.add(f"m{MONTHS[lower]:02}" if lower in MONTHS else lower)
        elif _is_name(word, lower, is_start=is_start):
            names.append(lower)
    return TextDetails(
        tuple(numbers),
        frozenset(dates),
        (*names, *_declared_names(rest, names), *many_valued_nouns(rest)),
    )


def many_valued_nouns(text: str) -> tuple[str, ...]:
    """The nouns in a text for what a person can have several of: pets, children, siblings, friends.
    Sorted."""
    found = (_singular(word) for word in tokens(text))
    return tuple(sorted({word for word in found if word in MANY_VALUED}))


def unify_spelling(text: str) -> str:
    """The text in NFKC, with straight apostrophes and single spaces."""
    return " ".join(normalize_unicode("NFKC", text).replace("’", "'").split())


def strip_lead_in(text: str) -> str:
    """The text without the words that only introduce it: "actually,", "remember that"."""
    return _LEAD_IN.sub("", text)


def date_words(text: str) -> str | None:
    """A date as comparable words ("1990 m03 15"), or None if day and month can't be told apart."""
    dates: set[str] = set()
    rest = _DATE.sub(lambda found: _collect_date(found, dates), text)
    if _NUMERIC_DATE.search(rest):
        return None
    parts = [part for date in sorted(dates) for part in date.split("-")]
    loose = (f"m{MONTHS[word]:02}" if word in MONTHS else word for word in tokens(rest))
    return " ".join([*parts, *(word for word in loose if word not in english.STOP_WORDS)])


def _collect_date(found: re.Match[str], dates: set[str]) -> str:
    """A replacement for `re.sub`: adds the date to `dates`, year first if given, and returns a
    space."""
    year = found["y1"] or found["y2"] or found["y3"]
    day = found["d1"] or found["d2"] or found["d3"]
    month = found["m1"] or str(MONTHS[(found["m2"] or found["m3"]).lower()])
    dates.add("-".join(filter(None, (year, f"m{int(month):02}", str(int(day))))))
    return " "


def _iter_words(text: str) -> Iterator[tuple[str, bool]]:
    """The words of a text, each with whether it begins a sentence."""
    end = 0
    for found in _WORD.finditer(text):
        gap = text[end : found.start()]
        yield _POSSESSIVE.sub("", found[0]), end == 0 or any(mark in gap for mark in ".!?:")
        end = found.end()


def _normalize_number(word: str) -> str:
    return NUMBERS.get(word) or _ORDINAL.sub(r"\1", word.replace(",", ""))


def _is_day(word: str, lower: str, *, is_start: bool) -> bool:
    """Whether a word is a month or a weekday. Months that are also other words ("may") need a
    capital letter and must not begin a sentence; "sun" and "sat" never count."""
    if lower in ("may", "march", "mar", "jan", "sun", "sat"):
        return lower in MONTHS and word[0].isupper() and not is_start
    return lower in MONTHS or lower in DAYS


def _is_name(word: str, lower: str, *, is_start: bool) -> bool:
    if lower in english.STOP_WORDS or lower in PRONOUNS or _singular(lower) in MANY_VALUED:
        return False
    if word[0] == "@" or not _has_case(word):
        return True
    if is_start:
        return word[0].isupper() and lower not in SENTENCE_OPENERS
    return word != lower


def _declared_names(text: str, names: list[str]) -> list[str]:
    """Lower-case names that the text introduces as names: "a dog named max"."""
    return [found[1] for found in _NAMED.finditer(text.lower()) if found[1] not in names]


def _sentence_starts(text: str) -> set[str]:
    plain = strip_lead_in(unify_spelling(text))
    return {word.lower() for word, is_start in _iter_words(plain) if is_start}


def _lower_words(text: str) -> set[str]:
    return {word.lower() for word, _ in _iter_words(unify_spelling(text))}


def _has_case(word: str) -> bool:
    return word.lower() != word.upper()


def _singular(word: str) -> str:
    return {"puppies": "puppy", "babies": "baby", "buddies": "buddy"}.get(word) or (
        word[:-1] if word.endswith("s") and word[:-1] in MANY_VALUED else word
    )


_MONTH = "(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + ")"
# 2024-05-07, "7th of May, 2024", "May 7, 2024"; the year is optional in the last two.
_DATE = re.compile(
    rf"""\b(?:
        (?P<y1>\d{{4}})-(?P<m1>0?[1-9]|1[0-2])-(?P<d1>0?[1-9]|[12]\d|3[01])
      | (?P<d2>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?(?:\ of)?\ (?P<m2>{_MONTH})\b\.?
        (?:,?\ (?P<y2>\d{{4}}))?
      | (?P<m3>{_MONTH})\.?\ (?P<d3>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?\b(?:,?\ (?P<y3>\d{{4}}))?
    )(?!\w)""",
    re.VERBOSE | re.IGNORECASE,
)
_NUMERIC_DATE = re.compile(r"\d[/.]\d")
_WORD = re.compile(r"@?[^\W_]+(?:[.,:/'-][^\W_]+)*")
_POSSESSIVE = re.compile(r"'s?$")
_ORDINAL = re.compile(r"^(\d+)(?:st|nd|rd|th)$")
_NAMED = re.compile(r"\b(?:named|called|name is|names are) ([^\W\d_]+)")
_LEAD_IN = re.compile(
    r"^(?:(?:(?:actually|correction|update|note|fyi|btw|by the way|oh|sorry)\b[,:;]?"
    r"|(?:please )?remember(?: that\b|:)|(?:no|so|well|wait|yes|i meant)[,:;]) )+",
    re.IGNORECASE,
)
