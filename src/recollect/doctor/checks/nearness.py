"""Similar statements of a space, by the cosine of their vectors.

Rows come ordered by space and time. Each is compared with the last rows before it in its space,
which a window carries from page to page.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from recollect.doctor.rows import StatementVector
from recollect.embedding.port import Vector
from recollect.kernel.ids import MemoryId
from recollect.kernel.space import Space

# A statement is compared with so many before it in its space. Comparing it with all would take time
# by the square of the rows; the price is that older duplicates are not found.
WINDOW_ROWS = 4_096
_OLDER_MAX = 20

OlderMatches = dict[MemoryId, float]


@dataclass(frozen=True, slots=True)
class VectorWindow:
    """The last rows of the space that the pass is in. One row of `vectors` for each id."""

    space: Space | None = None
    ids: tuple[MemoryId, ...] = ()
    vectors: Vector = field(default_factory=lambda: np.empty((0, 0), dtype=np.float32))


def find_older_duplicates(
    window: VectorWindow, rows: Sequence[StatementVector], at_least: float
) -> tuple[VectorWindow, dict[MemoryId, OlderMatches]]:
    """For each row the earlier ones with a cosine of `at_least` or more, best first, and the window
    for the next page."""
    found: dict[MemoryId, OlderMatches] = {}
    for space, group in groupby(rows, key=lambda row: row.space):
        before = window if window.space == space else VectorWindow(space)
        window = _extend_window(before, list(group))
        found |= _find_near(window, len(before.ids), at_least)
        window = VectorWindow(space, window.ids[-WINDOW_ROWS:], window.vectors[-WINDOW_ROWS:])
    return window, found


def _extend_window(before: VectorWindow, rows: Sequence[StatementVector]) -> VectorWindow:
    fresh = np.stack([row.vector for row in rows])
    vectors = np.concatenate([before.vectors, fresh]) if before.ids else fresh
    return VectorWindow(before.space, (*before.ids, *(row.memory_id for row in rows)), vectors)


def _find_near(window: VectorWindow, known: int, at_least: float) -> dict[MemoryId, OlderMatches]:
    """Matches of the rows from index `known` on, each with rows before it.

    `cosines` has a row for each new vector and a column for each vector of the window; vectors have
    length 1, so the product is the cosine. New row i is column `known + i`, and `tril` with the
    offset `known - 1` sets everything from that column on to 0. So a row is compared neither with
    itself nor with later ones.
    """
    fresh = window.vectors[known:]
    cosines = np.tril(fresh @ window.vectors.T, known - 1)
    near: dict[MemoryId, OlderMatches] = {}
    for place in np.flatnonzero((cosines >= at_least).any(axis=1)):
        row = cosines[place]
        best = sorted(np.flatnonzero(row >= at_least), key=lambda old: -row[old])[:_OLDER_MAX]
        near[window.ids[known + place]] = {window.ids[old]: float(row[old]) for old in best}
    return near
