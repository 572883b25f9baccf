"""Folds texts for comparison: texts that differ only in case, space and punctuation are equal.

The database stores a hash of the folded text. After a change here, new hashes of some texts differ
from the stored ones, and these texts no longer match their older rows.
"""

import re
import unicodedata
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A text with the hash of its folded form, kept together so that a hash is never used with
    another text."""

    text: str
    digest: str

    @classmethod
    def from_text(cls, text: str) -> "FoldedText":
        """Fold and hash a text. Slow for long texts."""
        return cls(text, sha256(fold(text).encode()).hexdigest())


def is_equal_text(a: str, b: str) -> bool:
    """Whether two texts are equal after folding."""
    return a == b or fold(a) == fold(b)


def fold(text: str) -> str:
    """The text in lower case, with single spaces and without punctuation; empty only if blank.

    Punctuation that carries meaning stays: the point in 1.5, the minus in -5, the percent sign,
    C#, @ann, !=, a/b, a.b. So do accents and symbols. Apostrophes are removed, other punctuation
    becomes a space. A text of punctuation alone is not folded further, so that it doesn't become
    empty.
    """
    lower = normalize_unicode("NFC", normalize_unicode("NFD", text).casefold())
    # The pattern has one group, so split returns the separators too, at odd indexes: these are the
    # punctuation that carries meaning, and stay as they are.
    pieces = _MEANINGFUL.split(lower)
    plain = (
        piece if place % 2 else piece.translate(_FOLDED_CHARS) for place, piece in enumerate(pieces)
    )
    return " ".join("".join(plain).split()) or " ".join(lower.split())


def extract_symbols(text: str) -> str:
    """The symbols of a text in order. Near copies may differ in one: "<" and ">"."""
    return "".join(filter(_is_symbol, fold(text)))


def normalize_unicode(form: Literal["NFC", "NFD", "NFKC"], text: str) -> str:
    """A Unicode normal form in linear time. `unicodedata` takes quadratic time on a long run of
    combining marks, because it sorts them.

    So the text is normalised in pieces, and a run of non-letters is cut after 64 characters. No
    script has that many marks on one letter.
    """
    if text.isascii():
        return text
    return "".join(unicodedata.normalize(form, piece) for piece in _PIECE.findall(text))


def _is_symbol(char: str) -> bool:
    return char == "!" or unicodedata.category(char)[0] == "S"


class _FoldedChars(dict[int, str]):
    """A table for `str.translate`, filled as characters occur."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        folded = _folded_char(char, category)
        if category not in ("Cn", "Co"):  # most of the code space: not worth keeping
            self[code] = folded
        return folded


def _folded_char(char: str, category: str) -> str:
    if char in _APOSTROPHES or (category == "Cf" and char not in _JOINERS):
        return ""
    return " " if category[0] in "PZ" or category == "Cc" or char == "`" else char


_APOSTROPHES = "'’‘ʼ＇"
# Joiners make a difference in emoji and in Persian words.
_JOINERS = "\u200c\u200d"
_PIECE = re.compile(r"\w*\W{0,64}")
_MEANINGFUL = re.compile(
    r"((?<=\d)[.,:/-](?=\d)|(?<![^\W_])[-−](?=\d)|(?<=\d)%|(?<=[^\W\d_])#|@"
    # Negated comparisons, and separators in paths and dotted names.
    r"|[!/](?==)|(?:(?<=[^\W_ʼ])|(?<!\S))[./\\](?=[^\W_ʼ]))"
)
_FOLDED_CHARS = _FoldedChars()
