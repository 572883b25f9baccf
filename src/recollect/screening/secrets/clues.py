"""What a quick look at a text shows, so that the slow rules for secrets run on few texts.

A clue may be there without a secret, but never a secret without its clue.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple


class ViewClues(NamedTuple):
    """What is seen of one view of a text at once.

    `lower` is the view with every letter that a pattern without letter case takes for an ASCII one
    in lower case. `words` are its runs of ASCII letters in lower case, None if a word may begin or
    hide elsewhere: in another script, or at a capital inside of a word. `longest` is the length of
    the longest run without white space.
    """

    view: str
    lower: str
    words: frozenset[bytes] | None
    longest: int

    @classmethod
    def from_view(cls, view: str) -> "ViewClues":
        """What is seen of this view."""
        longest = max(map(len, view.split()), default=0)
        if not view.isascii():
            return cls(view, view.translate(_SAME_LETTERS).lower(), None, longest)
        lower = view.lower()
        hidden = lower != view and _INNER_CAPITAL.search(view) is not None
        return cls(view, lower, None if hidden else split_words(view), longest)

    def has_any(self, hints: Iterable[str]) -> bool:
        """Is one of these, in lower case, anywhere in the text?"""
        return any(map(self.lower.__contains__, hints))

    def has_word(self, words: frozenset[bytes]) -> bool:
        """May one of these be a word of the text?"""
        return self.words is None or not self.words.isdisjoint(words)


def split_words(text: str) -> frozenset[bytes]:
    """The runs of letters in an ASCII text, in lower case."""
    return frozenset(text.encode("ascii").translate(_LETTERS).split())


_SAME_LETTERS = str.maketrans("ıİſ\u212a", "iisk")
_INNER_CAPITAL = re.compile("[A-Z](?<=[a-z][A-Z])")
_LETTERS = bytes(
    code if chr(code).isalpha() else 32
    for code in b"".join([bytes(range(128)).lower(), bytes(128)])
)
