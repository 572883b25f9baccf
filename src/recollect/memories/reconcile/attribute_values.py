"""Normalises the values of attributes to the words that they are compared by.

Two spellings of one value give the same words; a more specific value gives more of them. None means
that the value can't be compared.
"""

import re

from recollect.memories.reconcile.attribute_words import NO_PLACES, SYNONYMS
from recollect.memories.reconcile.details import date_words
from recollect.text import english
from recollect.text.tokens import stem, tokens


def normalise(value: str) -> str:
    """Stems in one spelling, without articles and prepositions."""
    words = [SYNONYMS.get(word, word) for word in tokens(value)]
    return " ".join(stem(word) for word in words if word not in _IGNORED_WORDS)


def normalise_noun_value(name: str, value: str) -> str | None:
    """The value of an attribute that is named by a noun: "my birthday is …"."""
    if name == "birthday":
        return date_words(value)
    return _SEPARATORS.sub("", value.casefold()) if name in _EXACT_ATTRIBUTES else normalise(value)


def normalise_place(value: str) -> str | None:
    """A place or company; None if it has no name, or if more follows it."""
    words = tokens(value)
    if not words or words[0] in _VAGUE_WORDS or not _CONTINUATION_WORDS.isdisjoint(words):
        return None
    return None if _UNNAMED_PLACE.match(value) else normalise(value)


def normalise_birth_date(value: str) -> str | None:
    """A date of birth or a part of one; None without digits."""
    return date_words(value) if any(char.isdigit() for char in value) else None


def normalise_birthplace(value: str) -> str | None:
    """A place of birth; None with digits, which mean a date."""
    return None if any(char.isdigit() for char in value) else normalise(value)


def normalise_marriage(value: str) -> str:
    """The marital state "married" with the spouse."""
    return normalise(f"married {value}")


_IGNORED_WORDS = frozenset(("a", "an", "the", "to", "in", "at", "on"))
_VAGUE_WORDS = NO_PLACES | (english.STOP_WORDS - {"the"})
_CONTINUATION_WORDS = frozenset(("as", "with", "for", "until", "from", "near"))
_UNNAMED_PLACE = re.compile("[Tt]he [a-z]")
# Attributes whose characters all count. Only separators are removed.
_EXACT_ATTRIBUTES = frozenset(("email", "phone", "postcode"))
_SEPARATORS = re.compile(r"[\s()./-]+")
