"""Admin reads: every tree, deleted ones too, with filters and a justification."""

from typing import Any

import pytest

from tests.conftest import Serve
from tests.support.world import User, World, text_of

pytestmark = pytest.mark.rest_only("administration has no methods")

READS = [
    ("admin_list_conversations", False),
    ("admin_get_conversation", True),
    ("admin_list_entries", True),
    ("admin_list_memberships", True),
    ("admin_list_forks", True),
    ("admin_list_events", False),
]


def ids(world: World, owner: User, **query: Any) -> list[str]:
    """What the admin list shows of one owner's conversations."""
    found = world.admin.walks("admin_list_conversations", userId=owner.name, **query)
    return [c["id"] for c in found]


@pytest.mark.scenario(29)
def test_a_role_gives_no_membership(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts("secret title")
    ann.says(conversation, "secret words")
    for user in (world.admin, world.auditor):
        user.call("get_conversation", conversation).refused(403, "forbidden")
        user.call("list_entries", conversation).refused(403, "forbidden")
    why = "ticket seven"
    seen = world.admin.call("admin_get_conversation", conversation, justification=why)
    assert seen.expect(200)["title"] == "secret title"
    world.admin.call("admin_list_entries", conversation, justification=why).expect(200)
    query = {"conversationId": conversation["id"], "actorUserId": world.admin.name}
    events = world.auditor.walks("admin_list_events", **query)
    assert [(e["kind"], e["action"], e["justification"]) for e in events] == [
        ("admin_read", "listEntries", why),
        ("admin_read", "getConversation", why),
    ]
    assert all(e["outcome"] == "allowed" for e in events)
    assert "secret" not in str(events)


def test_the_admin_list_is_ordered_like_the_users(world: World) -> None:
    ann = world.user("ann")
    root = ann.starts()["id"]
    entry = ann.says(root, "A")
    fork = ann.forks(root, entry)["id"]
    other = ann.starts()["id"]
    assert ids(world, ann, mode="all", limit=1) == [other, fork, root]
    assert ids(world, ann, mode="roots") == [other, root]
    assert ids(world, ann) == ids(world, ann, mode="latest-fork") == [other, fork]


def test_the_admin_list_shows_the_owners_level_and_the_summary(world: World) -> None:
    ann = world.user("ann")
    made = ann.starts("t", {"k": "v"})
    query = {"userId": ann.name}
    [seen] = world.admin.call("admin_list_conversations", **query).expect(200)["data"]
    assert seen == made
    assert seen["accessLevel"] == "owner"


def test_deleted_trees_are_shown_when_asked_for(world: World) -> None:
    ann = world.user("ann")
    live, deleted = ann.starts()["id"], ann.starts()["id"]
    ann.deletes(deleted)
    assert ids(world, ann) == [live]
    assert ids(world, ann, includeDeleted=True) == [deleted, live]
    assert ids(world, ann, onlyDeleted="true") == [deleted]
    assert ids(world, ann, includeDeleted="false") == [live]
    seen = world.admin.walks("admin_list_conversations", userId=ann.name, includeDeleted=True)
    assert ["deletedAt" in c for c in seen] == [True, False]


def test_deletion_dates_bound_the_list_and_imply_only_deleted(world: World) -> None:
    ann = world.user("ann")
    ann.starts()
    trees, times = [ann.starts()["id"] for _ in range(3)], []
    for tree in trees:
        world.clock.advance(minutes=1)
        ann.deletes(tree)
        seen = world.admin.call("admin_get_conversation", tree).expect(200)
        times.append(seen["deletedAt"])
    first, second, third = trees
    assert ids(world, ann, deletedAfter=times[1]) == [third, second]
    assert ids(world, ann, deletedBefore=times[1]) == [first]
    assert ids(world, ann, deletedAfter=times[1], deletedBefore=times[2]) == [second]


def test_the_admin_list_has_100_by_default(world: World) -> None:
    ann = world.user("ann")
    for _ in range(101):
        ann.starts()
    page = world.admin.call("admin_list_conversations", userId=ann.name).expect(200)
    assert len(page["data"]) == 100
    assert page["nextCursor"] == page["data"][-1]["id"]
    assert len(ids(world, ann)) == 101


def test_admin_reads_work_on_deleted_trees(world: World) -> None:
    ann = world.user("ann")
    root = ann.starts("t")
    fork = ann.forks(root, ann.says(root, "A"))
    ann.deletes(root)
    seen = world.auditor.call("admin_get_conversation", fork).expect(200)
    assert seen["deletedAt"]
    assert seen["forkedAtConversationId"] == root["id"]
    forks = world.auditor.walks("admin_list_forks", root)
    assert [f["conversationId"] for f in forks] == [root["id"], fork["id"]]
    assert [text_of(e) for e in world.auditor.walks("admin_list_entries", root)] == ["A"]
    assert world.auditor.walks("admin_list_memberships", root) == []


def test_admin_entries_show_every_client_and_epoch(world: World) -> None:
    ann = world.user("ann")
    root = ann.starts()
    ann.says(root, "h")
    for client in ("k1", "k2"):
        ann.with_key(client).syncs(root, [f"old {client}"])
        ann.with_key(client).syncs(root, [f"new {client}"])
    fork = ann.forks(root, ann.says(root, "cut"))
    ann.says(fork, "f")

    def seen(conversation: dict[str, Any], **query: Any) -> list[tuple[str, str | None]]:
        entries = world.admin.walks("admin_list_entries", conversation, limit=2, **query)
        return [(text_of(e), e.get("clientId")) for e in entries]

    memory = [("old k1", "k1"), ("new k1", "k1"), ("old k2", "k2"), ("new k2", "k2")]
    assert seen(root) == [("h", None), *memory, ("cut", None)]
    assert seen(fork) == [("h", None), *memory, ("f", None)]
    assert seen(root, channel="memory") == memory
    assert seen(root, channel="history") == [("h", None), ("cut", None)]
    assert seen(root, channel="memory", epoch=1) == [memory[0], memory[2]]
    assert seen(fork, forks="all") == [("h", None), *memory, ("cut", None), ("f", None)]


def test_history_of_a_client_carries_its_id(world: World) -> None:
    ann = world.user("ann")
    root = ann.starts()
    ann.says(root, "own")
    ann.with_key("k1").says(root, "claimed")
    entries = world.admin.walks("admin_list_entries", root)
    assert [e.get("clientId") for e in entries] == [None, "k1"]


def test_admin_memberships_and_forks_show_what_members_see(world: World) -> None:
    ann = world.user("ann")
    root = ann.starts()
    ann.forks(root, ann.says(root, "A"))
    world.members(root, ann, "reader", "manager")
    for suffix in ("memberships", "forks"):
        seen = world.admin.walks(f"admin_list_{suffix}", root, limit=1)
        assert seen == ann.walks(f"list_{suffix}", root)


@pytest.mark.parametrize(("operation", "on_conversation"), READS)
def test_admin_reads_need_a_role(world: World, operation: str, on_conversation: bool) -> None:
    ann = world.user("ann")
    target = [ann.starts()] if on_conversation else []
    ann.call(operation, *target).refused(403, "forbidden")
    world.auditor.call(operation, *target).expect(200)
    world.admin.call(operation, *target).expect(200)


@pytest.mark.amendment(17)
def test_a_justification_may_be_required(serve: Serve) -> None:
    world = serve(admin__require_justification=True)
    ann = world.user("ann")
    conversation = ann.starts()
    for operation, on_conversation in READS:
        target = [conversation] if on_conversation else []
        reply = world.admin.call(operation, *target)
        reply.refused(400, "JUSTIFICATION_REQUIRED")
        assert "details" not in reply.body
        blank = world.admin.call(operation, *target, justification=" \t")
        blank.refused(400, "JUSTIFICATION_REQUIRED")
        world.admin.call(operation, *target, justification="why").expect(200)
        ann.call(operation, *target).refused(403, "forbidden")
    world.admin.call("admin_list_conversations", limit="x").refused(400, "JUSTIFICATION_REQUIRED")
    delete, restore = "admin_delete_conversation", "admin_restore_conversation"
    world.admin.call(delete, conversation).refused(400, "JUSTIFICATION_REQUIRED")
    world.admin.call(delete, conversation, justification="why").expect(204)
    world.admin.call(restore, conversation).refused(400, "JUSTIFICATION_REQUIRED")
    blank = world.admin.call(restore, conversation, body={"justification": "  "})
    blank.refused(400, "JUSTIFICATION_REQUIRED")
    world.admin.call(restore, conversation, body={"justification": "why"}).expect(200)
    body = {"retentionPeriod": "P1D", "resourceTypes": ["conversations"]}
    world.admin.call("evict", body=body).refused(400, "JUSTIFICATION_REQUIRED")
    world.admin.call("evict", body=body | {"justification": "why"}).expect(204)
    ann.call("list_conversations").expect(200)
