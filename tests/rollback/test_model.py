"""The record of a rollback."""

import json
from datetime import UTC

from hypothesis import given
from hypothesis import strategies as st

from recollect.kernel.ids import MemoryId
from recollect.memories.model import ArchiveReason, MemoryStatus
from recollect.rollback.model import ArchivedRow, RestoredRow, RollbackChanges

IDS = st.integers(0, 99).map(lambda n: MemoryId(f"m-{n}"))
TIMES = st.none() | st.datetimes(timezones=st.just(UTC))
AWAY = st.builds(
    ArchivedRow,
    IDS,
    st.integers(1, 9),
    st.sampled_from(MemoryStatus),
    st.none() | st.sampled_from(ArchiveReason),
)
BACK = st.builds(RestoredRow, IDS, st.integers(1, 9), st.none() | IDS, TIMES, TIMES)
CHANGES = st.builds(
    RollbackChanges, st.lists(AWAY, max_size=7).map(tuple), st.lists(BACK, max_size=7).map(tuple)
)


@given(CHANGES)
def test_a_record_is_read_back_as_it_was(changes: RollbackChanges) -> None:
    assert RollbackChanges.from_record(json.loads(json.dumps(changes.record))) == changes


@given(CHANGES, st.integers(1, 3))
def test_parts_are_small_and_add_up_to_the_whole(changes: RollbackChanges, size: int) -> None:
    parts = list(changes.batches(size))
    assert sum(parts, RollbackChanges()) == changes
    assert all(len(part.archived) <= size and len(part.restored) <= size for part in parts)
    assert parts
