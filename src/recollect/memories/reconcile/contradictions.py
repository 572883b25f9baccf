"""Whether one text contradicts another, and whether a text says that it corrects something."""

import re

from recollect.memories.reconcile.attribute_words import (
    FILLER_WORDS,
    NEGATIONS,
    OPPOSITES,
    SYNONYMS,
)
from recollect.memories.reconcile.attributes import (
    is_incompatible,
    is_same_person,
    parse_attribute,
)
from recollect.memories.reconcile.details import (
    extract_details,
    strip_lead_in,
    unify_spelling,
)
from recollect.text import english
from recollect.text.tokens import stem, tokens

TEXT_CHARS_MAX = 2_000


def may_contradict(a: str, b: str) -> bool:
    """Whether the words suggest that both can't be true at once.

    That is: one attribute with two values, a statement and its negation ("likes", "hates"; "is",
    "is not"), or one thing that "is" at two places, dates or numbers. Long texts never contradict.
    """
    if is_too_long(a, b):
        return False
    return _attributes_differ(a, b) or _is_denial(a, b) or _has_other_details(a, b)


def is_too_long(*texts: str) -> bool:
    """Whether one text is too long to be compared by its words: that would take long, and a few
    different words say little about a long text."""
    return max(map(len, texts)) > TEXT_CHARS_MAX


def is_correction(text: str) -> bool:
    """Whether a text says that it corrects something; of a long text only the beginning counts.

    "No longer" and "anymore" are no corrections but changes in the world: the old statement was
    true until then.
    """
    plain = unify_spelling(text[:TEXT_CHARS_MAX])
    if _ADDS.search(plain):
        return False
    return _CORRECTS.search(plain) is not None or denied_part(text) is not None


def denied_part(text: str) -> str | None:
    """What a correction denies: "Max" in "Rex, not Max" and in "not Max but Rex"."""
    if is_too_long(text):
        return None
    plain = unify_spelling(text)
    found = _NOT_BUT.search(plain) or _COMMA_NOT.search(plain)
    return found[1] if found else None


def _attributes_differ(a: str, b: str) -> bool:
    first, second = parse_attribute(a), parse_attribute(b)
    if first is None or second is None:
        return False
    return is_same_person(first.subject_hint, second.subject_hint) and is_incompatible(
        first, second
    )


def _is_denial(a: str, b: str) -> bool:
    """Whether one negates the other: the same words but for at most one, and exactly one of the two
    texts has an odd number of negations."""
    (first, first_denies), (second, second_denies) = _parse_claim(a), _parse_claim(b)
    return first_denies != second_denies and bool(first & second) and len(first ^ second) <= 1


def _parse_claim(text: str) -> tuple[frozenset[str], bool]:
    """The stems of the content words of a text, and whether it denies them."""
    words = [
        SYNONYMS.get(word, word) for word in tokens(_NOT.sub(" not ", _replace_cant_stand(text)))
    ]
    denials = sum(word in NEGATIONS or word in OPPOSITES for word in words)
    content_words = (OPPOSITES.get(word, word) for word in words if not _is_filler(word))
    return frozenset(map(stem, content_words)), denials % 2 == 1


def _replace_cant_stand(text: str) -> str:
    return _CANT_STAND.sub("hate", unify_spelling(text))


def _is_filler(word: str) -> bool:
    return word in NEGATIONS or word in FILLER_WORDS or word in english.STOP_WORDS


def _has_other_details(a: str, b: str) -> bool:
    first, second = _split_copula(a), _split_copula(b)
    if first is None or second is None or first[0] != second[0]:
        return False
    here, there = _detail_words(first[1]), _detail_words(second[1])
    # A text that only adds details agrees.
    return not here <= there and not there <= here


def _detail_words(text: str) -> set[str]:
    found = extract_details(text)
    return {*found.numbers, *found.dates, *found.names}


def _split_copula(text: str) -> tuple[frozenset[str], str] | None:
    """Subject words and predicate of "the office is in Porto": {"offic"}, "x in Porto".

    The "x" keeps the first word of the predicate from being taken for the start of a sentence,
    where a capital does not mean a name.
    """
    found = _IS.fullmatch(strip_lead_in(unify_spelling(text)))
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
