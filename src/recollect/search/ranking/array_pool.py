"""Append-only arrays that successive corpora share.

A pool is a view of the first rows of a buffer. Its successor writes behind them, where no reader of
the older pool looks, so appending a few rows copies nothing.
"""

import threading
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.generic)


class _Buffer(Generic[Number]):
    """Allocated rows, and how many of them belong to any pool."""

    def __init__(self, rows: NDArray[Number], filled: int) -> None:
        self.rows = rows
        self.filled = filled
        self.lock = threading.Lock()


class ArrayPool(Generic[Number]):
    """Immutable rows. `concat` returns a longer pool and leaves this one unchanged."""

    def __init__(self, rows: NDArray[Number]) -> None:
        self._buffer = _Buffer(rows, len(rows))
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def concat(self, more: NDArray[Number]) -> "ArrayPool[Number]":
        """A pool with these rows appended."""
        pool, room = self.allocate(len(more))
        room[:] = more
        return pool

    def allocate(self, count: int) -> tuple["ArrayPool[Number]", NDArray[Number]]:
        """A pool with `count` more rows, and a view of these rows. The caller must fill them
        before anybody reads the pool."""
        size = len(self) + count
        buffer = self._claim_buffer(size)
        pool = ArrayPool(buffer.rows[:size])
        pool._buffer = buffer
        return pool, pool.rows[len(self) :]

    def _claim_buffer(self, size: int) -> _Buffer[Number]:
        """A buffer with room for `size` rows, the first of them ours.

        Two threads may extend the same pool at once. Only the first may write behind it in place:
        it claims the space under the lock by moving `filled`. The second finds `filled` beyond its
        own end and gets a copy. So no two pools ever write to the same rows.
        """
        with self._buffer.lock:
            if self._buffer.filled == len(self) and size <= len(self._buffer.rows):
                self._buffer.filled = size
                return self._buffer
        room = np.empty((size + size // 2 + 16, *self.rows.shape[1:]), self.rows.dtype)
        room[: len(self)] = self.rows
        return _Buffer(room, size)
