"""Tables that give strings numbers: the words of a corpus, its conversations, trees and speakers.

A string never changes its number, so a corpus and its successors share one table. A reader of an
older corpus may find numbers here that none of its rows has.
"""

import threading
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recollect.text import tokens

# The highest code point: no word continues a prefix with anything above it.
_LAST = chr(0x10FFFF)


class StringInterner:
    """Numbers strings from 0 in the order of their arrival. Updates of several corpora may run on
    different threads: the lock keeps them from giving one number twice."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self.names)

    def intern(self, names: Sequence[str]) -> NDArray[np.int32]:
        """The numbers of these strings. New strings get a number."""
        with self._lock:
            missing = [name for name in dict.fromkeys(names) if name not in self._numbers]
            first = len(self.names)
            self.names += missing
            self._numbers.update(zip(missing, range(first, len(self.names)), strict=True))
        return np.fromiter(map(self._numbers.__getitem__, names), np.int32, len(names))

    def find(self, name: str) -> int | None:
        """The number of a string; None if it has none."""
        return self._numbers.get(name)


class Vocabulary(StringInterner):
    """Numbered words that can be looked up by stem and by prefix. Both lookups are built lazily,
    for the words that came since the last one."""

    def __init__(self) -> None:
        super().__init__()
        self._stems: dict[str, list[int]] = {}
        self._stemmed = 0
        self._sorted: list[str] = []
        self._stem_lock = threading.Lock()

    def numbers_by_stem(self, stem: str) -> list[int]:
        """Numbers of the words with this stem."""
        self._stem_new_words()
        return list(self._stems.get(stem, ()))

    def numbers_by_word(self, word: str) -> list[int]:
        """The number of this word, if it has one."""
        number = self.find(word)
        return [] if number is None else [number]

    def numbers_by_prefix(self, prefix: str) -> list[int]:
        """Numbers of the words with this prefix."""
        listed = self._sorted_words()
        first = bisect_left(listed, prefix)
        last = bisect_left(listed, prefix + _LAST, first)
        return [self._numbers[word] for word in listed[first:last]]

    def group_table(self, groups: Sequence[Sequence[int]]) -> NDArray[np.unsignedinteger]:
        """An array by word number: the group that the word belongs to, counted from 1, or 0. The
        smallest integer type that fits is used, since the array is indexed with every token."""
        table = np.zeros(len(self), np.min_scalar_type(len(groups)))
        for group, members in enumerate(groups, start=1):
            table[members] = group
        return table

    def _stem_new_words(self) -> None:
        with self._stem_lock:
            for number in range(self._stemmed, len(self)):
                self._stems.setdefault(tokens.stem(self.names[number]), []).append(number)
                self._stemmed = number + 1

    def _sorted_words(self) -> list[str]:
        # Without a lock: two threads may both sort, and either result is right.
        listed = self._sorted
        if len(listed) != len(self):
            # Timsort takes about linear time here, as all but the new words are in order.
            listed = sorted([*listed, *self.names[len(listed) :]])
            self._sorted = listed
        return listed
