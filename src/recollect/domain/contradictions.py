"""Whether one text contradicts another, and whether a text says that it corrects something."""

import re

from recollect.domain import language
from recollect.domain.attribute_words import NEGATIONS, OPPOSITES, SAME_WORD, WEIGHTLESS
from recollect.domain.attributes import attribute_of, differ, is_same_person
from recollect.domain.details import details, unified, without_lead_in
from recollect.domain.words import stem, tokens

TEXT_CHARS_MAX = 2_000


def may_contradict(a: str, b: str) -> bool:
    """Whether the words suggest that both can't be true at once.

    That is: one attribute with two values, a statement and its negation ("likes", "hates"; "is",
    "is not"), or one thing that "is" at two places, dates or numbers. Long texts never contradict.
    """
    if is_long(a, b):
        return False
    return _attributes_differ(a, b) or _one_denies(a, b) or _is_elsewhere(a, b)


def is_long(*texts: str) -> bool:
    """Whether one text is too long to be compared by its words: that would take long, and a few
    different words say little about a long text."""
    return max(map(len, texts)) > TEXT_CHARS_MAX


def is_correction(text: str) -> bool:
    """Whether a text says that it corrects something; of a long text only the beginning counts.

    "No longer" and "anymore" are no corrections but changes in the world: the old statement was
    true until then.
    """
    plain = unified(text[:TEXT_CHARS_MAX])
    if _ADDS.search(plain):
        return False
    return _CORRECTS.search(plain) is not None or denied_part(text) is not None


def denied_part(text: str) -> str | None:
    """What a correction denies: "Max" in "Rex, not Max" and in "not Max but Rex"."""
    if is_long(text):
        return None
    plain = unified(text)
    found = _NOT_BUT.search(plain) or _COMMA_NOT.search(plain)
    return found[1] if found else None


def _attributes_differ(a: str, b: str) -> bool:
    first, second = attribute_of(a), attribute_of(b)
    if first is None or second is None:
        return False
    return is_same_person(first.subject_hint, second.subject_hint) and differ(first, second)


def _one_denies(a: str, b: str) -> bool:
    """Whether one negates the other: the same words but for at most one, and exactly one of the two
    texts has an odd number of negations."""
    (first, first_denies), (second, second_denies) = _claim(a), _claim(b)
    return first_denies != second_denies and bool(first & second) and len(first ^ second) <= 1


def _claim(text: str) -> tuple[frozenset[str], bool]:
    """The stems of the content words of a text, and whether it denies them."""
    words = [SAME_WORD.get(word, word) for word in tokens(_NOT.sub(" not ", _hating(text)))]
    denials = sum(word in NEGATIONS or word in OPPOSITES for word in words)
    telling = (OPPOSITES.get(word, word) for word in words if not _is_weightless(word))
    return frozenset(map(stem, telling)), denials % 2 == 1


def _hating(text: str) -> str:
    return _CANT_STAND.sub("hate", unified(text))


def _is_weightless(word: str) -> bool:
    return word in NEGATIONS or word in WEIGHTLESS or word in language.STOP_WORDS


def _is_elsewhere(a: str, b: str) -> bool:
    first, second = _copula(a), _copula(b)
    if first is None or second is None or first[0] != second[0]:
        return False
    here, there = _details(first[1]), _details(second[1])
    # A text that only adds details agrees.
    return not here <= there and not there <= here


def _details(text: str) -> set[str]:
    found = details(text)
    return {*found.numbers, *found.dates, *found.names}


def _copula(text: str) -> tuple[frozenset[str], str] | None:
    """Subject words and predicate of "the office is in Porto": {"offic"}, "x in Porto".

    The "x" keeps the first word of the predicate from being taken for the start of a sentence,
    where a capital does not mean a name.
    """
    found = _IS.fullmatch(without_lead_in(unified(text)))
    if found is None:
        return None
    thing = frozenset(map(stem, tokens(found[1]))) - {"the", "a", "an"}
    return thing, f"x {found[2]}"


_NOT = re.compile(r"\b(?:can|ca|do|does|is|are|has|have|wo|was|did)(?:n'?t| ?not)\b", re.IGNORECASE)
_CANT_STAND = re.compile(r"\b(?:can't|cannot|can not|cant) stand\b", re.IGNORECASE)
_IS = re.compile(r"([^.!?;]{1,80}?) (?:is|are) (?!an? )([^.!?;]{1,80})[.!]?", re.IGNORECASE)
_CORRECTS = re.compile(
    r"^(?:(?:no|oh|well|sorry|wait|but)[,:]? )*(?:actually|correction|scratch that|i meant"
    r"|my mistake|i misspoke|i was wrong|let me correct)\b|\b(?:is|am|are) actually\b",
    re.IGNORECASE,
)
_ADDS = re.compile(r"\b(?:also|too|as well|another|not only)\b", re.IGNORECASE)
_NOT_BUT = re.compile(r"\bnot ([^,.;]{1,60}?),? but\b", re.IGNORECASE)
_COMMA_NOT = re.compile(r", not ([^,.;]{1,60})[.!]?$", re.IGNORECASE)
