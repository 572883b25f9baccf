"""Soft delete and restore: gone for everybody, back for the owner alone."""

import pytest

from tests.support.world import World, history, memory, new_id


def test_a_deleted_tree_leaves_every_list(world: World) -> None:
    ann = world.user("ann")
    root = ann.starts()
    fork = ann.forks(root, ann.says(root, "A"))
    [rob] = world.members(root, ann, "reader")
    kept = ann.starts()
    ann.deletes(fork)
    assert [c["id"] for c in ann.walks("list_conversations", mode="all")] == [kept["id"]]
    assert rob.walks("list_conversations", mode="all") == []
    rows = world.database.rows(
        "SELECT count(*) FROM conversation_memberships WHERE conversation_group_id = :tree",
        tree=root["id"],
    )
    assert rows == [(0,)]


@pytest.mark.scenario(27)
def test_the_id_of_a_deleted_conversation_stays_taken(world: World) -> None:
    ann, sam, conversation = world.user("ann"), world.user("sam"), new_id()
    ann.says(conversation, "A")
    ann.deletes(conversation)
    for user in (ann, sam, sam.with_key("k1")):
        user.call("append", conversation, body=history("B")).refused(404, "not_found")
    for items in (["m"], []):
        reply = sam.with_key("k1").call("sync", conversation, body=memory(items))
        reply.refused(404, "not_found")
    page = world.admin.call("admin_list_entries", conversation).expect(200)
    assert len(page["data"]) == 1


def test_a_second_delete_is_not_found(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    ann.deletes(conversation)
    ann.call("delete_conversation", conversation).refused(404, "not_found")


@pytest.mark.scenario(28)
def test_a_tree_restored_through_a_fork_is_fully_usable(world: World) -> None:
    ann = world.user("ann")
    k1 = ann.with_key("k1")
    root = ann.starts("Title")
    fork = ann.forks(root, ann.says(root, "A"))
    k1.syncs(root, ["m"])
    [rob] = world.members(root, ann, "reader")
    before = ann.gets(root)
    ann.deletes(root)
    restored = world.admin.call("admin_restore_conversation", fork["id"]).expect(200)
    assert restored["id"] == fork["id"]
    assert "deletedAt" not in restored
    assert ann.gets(root) == before
    assert k1.texts(root) == ["A", "m"]
    ann.says(root, "B")
    assert k1.syncs(root, ["m"])["noOp"] is True
    ann.says(fork, "C")
    assert ann.levels(root) == {ann.name: "owner"}
    rob.call("get_conversation", root).refused(403, "forbidden")
    ann.shares(root, rob, "reader")
    assert rob.texts(root) == ["A", "B"]


def test_restoring_a_live_tree_is_a_conflict(world: World) -> None:
    conversation = world.user("ann").starts()
    world.admin.call("admin_restore_conversation", conversation).refused(409, "conflict")


def test_deleting_does_not_move_updated_at(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    world.clock.advance(minutes=1)
    ann.deletes(conversation)
    seen = world.admin.call("admin_get_conversation", conversation).expect(200)
    assert seen["updatedAt"] == conversation["updatedAt"]
    assert seen["deletedAt"] > seen["updatedAt"]


def test_an_admin_may_delete_and_restore_without_being_a_member(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    fork = ann.forks(conversation, ann.says(conversation, "A"))
    world.admin.call("admin_delete_conversation", fork).expect(204)
    ann.call("get_conversation", conversation).refused(404, "not_found")
    world.admin.call("admin_restore_conversation", conversation, body={}).expect(200)
    ann.gets(fork)


def test_a_restored_tree_belongs_to_the_last_owner(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    [bob] = world.members(conversation, ann, "reader")
    bob.call("accept_transfer", ann.offers(conversation, bob)).expect(204)
    bob.deletes(conversation)
    world.admin.call("admin_restore_conversation", conversation).expect(200)
    assert bob.levels(conversation) == {bob.name: "owner"}
    ann.call("get_conversation", conversation).refused(403, "forbidden")
