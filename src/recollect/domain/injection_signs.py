"""What a sign of text that is written for the assistant is, and how it is looked for.

A sign is looked for at its anchors, literal strings that are found fast, and each of its gaps is
bounded: so the time is linear in the text, whatever it is made of. Patterns are matched against
the skeleton of `injection_views.py`. What people and programs also write for good reasons is not
strong.
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

# Between two words: anything but the end of a sentence.
GAP = r"(?:[^\w.!?;]|_){1,4}"

STRONG = 0.85
MIDDLING = 0.5
WEAK = 0.35


@dataclass(frozen=True, slots=True)
class Sign:
    """One way of steering a model: a pattern that begins at one of its anchors."""

    reason: str
    weight: float
    anchors: tuple[str, ...]
    pattern: str

    def is_at(self, reading: str, place: int) -> bool:
        """Whether it is there. Compiled at the first text that holds an anchor: few ever do."""
        return _compiled(self.pattern).match(reading, place) is not None


class Signs:
    """Signs to be looked for together: signs with a common anchor cost one search for it."""

    def __init__(self, signs: Iterable[Sign]) -> None:
        self._by_anchor: dict[str, list[Sign]] = {}
        for one in signs:
            for anchor in one.anchors:
                self._by_anchor.setdefault(anchor, []).append(one)

    def found_in(self, reading: str) -> Iterator[Sign]:
        """Those that are in a text, which is a skeleton; one may come several times."""
        for anchor, signs in self._by_anchor.items():
            place = reading.find(anchor)
            while place >= 0:
                yield from (one for one in signs if one.is_at(reading, place))
                place = reading.find(anchor, place + len(anchor))


def sign(reason: str, weight: float, *, anchors: str, rest: str, behind: str = "") -> Sign:
    """A sign that begins at a word's start with one of the words of `anchors`, joined by `|`.

    `behind` is a pattern of look-behinds that must hold there.
    """
    words = tuple(anchors.split("|"))
    starts = "|".join(map(re.escape, words))
    return Sign(reason, weight, words, rf"(?<![^\W_]){behind}(?:{starts}){rest}")


def mark(reason: str, weight: float, *, anchors: tuple[str, ...], rest: str = "") -> Sign:
    """A sign of punctuation, which may begin anywhere."""
    starts = "|".join(map(re.escape, anchors))
    return Sign(reason, weight, anchors, f"(?:{starts}){rest}")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
