"""A cache of the words and vectors of memories, shared by all callers.

A cache key is row number and text revision, so an entry can't be out of date. The cache knows
nothing of permissions: every search queries which rows the caller may see, and the revision of
each. A table contains the rows of one search only, so no score can depend on another row.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from recollect.search.memories.rows import MemoryCandidate, MemoryVector, WordRow
from recollect.search.ranking.array_pool import ArrayPool
from recollect.search.ranking.vocabulary import Vocabulary

Ints = NDArray[np.int64]
Key = tuple[int, int]

# Estimated memory of a row and of a word outside the arrays.
_ROW_BYTES = 300
_WORD_BYTES = 200
# An eviction copies what stays, so it frees half the memory at once instead of a little each time.
_KEPT_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class MemoryTable:
    """The rows of one search. The tokens of row i are `tokens[starts[i] : starts[i] + lengths[i]]`;
    its vector is `vectors.rows[places[i]]`, or none if the place is -1. `whole` is false if rows,
    or vectors that they should have, were not in the cache."""

    rows: Sequence[MemoryCandidate]
    vocabulary: Vocabulary
    tokens: NDArray[np.int32]
    starts: Ints
    lengths: Ints
    vectors: ArrayPool[np.float32]
    places: Ints
    whole: bool

    def __len__(self) -> int:
        return len(self.rows)

    def all_tokens(self) -> tuple[NDArray[np.int32], Ints]:
        """Every token of these rows, and the row each belongs to."""
        owners = np.repeat(np.arange(len(self)), self.lengths)
        return _gather_tokens(self.tokens, self.starts, self.lengths), owners

    def row_words(self, row: int) -> list[str]:
        """The words of one row, in text order."""
        first = int(self.starts[row])
        numbers = self.tokens[first : first + int(self.lengths[row])].tolist()
        return [self.vocabulary.names[number] for number in numbers]


@dataclass(slots=True)
class _CachedRows:
    """The cached rows. `slots` maps a key to its index in `starts`, `lengths` and `used`; `places`
    maps it to its vector. Arrays and pools are replaced, never changed in place (`used` excepted,
    which no table reads), so existing tables stay valid while the cache grows."""

    vocabulary: Vocabulary
    tokens: ArrayPool[np.int32]
    vectors: ArrayPool[np.float32]
    slots: dict[Key, int]
    places: dict[Key, int]
    starts: Ints
    lengths: Ints
    used: Ints


class MemoryRowCache:
    """The cache. `build_table` takes a lock; it may be called from any thread.

    The idea: every search of every caller shares one pool of words and one of vectors, and a table
    is nothing but indexes into them. The invariant: a slot is found by row number and revision
    alone, and arrays are replaced rather than changed, so that a table that is being ranked on
    another thread never sees a row change. Rejected: a corpus for each caller, as entries have.
    What a caller may see of memories depends on chat, asker, instant and filter, so a corpus of
    each combination would be built anew for nearly every search (docs/adr/0016).

    Size and recency are tracked by row: `used` holds the tick of the last search that used the row.
    When the cache is too large, the rows used last are copied into a new one. The table is built
    before that, so a search always gets the rows it just added.
    """

    def __init__(self, *, dimensions: int, bytes_max: int) -> None:
        self._dimensions = dimensions
        self._bytes_max = bytes_max
        self._ticks = count(1)
        self._lock = threading.Lock()
        self._cached = _empty_rows(dimensions)

    @property
    def is_busy(self) -> bool:
        """Whether a thread holds the lock, perhaps for long. The event loop must not wait then."""
        return self._lock.locked()

    def find_missing(self, rows: Sequence[MemoryCandidate]) -> tuple[list[int], list[int]]:
        """Numbers of the rows whose words, and of the rows whose vectors, are not cached. Without
        the lock: the answer may be outdated at once, and `MemoryTable.whole` says so later."""
        slots, places = self._cached.slots, self._cached.places
        words = [row.doc for row in rows if (row.doc, row.revision) not in slots]
        vectors = [
            row.doc for row in rows if row.has_vector and (row.doc, row.revision) not in places
        ]
        return words, vectors

    def build_table(
        self,
        rows: Sequence[MemoryCandidate],
        words: Sequence[WordRow],
        vectors: Sequence[MemoryVector],
    ) -> MemoryTable:
        """Add missing words and vectors to the cache and build a table of these rows.

        Rows that were evicted since `find_missing` was called are left out; `whole` is then false.
        """
        with self._lock:
            _add_words(self._cached, words)
            _add_vectors(self._cached, vectors)
            table = self._build_table(rows)
            if _nbytes(self._cached) > self._bytes_max:
                share = _KEPT_SHARE * self._bytes_max / _nbytes(self._cached)
                kept = int(share * len(self._cached.slots))
                self._cached = _most_recent(self._cached, self._dimensions, kept)
        return table

    def _build_table(self, rows: Sequence[MemoryCandidate]) -> MemoryTable:
        cached = self._cached
        keys = [(row.doc, row.revision) for row in rows]
        found = _look_up(cached.slots, keys)
        slots, places = found[found >= 0], _look_up(cached.places, keys)[found >= 0]
        known = rows
        if len(slots) < len(rows):
            known = [row for row, slot in zip(rows, found.tolist(), strict=True) if slot >= 0]
        # In place, under the lock: ticks are only read by an eviction.
        cached.used[slots] = next(self._ticks)
        has_vector = np.fromiter((row.has_vector for row in known), np.bool_, len(known))
        return MemoryTable(
            rows=known,
            vocabulary=cached.vocabulary,
            tokens=cached.tokens.rows,
            starts=cached.starts[slots],
            lengths=cached.lengths[slots],
            vectors=cached.vectors,
            places=places,
            whole=len(known) == len(rows) and not (has_vector & (places < 0)).any(),
        )


def _look_up(numbers: Mapping[Key, int], keys: Sequence[Key]) -> Ints:
    """The number of each key, -1 for unknown ones."""
    return np.fromiter((numbers.get(key, -1) for key in keys), np.int64, len(keys))


def _nbytes(cached: _CachedRows) -> int:
    arrays = cached.tokens.rows.nbytes + cached.vectors.rows.nbytes
    return arrays + _ROW_BYTES * len(cached.slots) + _WORD_BYTES * len(cached.vocabulary)


def _empty_rows(dimensions: int) -> _CachedRows:
    none = np.empty(0, np.int64)
    return _CachedRows(
        vocabulary=Vocabulary(),
        tokens=ArrayPool(np.empty(0, np.int32)),
        vectors=ArrayPool(np.empty((0, dimensions), np.float32)),
        slots={},
        places={},
        starts=none,
        lengths=none,
        used=none,
    )


def _add_words(cached: _CachedRows, words: Sequence[WordRow]) -> None:
    rows = [row for row in words if (row.doc, row.revision) not in cached.slots]
    if not rows:
        return
    # One call of the vocabulary for all rows, since each takes a lock.
    split = [row.terms.split() for row in rows]
    lengths = np.fromiter(map(len, split), np.int64, len(split))
    numbers = cached.vocabulary.intern([word for words in split for word in words])
    _append_rows(cached, [(row.doc, row.revision) for row in rows], lengths, numbers)


def _append_rows(
    cached: _CachedRows, keys: Sequence[Key], lengths: Ints, numbers: NDArray[np.int32]
) -> None:
    first_slot, first_token = len(cached.starts), len(cached.tokens)
    cached.tokens = cached.tokens.concat(numbers)
    cached.starts = np.concatenate([cached.starts, first_token + np.cumsum(lengths) - lengths])
    cached.lengths = np.concatenate([cached.lengths, lengths])
    cached.used = np.concatenate([cached.used, np.zeros(len(keys), np.int64)])
    cached.slots.update(zip(keys, range(first_slot, first_slot + len(keys)), strict=True))


def _add_vectors(cached: _CachedRows, vectors: Sequence[MemoryVector]) -> None:
    rows = [row for row in vectors if (row.doc, row.revision) not in cached.places]
    if not rows:
        return
    first = len(cached.vectors)
    cached.vectors, room = cached.vectors.allocate(len(rows))
    np.concatenate([row.vector for row in rows], out=room.reshape(-1), casting="same_kind")
    keys = [(row.doc, row.revision) for row in rows]
    cached.places.update(zip(keys, range(first, first + len(rows)), strict=True))


def _most_recent(cached: _CachedRows, dimensions: int, kept: int) -> _CachedRows:
    """A copy of the `kept` rows that were used last, with a vocabulary of their words only. Tables
    built from the old rows stay valid, as they refer to the old arrays."""
    keys = list(cached.slots)
    slots = np.fromiter(cached.slots.values(), np.int64, len(keys))
    newest = np.argsort(-cached.used[slots], kind="stable")[:kept]
    slots_kept = slots[newest]
    lengths = cached.lengths[slots_kept]
    copy = _empty_rows(dimensions)
    # Renumber the words: those that occur in no remaining row leave the vocabulary.
    numbers, places = np.unique(
        _gather_tokens(cached.tokens.rows, cached.starts[slots_kept], lengths), return_inverse=True
    )
    renamed = copy.vocabulary.intern(
        [cached.vocabulary.names[number] for number in numbers.tolist()]
    )
    _append_rows(copy, [keys[place] for place in newest.tolist()], lengths, renamed[places])
    copy.used = cached.used[slots_kept]
    kept_places = [(key, cached.places[key]) for key in copy.slots if key in cached.places]
    if kept_places:
        copy.vectors = ArrayPool(cached.vectors.rows[[place for _, place in kept_places]])
        copy.places = {key: place for place, (key, _) in enumerate(kept_places)}
    return copy


def _gather_tokens(tokens: NDArray[np.int32], starts: Ints, lengths: Ints) -> NDArray[np.int32]:
    """The tokens of several rows, one row after the other."""
    # For all rows at once: index in the result, moved by the distance between source and result.
    before = np.cumsum(lengths) - lengths
    where: Ints = np.arange(int(lengths.sum())) + np.repeat(starts - before, lengths)
    found: NDArray[np.int32] = tokens[where]
    return found
