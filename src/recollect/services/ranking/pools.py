"""Append-only arrays that successive corpora share.

A pool is a view of the first rows of a buffer. Its successor writes behind them, where no reader
of the older pool looks, so adding a few rows copies nothing that is there already.
"""

import threading
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.generic)


class _Buffer(Generic[Number]):
    """Room for rows, and how many are taken by any of the pools upon it."""

    def __init__(self, rows: NDArray[Number], filled: int) -> None:
        self.rows = rows
        self.filled = filled
        self.lock = threading.Lock()


class Pool(Generic[Number]):
    """Rows that never change. `appended` gives a longer pool and leaves this one as it is."""

    def __init__(self, rows: NDArray[Number]) -> None:
        self._buffer = _Buffer(rows, len(rows))
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def appended(self, more: NDArray[Number]) -> "Pool[Number]":
        """A pool with these rows at its end."""
        pool, room = self.grown(len(more))
        room[:] = more
        return pool

    def grown(self, count: int) -> tuple["Pool[Number]", NDArray[Number]]:
        """A pool with so many more rows, and those rows: to be filled before anybody reads it."""
        size = len(self) + count
        buffer = self._claim(size)
        pool = Pool(buffer.rows[:size])
        pool._buffer = buffer
        return pool, pool.rows[len(self) :]

    def _claim(self, size: int) -> _Buffer[Number]:
        """The buffer, if the rows behind this pool are nobody's yet; else a larger copy."""
        with self._buffer.lock:
            if self._buffer.filled == len(self) and size <= len(self._buffer.rows):
                self._buffer.filled = size
                return self._buffer
        room = np.empty((size + size // 2 + 16, *self.rows.shape[1:]), self.rows.dtype)
        room[: len(self)] = self.rows
        return _Buffer(room, size)
