"""Sync: the contract's table, and what follows from it for any state."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.conversations.entries.epochs import SyncPlan, plan_sync
from recollect.kernel.strict_json import is_equal
from tests.support.strategies import json_values

Stored = list[tuple[str, list[Any]]]

NO_OP, WRITES = True, False
SAME, NEXT = False, True


@pytest.mark.parametrize(
    ("latest", "existing", "new", "plan"),
    [
        (None, [], [], SyncPlan(None, None, NO_OP, SAME)),
        (None, [], [1], SyncPlan([1], 1, WRITES, SAME)),
        (3, [("old", [1])], [1], SyncPlan([1], 4, WRITES, NEXT)),
        (3, [("old", [1])], [], SyncPlan([], 4, WRITES, NEXT)),
        (3, [("old", [])], [], SyncPlan([], 4, WRITES, NEXT)),
        (3, [("m", [1]), ("old", [2])], [1, 2], SyncPlan([1, 2], 4, WRITES, NEXT)),
        (3, [("m", [1, 2])], [1, 2], SyncPlan(None, 3, NO_OP, SAME)),
        (3, [("m", [1]), ("m", [2])], [1, 2], SyncPlan(None, 3, NO_OP, SAME)),
        (3, [("m", [])], [], SyncPlan(None, 3, NO_OP, SAME)),
        (3, [("m", [{"a": 1, "b": 2}])], [{"b": 2.0, "a": 1}], SyncPlan(None, 3, NO_OP, SAME)),
        (3, [("m", [1])], [1, 2, 3], SyncPlan([2, 3], 3, WRITES, SAME)),
        (3, [("m", [1]), ("m", [2])], [1, 2, 3], SyncPlan([3], 3, WRITES, SAME)),
        (3, [("m", [])], [1], SyncPlan([1], 3, WRITES, SAME)),
        (3, [("m", [1, 2])], [1], SyncPlan([1], 4, WRITES, NEXT)),
        (3, [("m", [1, 2])], [2, 1], SyncPlan([2, 1], 4, WRITES, NEXT)),
        (3, [("m", [1])], [2, 1], SyncPlan([2, 1], 4, WRITES, NEXT)),
        (3, [("m", [1])], [True], SyncPlan([True], 4, WRITES, NEXT)),
        (3, [("m", [{"x": None}])], [{}], SyncPlan([{}], 4, WRITES, NEXT)),
        (3, [("m", [1])], [], SyncPlan([], 4, WRITES, NEXT)),
    ],
)
def test_the_table(latest: int | None, existing: Stored, new: list[Any], plan: SyncPlan) -> None:
    assert plan_sync(latest, existing, "m", new) == plan


class Memory:
    """One client's memory as a store would keep it: entries of numbered epochs."""

    def __init__(self) -> None:
        self.entries: list[tuple[int, str, list[Any]]] = []

    def sync(self, content_type: str, new: list[Any]) -> SyncPlan:
        plan = plan_sync(self.latest, self.existing(), content_type, new)
        if plan.store is not None:
            assert plan.epoch is not None
            self.entries.append((plan.epoch, content_type, plan.store))
        return plan

    @property
    def latest(self) -> int | None:
        return max((epoch for epoch, _, _ in self.entries), default=None)

    def existing(self) -> Stored:
        return [(kind, content) for epoch, kind, content in self.entries if epoch == self.latest]

    def items(self) -> list[Any]:
        return [item for _, content in self.existing() for item in content]


small_lists = st.lists(st.integers(0, 2), max_size=4)
any_lists = small_lists | st.lists(json_values, max_size=4)
syncs = st.lists(st.tuples(st.sampled_from(["m", "n"]), any_lists), min_size=1, max_size=8)


@given(syncs)
def test_after_every_sync_the_memory_is_exactly_the_new_list(
    syncs: list[tuple[str, list[Any]]],
) -> None:
    memory = Memory()
    for content_type, new in syncs:
        memory.sync(content_type, new)
        assert is_equal(memory.items(), new)


@given(syncs)
def test_a_repeated_sync_is_a_no_op_of_the_same_epoch(syncs: list[tuple[str, list[Any]]]) -> None:
    memory = Memory()
    for content_type, new in syncs:
        first, before = memory.sync(content_type, new), list(memory.entries)
        again = memory.sync(content_type, new)
        assert again == SyncPlan(None, first.epoch, NO_OP, SAME)
        assert memory.entries == before


@given(syncs)
def test_epochs_grow_by_one_exactly_when_the_answer_says_so(
    syncs: list[tuple[str, list[Any]]],
) -> None:
    memory = Memory()
    for content_type, new in syncs:
        before, plan = memory.latest, memory.sync(content_type, new)
        assert plan.epoch == memory.latest
        assert plan.epoch_incremented == (before is not None and memory.latest == before + 1)
        assert plan.no_op == (plan.store is None)


@given(small_lists, small_lists)
def test_an_extension_stores_only_what_is_new(old: list[int], more: list[int]) -> None:
    plan = plan_sync(7, [("m", list(old))], "m", old + more)
    assert (plan.store or []) == more
    assert plan.epoch == 7
