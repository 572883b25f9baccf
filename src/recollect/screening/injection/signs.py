"""Signs of prompt injection, and how a text is searched for them.

A sign is searched at its anchors, literal strings that `str.find` finds fast, and every gap in its
pattern is bounded. So the time is linear in the text, whatever it contains. Patterns match the
skeleton of `screening/injection/views.py`. A sign that people also write for good reasons is not
STRONG.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

ORDERS = "orders"
SYSTEM_CLAIM = "system_claim"
ROLE_MARKER = "role_marker"
TOOL_CALL = "tool_call"
HIDDEN = "hidden_characters"

# What may stand between two words of a sign: a few characters, but no end of a sentence.
GAP = r"(?:[^\w.!?;]|_){1,4}"

STRONG = 0.85
MIDDLING = 0.5
WEAK = 0.35


@dataclass(frozen=True, slots=True)
class InjectionSign:
    """One sign: a pattern that begins at one of its anchors, with its kind and weight."""

    reason: str
    weight: float
    anchors: tuple[str, ...]
    pattern: str

    def matches_at(self, reading: str, place: int) -> bool:
        """Does the pattern match here? It is compiled at the first text that has an anchor."""
        return _compile(self.pattern).match(reading, place) is not None


class InjectionSignSet:
    """Signs that are searched together; those with a common anchor share one search for it."""

    def __init__(self, signs: Iterable[InjectionSign]) -> None:
        self._by_anchor: dict[str, list[InjectionSign]] = {}
        for one in signs:
            for anchor in one.anchors:
                self._by_anchor.setdefault(anchor, []).append(one)

    def find_in(self, reading: str) -> Iterator[InjectionSign]:
        """The signs in a text, which must be a skeleton. One sign may come several times."""
        for anchor, signs in self._by_anchor.items():
            place = reading.find(anchor)
            # The next search starts behind the anchor, so anchors don't overlap with themselves,
            # and the number of matches tried is linear in the text.
            while place >= 0:
                yield from (one for one in signs if one.matches_at(reading, place))
                place = reading.find(anchor, place + len(anchor))


def word_sign(
    reason: str, weight: float, *, anchors: str, rest: str, behind: str = ""
) -> InjectionSign:
    """A sign that begins at the start of a word with one of `anchors`, which are joined by `|`.

    `rest` is the pattern after the anchor, `behind` one of look-behinds before it.
    """
    words = tuple(anchors.split("|"))
    starts = "|".join(map(re.escape, words))
    return InjectionSign(reason, weight, words, rf"(?<![^\W_]){behind}(?:{starts}){rest}")


def punctuation_sign(
    reason: str, weight: float, *, anchors: tuple[str, ...], rest: str = ""
) -> InjectionSign:
    """A sign of punctuation, such as a tag: it may begin anywhere, also inside of a word."""
    starts = "|".join(map(re.escape, anchors))
    return InjectionSign(reason, weight, anchors, f"(?:{starts}){rest}")


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
