"""Which statements of a space are near each other, by their vectors: one pass in the order of
spaces and times, each row beside those that stand before it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from recollect.domain.memories import MemoryId
from recollect.domain.spaces import Space
from recollect.ports.doctor import SpacedVector
from recollect.ports.search import Vector

# With so many that stand before it in its space a statement is compared, so that the time grows as
# the number of rows does.
WINDOW_ROWS = 4_096
_OLDER_MAX = 20

Olders = dict[MemoryId, float]


@dataclass(frozen=True, slots=True)
class Window:
    """The last rows of the space that the pass is in."""

    space: Space | None = None
    ids: tuple[MemoryId, ...] = ()
    vectors: Vector = field(default_factory=lambda: np.empty((0, 0), dtype=np.float32))


def older_copies(
    window: Window, rows: Sequence[SpacedVector], at_least: float
) -> tuple[Window, dict[MemoryId, Olders]]:
    """By id of a row those before it whose cosine is high enough, and the window behind them."""
    found: dict[MemoryId, Olders] = {}
    for space, group in groupby(rows, key=lambda row: row.space):
        before = window if window.space == space else Window(space)
        window = _with(before, list(group))
        found |= _near(window, len(before.ids), at_least)
        window = Window(space, window.ids[-WINDOW_ROWS:], window.vectors[-WINDOW_ROWS:])
    return window, found


def _with(before: Window, rows: Sequence[SpacedVector]) -> Window:
    fresh = np.stack([row.vector for row in rows])
    vectors = np.concatenate([before.vectors, fresh]) if before.ids else fresh
    return Window(before.space, (*before.ids, *(row.memory_id for row in rows)), vectors)


def _near(window: Window, known: int, at_least: float) -> dict[MemoryId, Olders]:
    """Of the rows behind the known ones."""
    fresh = window.vectors[known:]
    cosines = np.tril(fresh @ window.vectors.T, known - 1)
    near: dict[MemoryId, Olders] = {}
    for place in np.flatnonzero((cosines >= at_least).any(axis=1)):
        row = cosines[place]
        best = sorted(np.flatnonzero(row >= at_least), key=lambda old: -row[old])[:_OLDER_MAX]
        near[window.ids[known + place]] = {window.ids[old]: float(row[old]) for old in best}
    return near
