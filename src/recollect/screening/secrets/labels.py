"""The labels that announce a secret, in the languages of `data/secret_labels.txt`.

They are kept as patterns for a text in lower or upper case, with and without accents.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from recollect.screening.lists import load_sections, load_words

_FILE = "secret_labels.txt"
_JOINT = r"[\s_-]{0,3}"
_END = ""


class LabelKind(StrEnum):
    """What counts as a value after a label."""

    PLAIN = "plain"
    PHRASE = "phrase"
    WEAK = "weak"
    SHORT = "short"
    DIGITS = "digits"
    PLACED = "placed"


class Label(NamedTuple):
    """How a label is judged: its kind, and the fewest digits of its value if that is a number;
    `loose_min` of them where nothing but a blank stands between."""

    kind: LabelKind
    digits_min: int = 0
    loose_min: int = 4

    @property
    def names_member(self) -> bool:
        """Is a member of a record with this name a secret whatever its value looks like?"""
        return not self.wants_sign and self.kind is not LabelKind.PLACED

    @property
    def wants_sign(self) -> bool:
        """Is only a value with a digit or a symbol one?"""
        return self.kind in (LabelKind.WEAK, LabelKind.SHORT)


@cache
def known_labels() -> dict[str, Label]:
    """Every label by its letters, without accents and joints."""
    return {
        to_letters(words): label for name in ("", "joined ") for words, label in _load_labels(name)
    }


@cache
def label_pattern() -> str:
    """A pattern of the labels of scripts that put spaces between words."""
    return trie_pattern(_spellings(words for words, _ in _load_labels("")))


@cache
def joined_pattern() -> str:
    """A pattern of the labels of scripts that put none."""
    return trie_pattern(_spellings(words for words, _ in _load_labels("joined ")))


@cache
def phrase_pattern(section: str) -> str:
    """A pattern of the words and rows of words in a section."""
    return trie_pattern(_spellings(load_sections(_FILE)[section]), blank=r"[ \t]{1,3}")


@cache
def compounds() -> frozenset[str]:
    """Words that follow a label and make it the name of something else: `password policy`."""
    return load_words(_FILE, "compounds")


@cache
def places() -> frozenset[str]:
    """Words for what a number opens: doors, safes, alarms."""
    return load_words(_FILE, "places")


@cache
def label_hints() -> tuple[str, ...]:
    """Strings in lower case of which every ASCII text with a label has one, wherever the label
    stands."""
    return tuple(sorted({hint if len(hint) > 1 else label for label, _, hint in _hinted_labels()}))


@cache
def label_words() -> frozenset[bytes]:
    """Of these every ASCII text has one as a word in which a label begins and ends a word. What
    stands between the parts of a label may be nothing, so they may be one word, maybe with an `s`
    behind it."""
    return frozenset(
        f"{''.join(parts[first:end])}{ending}".encode()
        for _, parts, hint in _hinted_labels()
        for first in range(parts.index(hint) + 1)
        for end in range(parts.index(hint) + 1, len(parts) + 1)
        for ending in (("", "s") if end == len(parts) else ("",))
    )


class _HintedLabel(NamedTuple):
    """A label in ASCII, its runs of letters, and the one of these that is looked for."""

    label: str
    parts: tuple[str, ...]
    hint: str


@cache
def _hinted_labels() -> tuple[_HintedLabel, ...]:
    # Few hints serve many labels: those that are labels themselves, then what most labels have.
    spelled = (_spellings([words]) for words, _ in _load_labels(""))
    found = {one.translate(_PLAIN_LETTERS) for some in spelled for one in some}
    plain = {label: tuple(_LETTERS.findall(label)) for label in found if label.isascii()}
    counts = Counter(part for parts in plain.values() for part in parts)
    alone = {parts[0] for parts in plain.values() if len(parts) == 1}

    def rank(part: str) -> tuple[bool, bool, int, int, str]:
        return part in alone, len(part) > 2, counts[part], len(part), part

    return tuple(_HintedLabel(one, parts, max(parts, key=rank)) for one, parts in plain.items())


def to_letters(label: str) -> str:
    """The letters of a label as it stands in a text, in lower case, without accents and joints.

    Letters are the same here that are the same to a pattern without letter case: `ı` is an `i`.
    """
    low = unicodedata.normalize("NFD", label.casefold().translate(_PLAIN_LETTERS))
    return "".join(char for char in low if char.isalnum())


def trie_pattern(words: Iterable[str], *, blank: str = _JOINT) -> str:
    """A pattern of any of the words, the longest first. Each place of a text is looked at once,
    however many words there are."""
    root = _Node()
    for word in words:
        node = root
        for char in word:
            symbol = blank if char in " -" else re.escape(char)
            node = node.setdefault(symbol, _Node())
        node[_END] = _Node()
    return _pattern_of(root)


class _Node(dict[str, "_Node"]):
    """The letters that may follow, each with what may follow it."""


def _pattern_of(node: _Node) -> str:
    rest = [symbol + _pattern_of(after) for symbol, after in node.items() if symbol != _END]
    if not rest:
        return ""
    joined = rest[0] if len(rest) == 1 and _END not in node else f"(?:{'|'.join(rest)})"
    return f"{joined}?" if _END in node else joined


def _load_labels(prefix: str) -> Iterator[tuple[str, Label]]:
    for kind in LabelKind:
        for line in load_sections(_FILE).get(f"{prefix}{kind}", ()):
            words, _, digits = line.partition("=")
            yield words.strip(), Label(kind, *map(int, digits.split()))


def _spellings(written: Iterable[str]) -> list[str]:
    """The words as written, without their accents, and with umlauts as two letters."""
    found: dict[str, None] = {}
    for words in written:
        plain = unicodedata.normalize("NFD", words.translate(_TWO_LETTERS))
        bare = "".join(char for char in plain if not unicodedata.combining(char))
        found |= dict.fromkeys((words, words.translate(_UMLAUTS)))
        if not words[0] >= "\u3000":
            found[unicodedata.normalize("NFC", bare)] = None
    return sorted(found, reverse=True)


_PLAIN_LETTERS = str.maketrans({"ł": "l", "ı": "i"})
_LETTERS = re.compile("[a-z]+")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_TWO_LETTERS = str.maketrans({"ß": "ss", "ł": "l"})
