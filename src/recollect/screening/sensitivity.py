"""The minimum sensitivity of a text by its words, and whether it was said in confidence.

English only; the words are in `sensitive_words.py`. Texts in other languages have no minimum.
"""

import re

from recollect.memories.model import Sensitivity
from recollect.screening.sensitive_words import (
    SENSITIVE_WORDS,
    confidence_pattern,
    sensitive_pattern,
)
from recollect.text import deobfuscate


def sensitivity_floor(text: str) -> Sensitivity:
    """`sensitive` for health, pregnancy, money, legal trouble and intimacy, else `public`."""
    folded = _fold(text)
    if any(map(_is_sensitive, _WORD.findall(folded))) or sensitive_pattern().search(folded):
        return Sensitivity.SENSITIVE
    return Sensitivity.PUBLIC


def is_confidential(text: str) -> bool:
    """Does the speaker ask to keep it secret, as in "between us" or "don't tell"?"""
    return confidence_pattern().search(_fold(text)) is not None


def _fold(text: str) -> str:
    """Lower case, straight apostrophes, one space where there is white space."""
    return _SPACE.sub(" ", deobfuscate.to_plain_text(text).casefold().replace("’", "'"))


def _is_sensitive(word: str) -> bool:
    return word in SENSITIVE_WORDS or any(
        word.endswith(ending) and word.removesuffix(ending) + singular in SENSITIVE_WORDS
        for ending, singular in _PLURALS
    )


_PLURALS = (("s", ""), ("es", ""), ("ies", "y"))
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"[^\W\d_]+")
