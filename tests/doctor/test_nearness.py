"""Which statements are near each other, page after page, as if all were compared at once."""

from datetime import UTC, datetime

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recollect.doctor.checks.nearness import (
    OlderMatches,
    VectorWindow,
    find_older_duplicates,
)
from recollect.doctor.rows import StatementVector, VectorCursor
from recollect.kernel.ids import MemoryId

AT_LEAST = 0.97
NOON = datetime(2026, 1, 10, 12, tzinfo=UTC)
DIRECTIONS = np.eye(3, dtype=np.float32)


def a_row(number: int, space: str, direction: int) -> StatementVector:
    place = VectorCursor("user", space, NOON, f"m{number:03}")
    return StatementVector(place, DIRECTIONS[direction])


# In the order in which storage gives them: space after space.
pages = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), max_size=20).map(sorted)


@given(pages, st.integers(1, 7))
def test_pages_of_any_size_find_the_same(statements: list[tuple[str, int]], size: int) -> None:
    rows = [a_row(number, *one) for number, one in enumerate(statements)]
    window, found = VectorWindow(), dict[MemoryId, OlderMatches]()
    for at in range(0, len(rows), size):
        window, more = find_older_duplicates(window, rows[at : at + size], AT_LEAST)
        found |= more
    assert {id_: set(older) for id_, older in found.items()} == _one_by_one(rows)


def _one_by_one(rows: list[StatementVector]) -> dict[MemoryId, set[MemoryId]]:
    near = {
        row.memory_id: {
            old.memory_id
            for old in rows[:at]
            if old.space == row.space and float(old.vector @ row.vector) >= AT_LEAST
        }
        for at, row in enumerate(rows)
    }
    return {id_: older for id_, older in near.items() if older}


def test_the_nearest_older_one_comes_first() -> None:
    place = [VectorCursor("user", "a", NOON, f"m{number}") for number in range(3)]
    vectors = np.array([[1, 0.1], [1, 0.02], [1, 0]], dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    rows = [StatementVector(*row) for row in zip(place, vectors, strict=True)]
    _, found = find_older_duplicates(VectorWindow(), rows, AT_LEAST)
    assert list(found[MemoryId("m2")]) == ["m1", "m0"]
