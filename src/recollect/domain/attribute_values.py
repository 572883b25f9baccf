"""Values of attributes in a normal form: the words they are compared by, None if they can't be.

Two spellings of one value become the same words; a value that says more has more of them.
"""

import re

from recollect.domain import language
from recollect.domain.attribute_words import NO_PLACES, SAME_WORD
from recollect.domain.details import date_words
from recollect.domain.words import stem, tokens


def normal(value: str) -> str:
    """Without articles and prepositions, in one spelling, as stems."""
    words = [SAME_WORD.get(word, word) for word in tokens(value)]
    return " ".join(stem(word) for word in words if word not in _LITTLE)


def of_noun(name: str, value: str) -> str | None:
    """The value of an attribute that is told by its noun: "my birthday is …"."""
    if name == "birthday":
        return date_words(value)
    return _JOINTS.sub("", value.casefold()) if name in _EXACT else normal(value)


def place(value: str) -> str | None:
    """A place or firm, unless it has no name or the text tells more than that."""
    words = tokens(value)
    if not words or words[0] in _VAGUE or not _MORE.isdisjoint(words):
        return None
    return None if _UNNAMED.match(value) else normal(value)


def birth(value: str) -> str | None:
    """A date of birth, or a part of it."""
    return date_words(value) if any(char.isdigit() for char in value) else None


def birthplace(value: str) -> str | None:
    """A place of birth."""
    return None if any(char.isdigit() for char in value) else normal(value)


def wedded(value: str) -> str:
    """The marital state of who married somebody."""
    return normal(f"married {value}")


_LITTLE = frozenset(("a", "an", "the", "to", "in", "at", "on"))
_VAGUE = NO_PLACES | (language.STOP_WORDS - {"the"})
_MORE = frozenset(("as", "with", "for", "until", "from", "near"))
_UNNAMED = re.compile("[Tt]he [a-z]")
# Each of their characters counts; the marks between them don't.
_EXACT = frozenset(("email", "phone", "postcode"))
_JOINTS = re.compile(r"[\s()./-]+")
