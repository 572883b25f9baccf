"""The audit log: each change and each admin call, allowed or denied, never with content."""

from typing import Any

import pytest

from tests.support.world import Ref, User, World, id_of


def events(world: World, **query: Any) -> list[dict[str, Any]]:
    """Events, oldest first."""
    return world.auditor.walks("admin_list_events", **query)[::-1]


def about(world: World, conversation: Ref, kind: str) -> list[dict[str, Any]]:
    """Events of one kind about one conversation, oldest first."""
    return events(world, conversationId=id_of(conversation), kind=kind)


def brief(event: dict[str, Any], *names: str) -> tuple[Any, ...]:
    """Some members of an event."""
    return tuple(event.get(name) for name in names)


@pytest.mark.scenario(30)
def test_membership_changes_are_recorded_with_both_levels(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    [bob] = world.members(conversation, ann, "reader")
    body = {"accessLevel": "writer"}
    ann.call("change_membership", conversation, bob.name, body=body).expect(200)
    bob.call("remove_membership", conversation, bob.name).expect(204)
    seen = [
        brief(e, "action", "outcome", "actorUserId", "fromLevel", "toLevel")
        for e in about(world, conversation, "membership")
        if e.get("targetUserId") == bob.name
    ]
    assert seen == [
        ("add", "allowed", ann.name, None, "reader"),
        ("update", "allowed", ann.name, "reader", "writer"),
        ("remove", "allowed", bob.name, "writer", None),
    ]


@pytest.mark.scenario(30)
def test_transfers_are_recorded(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    [bob] = world.members(conversation, ann, "reader")
    cancelled, rejected = ann.offers(conversation, bob), None
    ann.call("delete_transfer", cancelled).expect(204)
    rejected = ann.offers(conversation, bob)
    bob.call("delete_transfer", rejected).expect(204)
    accepted = ann.offers(conversation, bob)
    bob.call("accept_transfer", accepted).expect(204)
    seen = [
        brief(e, "action", "actorUserId", "transferId")
        for e in about(world, conversation, "transfer")
    ]
    assert seen == [
        ("create", ann.name, cancelled["id"]),
        ("cancel", ann.name, cancelled["id"]),
        ("create", ann.name, rejected["id"]),
        ("reject", bob.name, rejected["id"]),
        ("create", ann.name, accepted["id"]),
        ("accept", bob.name, accepted["id"]),
    ]
    assert {e["targetUserId"] for e in about(world, conversation, "transfer")} >= {bob.name}


@pytest.mark.scenario(30)
def test_a_refused_admin_call_is_recorded(world: World) -> None:
    ann, mallory = world.user("ann"), world.user("mallory")
    conversation = ann.starts()
    mallory.call("admin_get_conversation", conversation).refused(403, "forbidden")
    mallory.call("admin_delete_conversation", conversation).refused(403, "forbidden")
    mallory.call("admin_list_events").refused(403, "forbidden")
    seen = [
        brief(e, "kind", "action", "outcome", "conversationId")
        for e in events(world, actorUserId=mallory.name)
    ]
    assert seen == [
        ("admin_read", "getConversation", "denied", conversation["id"]),
        ("admin_write", "deleteConversation", "denied", conversation["id"]),
        ("admin_read", "listEvents", "denied", None),
    ]


def test_every_admin_call_is_recorded_under_its_name(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts("words of a title")
    named = {
        "admin_get_conversation": ("admin_read", "getConversation"),
        "admin_list_entries": ("admin_read", "listEntries"),
        "admin_list_memberships": ("admin_read", "listMemberships"),
        "admin_list_forks": ("admin_read", "listForks"),
        "admin_delete_conversation": ("admin_write", "deleteConversation"),
        "admin_restore_conversation": ("admin_write", "restoreConversation"),
    }
    for operation in named:
        reply = world.admin.with_key("k1").call(operation, conversation, justification="j")
        assert reply.status in (200, 204)
    seen = [
        brief(e, "kind", "action", "actorUserId", "actorClientId", "role", "justification")
        for e in events(world, conversationId=conversation["id"], actorUserId=world.admin.name)
        if e["kind"].startswith("admin_")
    ]
    who = (world.admin.name, "k1", "admin", "j")
    assert seen == [(*name, *who) for name in named.values()]


def test_lists_are_recorded_with_their_parameters_but_no_texts(world: World) -> None:
    ann = world.user("ann")
    world.auditor.call("admin_list_conversations", userId=ann.name, justification="j").expect(200)
    [last] = world.auditor.call("admin_list_events", action="listConversations", limit=1).expect(
        200
    )["data"]
    assert brief(last, "kind", "outcome", "role") == ("admin_read", "allowed", "auditor")
    assert ann.name in str(last)


def test_deleting_a_tree_records_every_end(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    bob, rob = world.members(conversation, ann, "writer", "reader")
    transfer = ann.offers(conversation, bob)
    ann.deletes(conversation)
    removed = {
        brief(e, "targetUserId", "fromLevel", "actorUserId")
        for e in about(world, conversation, "membership")
        if e["action"] == "remove"
    }
    assert removed == {
        (ann.name, "owner", ann.name),
        (bob.name, "writer", ann.name),
        (rob.name, "reader", ann.name),
    }
    ended = about(world, conversation, "transfer")[-1]
    assert brief(ended, "action", "transferId") == ("cancel", transfer["id"])
    [deleted] = about(world, conversation, "conversation")
    assert brief(deleted, "action", "actorUserId") == ("delete", ann.name)


def test_refused_changes_leave_no_event(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    [rob] = world.members(conversation, ann, "reader")
    before = about(world, conversation, "membership")
    body = {"userId": "x", "accessLevel": "reader"}
    rob.call("share", conversation, body=body).refused(403, "forbidden")
    ann.call("share", conversation, body=body | {"accessLevel": "owner"}).expect(400)
    assert about(world, conversation, "membership") == before


def test_events_are_filtered_by_each_member(world: World) -> None:
    ann = world.user("ann")
    conversation, other = ann.starts(), ann.starts()
    [bob] = world.members(conversation, ann, "reader")
    [cid] = world.members(other, ann, "reader")

    def seen(**query: Any) -> set[str]:
        found = events(world, actorUserId=ann.name, kind="membership", action="add", **query)
        return {e["targetUserId"] for e in found} - {ann.name}

    assert seen() == {bob.name, cid.name}
    assert seen(conversationId=other["id"]) == {cid.name}
    assert seen(targetUserId=bob.name) == {bob.name}
    assert events(world, actorUserId=ann.name, kind="transfer") == []
    assert events(world, actorUserId=ann.name, action="accept") == []


def test_events_are_filtered_by_time(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    users: list[User] = []
    for _ in range(3):
        world.clock.advance(minutes=1)
        users += world.members(conversation, ann, "reader")
    added = {e["targetUserId"]: e["at"] for e in about(world, conversation, "membership")}
    first, second, third = (u.name for u in users)

    def seen(**query: str) -> list[str]:
        found = events(world, conversationId=conversation["id"], kind="membership", **query)
        return [e["targetUserId"] for e in found]

    assert seen(**{"from": added[second]}) == [second, third]
    assert seen(**{"from": added[first], "to": added[third]}) == [first, second]
    assert seen(**{"from": added[third], "to": added[third]}) == []


def test_events_come_newest_first_and_once_each(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    with world.clock.hold():
        users = world.members(conversation, ann, *["reader"] * 20)
    query = {"conversationId": conversation["id"], "kind": "membership"}
    walked = world.auditor.walks("admin_list_events", limit=3, **query)
    names = [e["targetUserId"] for e in walked if e["targetUserId"] != ann.name]
    assert sorted(names) == sorted(u.name for u in users)
    page = world.auditor.call("admin_list_events", limit=3, **query).expect(200)
    assert page["nextCursor"] == page["data"][-1]["id"]
    assert [e["at"] for e in walked] == sorted((e["at"] for e in walked), reverse=True)


def test_events_outlive_the_tree(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    ann.deletes(conversation)
    world.clock.advance(days=2)
    body = {"retentionPeriod": "P1D", "resourceTypes": ["conversations"], "justification": "old"}
    world.admin.call("evict", body=body).expect(204)
    world.admin.call("admin_get_conversation", conversation).refused(404, "not_found")
    assert about(world, conversation, "conversation")
    [evicted] = world.auditor.call("admin_list_events", action="evict", limit=1).expect(200)["data"]
    assert brief(evicted, "kind", "justification") == ("admin_write", "old")
    assert evicted["count"] >= 1
