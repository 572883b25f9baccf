"""The minimum sensitivity of a text by its words, and whether it was said in confidence.

English only; the words are in `sensitive_words.py`. Texts in other languages have no minimum.
"""

import re

from recollect.domain import disguises
from recollect.domain.memories import Sensitivity
from recollect.domain.sensitive_words import WORDS, confidence, phrases


def floor(text: str) -> Sensitivity:
    """`sensitive` for health, pregnancy, money, legal trouble and intimacy, else `public`."""
    folded = _folded(text)
    if any(map(_is_sensitive, _WORD.findall(folded))) or phrases().search(folded):
        return Sensitivity.SENSITIVE
    return Sensitivity.PUBLIC


def said_in_confidence(text: str) -> bool:
    """Does the speaker ask to keep it secret, as in "between us" or "don't tell"?"""
    return confidence().search(_folded(text)) is not None


def _folded(text: str) -> str:
    """Lower case, straight apostrophes, one space where there is white space."""
    return _SPACE.sub(" ", disguises.plain(text).casefold().replace("’", "'"))


def _is_sensitive(word: str) -> bool:
    return word in WORDS or any(
        word.endswith(ending) and word.removesuffix(ending) + singular in WORDS
        for ending, singular in _PLURALS
    )


_PLURALS = (("s", ""), ("es", ""), ("ies", "y"))
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"[^\W\d_]+")
