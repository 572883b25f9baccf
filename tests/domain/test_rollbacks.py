"""The record of a rollback."""

import json
from datetime import UTC

from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.memories import ArchiveReason, MemoryId, Status
from recollect.domain.rollbacks import BroughtBack, Changes, PutAway

IDS = st.integers(0, 99).map(lambda n: MemoryId(f"m-{n}"))
TIMES = st.none() | st.datetimes(timezones=st.just(UTC))
AWAY = st.builds(
    PutAway,
    IDS,
    st.integers(1, 9),
    st.sampled_from(Status),
    st.none() | st.sampled_from(ArchiveReason),
)
BACK = st.builds(BroughtBack, IDS, st.integers(1, 9), st.none() | IDS, TIMES, TIMES)
CHANGES = st.builds(
    Changes, st.lists(AWAY, max_size=7).map(tuple), st.lists(BACK, max_size=7).map(tuple)
)


@given(CHANGES)
def test_a_record_is_read_back_as_it_was(changes: Changes) -> None:
    assert Changes.of(json.loads(json.dumps(changes.record))) == changes


@given(CHANGES, st.integers(1, 3))
def test_parts_are_small_and_add_up_to_the_whole(changes: Changes, size: int) -> None:
    parts = list(changes.parts(size))
    assert sum(parts, Changes()) == changes
    assert all(len(part.archived) <= size and len(part.restored) <= size for part in parts)
    assert parts
