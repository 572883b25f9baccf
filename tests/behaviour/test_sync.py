"""Sync: the table of outcomes, equality of JSON, and many syncs at once."""

from functools import partial
from typing import Any

import pytest

from tests.support.world import World, at_once, memory, new_id, text_of


def outcome(done: dict[str, Any]) -> tuple[int | None, bool, bool, list[Any] | None]:
    """What a sync answered, in the order of the contract's table, and what it stored."""
    assert set(done) == {"epoch", "noOp", "epochIncremented", "entry"}
    stored = done["entry"] and done["entry"]["content"]
    return done["epoch"], done["noOp"], done["epochIncremented"], stored


def test_an_empty_sync_of_an_unknown_conversation_creates_nothing(world: World) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    assert outcome(ann.syncs(conversation, [])) == (None, True, False, None)
    ann.call("get_conversation", conversation).refused(404, "not_found")


def test_the_first_sync_creates_epoch_1(world: World) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    done = ann.syncs(conversation, ["a", "b"])
    assert outcome(done) == (1, False, False, ["a", "b"])
    assert ann.gets(conversation)["ownerUserId"] == ann.name
    assert ann.call("list_entries", conversation).expect(200)["data"] == [done["entry"]]


def test_an_empty_sync_without_memory_is_a_no_op(world: World) -> None:
    ann = world.user("ann").with_key("k1")
    conversation = ann.starts()
    assert outcome(ann.syncs(conversation, [])) == (None, True, False, None)


def test_the_same_list_is_a_no_op(world: World) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    ann.syncs(conversation, ["a", "b"])
    assert outcome(ann.syncs(conversation, ["a", "b"])) == (1, True, False, None)


def test_a_longer_list_stores_the_rest_alone(world: World) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    ann.syncs(conversation, ["a"])
    assert outcome(ann.syncs(conversation, ["a", "b", "c"])) == (1, False, False, ["b", "c"])
    assert outcome(ann.syncs(conversation, ["a", "b", "c"])) == (1, True, False, None)
    assert ann.texts(conversation) == ["a", "b|c"]


@pytest.mark.scenario(17)
def test_a_shorter_list_and_an_empty_one_begin_new_epochs(world: World) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    ann.syncs(conversation, ["a", "b"])
    assert outcome(ann.syncs(conversation, ["a"])) == (2, False, True, ["a"])
    assert outcome(ann.syncs(conversation, [])) == (3, False, True, [])
    page = ann.call("list_entries", conversation).expect(200)["data"]
    assert [(e["epoch"], e["content"]) for e in page] == [(3, [])]
    assert outcome(ann.syncs(conversation, [])) == (3, True, False, None)
    assert outcome(ann.syncs(conversation, ["x"])) == (3, False, False, ["x"])


@pytest.mark.parametrize("changed", [["b"], ["b", "a"], ["a", "c", "b"], [["a", "b"]]])
def test_a_different_list_begins_a_new_epoch(world: World, changed: list[Any]) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    ann.syncs(conversation, ["a", "b"])
    assert outcome(ann.syncs(conversation, changed)) == (2, False, True, changed)
    assert ann.texts(conversation, epoch=1) == ["a|b"]


def test_another_content_type_begins_a_new_epoch(world: World) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    ann.syncs(conversation, ["a"], contentType="one")
    done = ann.syncs(conversation, ["a"], contentType="two")
    assert outcome(done) == (2, False, True, ["a"])
    assert outcome(ann.syncs(conversation, [], contentType="one")) == (3, False, True, [])


def test_plain_appends_count_as_memory(world: World) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    ann.notes(conversation, "a")
    ann.notes(conversation, "b", "c")
    assert outcome(ann.syncs(conversation, ["a", "b", "c"])) == (1, True, False, None)
    assert outcome(ann.syncs(conversation, ["a", "b", "c", "d"])) == (1, False, False, ["d"])


def test_clients_have_epochs_of_their_own(world: World) -> None:
    ann, conversation = world.user("ann"), new_id()
    k1, k2 = ann.with_key("k1"), ann.with_key("k2")
    k1.syncs(conversation, ["a"])
    k1.syncs(conversation, ["b"])
    assert outcome(k2.syncs(conversation, ["a"])) == (1, False, False, ["a"])
    assert outcome(k1.syncs(conversation, ["b"])) == (2, True, False, None)


@pytest.mark.parametrize(
    ("stored", "sent"),
    [
        ([{"a": 1, "b": 2}], [{"b": 2, "a": 1}]),
        ([1], [1.0]),
        ([{"n": [1, 2.0]}], [{"n": [1.0, 2]}]),
        ([0.1], [0.1]),
        ([-0.0], [0]),
        ([None], [None]),
        (["é"], ["é"]),
        ([12345678901234567890], [12345678901234567890]),
    ],
)
def test_lists_equal_by_value_are_no_ops(world: World, stored: list[Any], sent: list[Any]) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    ann.syncs(conversation, stored)
    assert ann.syncs(conversation, sent)["noOp"] is True


@pytest.mark.scenario(21)
@pytest.mark.parametrize(
    ("stored", "sent"),
    [
        ([{"n": 1, "x": None}], [{"n": 1}]),
        ([True], [1]),
        ([False], [0]),
        (["1"], [1]),
        ([[1, 2]], [[2, 1]]),
        (["e\u0301"], ["é"]),
        ([12345678901234567890], [12345678901234567891]),
        ([{"a": {}}], [{"a": []}]),
    ],
)
def test_lists_that_differ_in_value_begin_a_new_epoch(
    world: World, stored: list[Any], sent: list[Any]
) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    ann.syncs(conversation, stored)
    assert outcome(ann.syncs(conversation, sent)) == (2, False, True, sent)


@pytest.mark.scenario(21)
def test_a_number_synced_as_a_double_is_a_no_op(world: World) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    ann.syncs(conversation, [{"n": 1, "x": None}])
    assert ann.syncs(conversation, [{"x": None, "n": 1.0}])["noOp"] is True


@pytest.mark.scenario(18)
def test_memory_appended_to_a_fork_joins_the_inherited_epoch(world: World) -> None:
    ann, conversation = world.user("ann"), new_id()
    k1 = ann.with_key("k1")
    k1.syncs(conversation, ["a"])
    k1.syncs(conversation, ["b"])
    fork = ann.forks(conversation, ann.says(conversation, "cut"))
    assert k1.notes(fork, "c")["epoch"] == 2
    assert k1.texts(fork, epoch="latest") == ["b", "c"]
    assert k1.texts(conversation, channel="memory") == ["b"]


def test_epochs_of_forks_go_on_from_the_visible_path_alone(world: World) -> None:
    ann, root = world.user("ann"), new_id()
    k1 = ann.with_key("k1")
    k1.syncs(root, ["a"])
    fork = ann.forks(root, ann.says(root, "cut"))
    k1.syncs(root, ["r"])
    assert outcome(k1.syncs(fork, ["a", "f"])) == (1, False, False, ["f"])
    assert outcome(k1.syncs(fork, ["g"])) == (2, False, True, ["g"])
    assert k1.texts(root, channel="memory") == ["r"]
    assert k1.texts(fork, channel="memory") == ["g"]
    assert outcome(k1.syncs(root, ["r"])) == (2, True, False, None)


def test_the_user_takes_no_part_in_the_comparison(world: World) -> None:
    ann = world.user("ann").with_key("k1")
    conversation = ann.starts()
    [wil] = world.members(conversation, ann, "writer")
    ann.syncs(conversation, ["a"], userId=ann.name)
    assert wil.with_key("k1").syncs(conversation, ["a"], userId=wil.name)["noOp"] is True


@pytest.mark.scenario(19)
def test_a_stranger_learns_no_epoch(world: World) -> None:
    ann = world.user("ann").with_key("k1")
    conversation = ann.starts()
    ann.syncs(conversation, ["a"])
    [rob] = world.members(conversation, ann, "reader")
    for user in (world.user("sam").with_key("k1"), rob.with_key("k1")):
        for items in (["a"], [], ["z"]):
            reply = user.call("sync", conversation, body=memory(items))
            reply.refused(403, "forbidden")
            assert "epoch" not in str(reply.body).lower()


def test_sync_needs_a_key_and_the_memory_channel(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    ann.call("sync", conversation, body=memory(["a"])).refused(403, "forbidden")
    ann.call("sync", conversation, body={"nonsense": True}).refused(403, "forbidden")
    k1 = ann.with_key("k1")
    k1.call("sync", conversation, body=memory(["a"]) | {"channel": "history"}).expect(400)
    k1.call("sync", conversation, body=memory(["a"]) | {"channel": None}).expect(200)
    k1.call("sync", conversation, body={"content": ["a"]}).refused(400, "validation_error")


@pytest.mark.scenario(15)
def test_equal_syncs_at_once_write_once(world: World) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    items = [{"n": number} for number in range(10)]
    done = at_once([partial(ann.syncs, conversation, items)] * 20)
    assert sorted(d["noOp"] for d in done) == [False] + [True] * 19
    assert {d["epoch"] for d in done} == {1}
    page = ann.call("list_entries", conversation, epoch="all").expect(200)
    assert [e["content"] for e in page["data"]] == [items]


@pytest.mark.scenario(16)
def test_different_syncs_at_once_leave_exactly_one_list(world: World) -> None:
    ann = world.user("ann").with_key("k1")
    for _ in range(10):
        conversation = new_id()
        ann.syncs(conversation, ["a"])
        lists = (["a", "b"], ["a", "c"])
        at_once(partial(ann.syncs, conversation, items) for items in lists)
        page = ann.call("list_entries", conversation).expect(200)["data"]
        latest = [item for entry in page for item in entry["content"]]
        assert latest in lists
        assert len({entry["epoch"] for entry in page}) == 1


def test_many_extensions_at_once_store_no_item_twice(world: World) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    ann.syncs(conversation, ["0"])
    lists = [[str(n) for n in range(size)] for size in range(2, 12)]
    at_once(partial(ann.syncs, conversation, items) for items in lists * 2)
    whole = ann.syncs(conversation, lists[-1])
    page = ann.call("list_entries", conversation).expect(200)["data"]
    assert "|".join(text_of(e) for e in page) == "|".join(lists[-1])
    assert whole["epoch"] == page[0]["epoch"]
