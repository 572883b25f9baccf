"""Cursors of searches over memories."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.kernel.errors import InvalidInput
from recollect.search.memories.cursor import MemoryPosition

MINE, OTHER = b"12345678", b"87654321"
HERE = MemoryPosition(0.5, "m-5", 2.0, datetime(2025, 5, 7, 12, 30, 1, 42, UTC), True)


@given(
    st.floats(-2, 2),
    st.from_regex(r"\A[A-Za-z0-9._:-]{1,128}\Z"),
    st.floats(1e-6, 1e6),
    st.datetimes(timezones=st.just(UTC)),
    st.booleans(),
)
def test_a_position_comes_back_from_its_cursor(
    score: float, memory_id: str, scale: float, at: datetime, with_meaning: bool
) -> None:
    position = MemoryPosition(score, memory_id, scale, at, with_meaning)
    assert MemoryPosition.from_cursor(position.to_cursor(MINE), MINE) == position


def test_hits_behind_are_worse_or_have_a_lesser_id() -> None:
    assert HERE.is_followed_by(0.4, "m-9")
    assert HERE.is_followed_by(0.5, "m-4")
    assert not HERE.is_followed_by(0.5, "m-5")
    assert not HERE.is_followed_by(0.5, "m-6")
    assert not HERE.is_followed_by(0.6, "m-1")


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "%%%%",
        "é",
        "A" * 400,
        HERE.to_cursor(OTHER),
        HERE.to_cursor(MINE)[:-8],
        MemoryPosition(float("nan"), "m", 1.0, HERE.at, True).to_cursor(MINE),
        MemoryPosition(1.0, "m", 0.0, HERE.at, True).to_cursor(MINE),
        MemoryPosition(1.0, "m\0", 1.0, HERE.at, True).to_cursor(MINE),
    ],
    ids=[
        "empty",
        "short",
        "no base64",
        "no ascii",
        "noise",
        "of another search",
        "cut",
        "no score",
        "no scale",
        "no id",
    ],
)
def test_any_other_text_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidInput):
        MemoryPosition.from_cursor(cursor, MINE)
