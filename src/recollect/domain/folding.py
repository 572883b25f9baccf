"""When two texts are one text: equal but for case, space and punctuation.

The store keeps a hash of the folded text: after a change here, texts that fold otherwise since no
longer meet the rows from before it.
"""

import re
import unicodedata
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal


@dataclass(frozen=True, slots=True)
class Folded:
    """A text with the hash of its folded form. They go together, so that the hash of a text never
    stands for another one."""

    text: str
    digest: str

    @classmethod
    def of(cls, text: str) -> "Folded":
        """Of a long text this takes a while."""
        return cls(text, sha256(fold(text).encode()).hexdigest())


def is_equal_text(a: str, b: str) -> bool:
    """Whether two texts are equal after folding."""
    return a == b or fold(a) == fold(b)


def fold(text: str) -> str:
    """The text without differences of case, space and punctuation; never empty but for a blank one.

    What looks like punctuation and isn't stays: the point in 1.5, the minus of -5, the percent
    sign, C#, @ann, !=, a/b, a.b. So do accents and symbols. An apostrophe goes without leaving a
    gap.
    """
    lower = normal("NFC", normal("NFD", text).casefold())
    pieces = _MEANT.split(lower)
    plain = (piece if place % 2 else piece.translate(_PLAIN) for place, piece in enumerate(pieces))
    return " ".join("".join(plain).split()) or " ".join(lower.split())


def signs(text: str) -> str:
    """The symbols of a text in their order: of two near copies one may say < and the other >."""
    return "".join(filter(_is_sign, fold(text)))


def normal(form: Literal["NFC", "NFD", "NFKC"], text: str) -> str:
    """A normal form in linear time: the library's takes quadratic time to sort a pile of marks.

    A pile is cut after 64 characters that are no letters: no script has that many on one letter.
    """
    if text.isascii():
        return text
    return "".join(unicodedata.normalize(form, piece) for piece in _PIECE.findall(text))


def _is_sign(char: str) -> bool:
    return char == "!" or unicodedata.category(char)[0] == "S"


class _Plain(dict[int, str]):
    """What each character is to a comparison; filled as characters are met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        shown = _shown(char, category)
        if category not in ("Cn", "Co"):  # most of the code space: not worth keeping
            self[code] = shown
        return shown


def _shown(char: str, category: str) -> str:
    if char in _APOSTROPHES or (category == "Cf" and char not in _JOINERS):
        return ""
    return " " if category[0] in "PZ" or category == "Cc" or char == "`" else char


_APOSTROPHES = "'’‘ʼ＇"
# They change what an emoji or a Persian word is.
_JOINERS = "\u200c\u200d"
_PIECE = re.compile(r"\w*\W{0,64}")
_MEANT = re.compile(
    r"((?<=\d)[.,:/-](?=\d)|(?<![^\W_])[-−](?=\d)|(?<=\d)%|(?<=[^\W\d_])#|@"
    # What denies a comparison, and what parts the steps of a path or of a dotted name.
    r"|[!/](?==)|(?:(?<=[^\W_ʼ])|(?<!\S))[./\\](?=[^\W_ʼ]))"
)
_PLAIN = _Plain()
