"""The folded text in which personal data is searched, with positions of the original."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

Span = tuple[int, int]
"""Start and end, half open."""


@dataclass(frozen=True, slots=True)
class PiiMatch:
    """One piece of personal data: its tag and its position in the text, half open."""

    tag: str
    start: int
    end: int


def fold_text(text: str) -> tuple[str, Sequence[int]]:
    """The text with ASCII digits, hyphens and spaces, and without invisible characters.

    Also returns, for each character of the result, its position in the original.
    """
    if text.isascii():
        return text, range(len(text))
    kept = [(folded, place) for place, char in enumerate(text) if (folded := _FOLD_TABLE[char])]
    return "".join(folded for folded, _ in kept), [place for _, place in kept]


class _FoldTable(dict[str, str]):
    def __missing__(self, char: str) -> str:
        category = unicodedata.category(char)
        folded = _fold_char(char, category)
        if category not in ("Cn", "Co"):  # most of the code space: not worth keeping
            self[char] = folded
        return folded


def _fold_char(char: str, category: str) -> str:
    if category == "Cf" or char == "\ufe0f":
        return ""
    if category == "Nd":
        return str(unicodedata.decimal(char))
    if category in ("Pd", "Zs") or char == "\u2212":
        return " " if category == "Zs" else "-"
    compatible = unicodedata.normalize("NFKC", char)
    return compatible if len(compatible) == 1 else char


_FOLD_TABLE = _FoldTable()
