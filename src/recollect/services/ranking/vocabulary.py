"""Names to numbers: the words of a corpus, and its conversations, trees and speakers.

Numbers are given once and stay, so that a corpus and its successors share one table. A reader of
an older corpus may meet numbers that none of its rows has.
"""

import threading
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recollect.domain import words

# Above every character a word can hold.
_LAST = chr(0x10FFFF)


class Numbers:
    """A number for each name, counted from 0."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self.names)

    def give(self, names: Sequence[str]) -> NDArray[np.int32]:
        """The numbers of these names; who has none yet gets one."""
        with self._lock:
            missing = [name for name in dict.fromkeys(names) if name not in self._numbers]
            first = len(self.names)
            self.names += missing
            self._numbers.update(zip(missing, range(first, len(self.names)), strict=True))
        return np.fromiter(map(self._numbers.__getitem__, names), np.int32, len(names))

    def find(self, name: str) -> int | None:
        """The number of a name, if it has one."""
        return self._numbers.get(name)


class Vocabulary(Numbers):
    """Words, to be found by their stem or by how they begin."""

    def __init__(self) -> None:
        super().__init__()
        self._stems: dict[str, list[int]] = {}
        self._stemmed = 0
        self._sorted: list[str] = []
        self._stem_lock = threading.Lock()

    def with_stem(self, stem: str) -> list[int]:
        """Numbers of the words with this stem."""
        self._stem_new_words()
        return list(self._stems.get(stem, ()))

    def with_prefix(self, prefix: str) -> list[int]:
        """Numbers of the words that begin so."""
        listed = self._in_order()
        first = bisect_left(listed, prefix)
        last = bisect_left(listed, prefix + _LAST, first)
        return [self._numbers[word] for word in listed[first:last]]

    def table(self, groups: Sequence[Sequence[int]]) -> NDArray[np.unsignedinteger]:
        """For each word the group it is in, counted from 1; 0 for the words of none."""
        table = np.zeros(len(self), np.min_scalar_type(len(groups)))
        for group, members in enumerate(groups, start=1):
            table[members] = group
        return table

    def _stem_new_words(self) -> None:
        with self._stem_lock:
            for number in range(self._stemmed, len(self)):
                self._stems.setdefault(words.stem(self.names[number]), []).append(number)
                self._stemmed = number + 1

    def _in_order(self) -> list[str]:
        listed = self._sorted
        if len(listed) != len(self):
            # What is nearly in order is sorted in linear time.
            listed = sorted([*listed, *self.names[len(listed) :]])
            self._sorted = listed
        return listed
