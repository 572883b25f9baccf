"""Hidden or forbidden: which refusal a caller gets. An early check hides the later ones."""

from typing import Any

import pytest

from tests.support.world import User, World, history, memory, new_id

NEEDS_KEY = {"sync"}
CREATES = {"append", "sync"}
# operation, ids besides the conversation's, body
ON_A_CONVERSATION: list[tuple[str, list[str], Any]] = [
    ("get_conversation", [], None),
    ("update_conversation", [], {"title": "t"}),
    ("delete_conversation", [], None),
    ("list_entries", [], None),
    ("append", [], history("x")),
    ("sync", [], memory(["m"])),
    ("fork", [new_id()], None),
    ("list_forks", [], None),
    ("list_memberships", [], None),
    ("share", [], {"userId": "u", "accessLevel": "reader"}),
    ("change_membership", ["u"], {"accessLevel": "reader"}),
    ("remove_membership", ["u"], None),
]
ADMIN_ON_A_CONVERSATION = [
    "admin_get_conversation",
    "admin_delete_conversation",
    "admin_restore_conversation",
    "admin_list_entries",
    "admin_list_memberships",
    "admin_list_forks",
]
every_operation = pytest.mark.parametrize(
    ("operation", "more", "body"), ON_A_CONVERSATION, ids=[o[0] for o in ON_A_CONVERSATION]
)


def keyed(user: User, operation: str) -> User:
    """The user, with a key where the operation needs one."""
    return user.with_key("k1") if operation in NEEDS_KEY else user


@pytest.mark.amendment(21)
@every_operation
@pytest.mark.parametrize("bad", ["no-uuid", "123", "{00000000-0000-0000-0000-000000000000}"])
def test_an_id_that_is_no_uuid_is_not_found(
    world: World, operation: str, more: list[str], body: Any, bad: str
) -> None:
    user = keyed(world.user("ann"), operation)
    reply = user.call(operation, bad, *more, body=body)
    assert reply.refused(404, "not_found") == {"resource": "conversation", "id": bad}
    assert reply.body["error"].startswith("no such conversation: its id must be a UUID such as ")


@every_operation
def test_an_unknown_conversation_is_not_found_unless_the_call_creates_it(
    world: World, operation: str, more: list[str], body: Any
) -> None:
    user, unknown = keyed(world.user("ann"), operation), new_id()
    reply = user.call(operation, unknown, *more, body=body)
    if operation in CREATES:
        assert reply.status in (200, 201)
    elif operation == "list_entries":
        assert reply.expect(200) == {"data": [], "nextCursor": None}
    else:
        assert reply.refused(404, "not_found") == {"resource": "conversation", "id": unknown}


@every_operation
def test_a_stranger_is_forbidden(world: World, operation: str, more: list[str], body: Any) -> None:
    conversation = world.user("ann").starts()
    sam = keyed(world.user("sam"), operation)
    details = sam.call(operation, conversation, *more, body=body).refused(403, "forbidden")
    assert details.keys() == {"message"}


@pytest.mark.scenario(27)
@every_operation
def test_a_deleted_tree_is_not_found_for_everybody(
    world: World, operation: str, more: list[str], body: Any
) -> None:
    ann, sam = world.user("ann"), world.user("sam")
    conversation = ann.starts()
    fork = ann.forks(conversation, ann.says(conversation, "A"))
    [rob] = world.members(conversation, ann, "writer")
    sam.call("get_conversation", conversation).refused(403, "forbidden")
    ann.deletes(conversation)
    for user in (ann, sam, rob, ann.with_key("k1"), sam.with_key("k2")):
        for branch in (conversation, fork):
            reply = keyed(user, operation).call(operation, branch, *more, body=body)
            assert reply.refused(404, "not_found")["resource"] == "conversation"
    stored = world.database.rows(
        "SELECT count(*) FROM entries WHERE conversation_group_id = :tree", tree=conversation["id"]
    )
    assert stored == [(1,)]


@pytest.mark.parametrize(
    ("operation", "more", "body", "least"),
    [
        ("get_conversation", [], None, "reader"),
        ("list_entries", [], None, "reader"),
        ("list_forks", [], None, "reader"),
        ("list_memberships", [], None, "reader"),
        ("append", [], history("x"), "writer"),
        ("sync", [], memory(["m"]), "writer"),
        ("update_conversation", [], {"title": "t"}, "writer"),
        ("share", [], {"userId": "u", "accessLevel": "reader"}, "manager"),
        ("change_membership", ["u"], {"accessLevel": "reader"}, "manager"),
        ("remove_membership", ["u"], None, "manager"),
        ("delete_conversation", [], None, "owner"),
    ],
)
def test_the_least_level_of_each_operation(
    world: World, operation: str, more: list[str], body: Any, least: str
) -> None:
    ranks = ["reader", "writer", "manager"]
    for rank, level in enumerate(ranks):
        ann = world.user("ann")
        conversation = ann.starts()
        ann.shares(conversation, world.named("u"), "reader")
        [user] = world.members(conversation, ann, level)
        reply = keyed(user, operation).call(operation, conversation, *more, body=body)
        if least in ranks[: rank + 1]:
            assert reply.status in (200, 201, 204), (level, reply)
        else:
            reply.refused(403, "forbidden")


@pytest.mark.parametrize("operation", ADMIN_ON_A_CONVERSATION)
def test_admin_calls_on_an_unknown_conversation_are_not_found(world: World, operation: str) -> None:
    for unknown in (new_id(), "no-uuid"):
        reply = world.admin.call(operation, unknown)
        assert reply.refused(404, "not_found") == {"resource": "conversation", "id": unknown}


@pytest.mark.parametrize("operation", ["get_transfer", "accept_transfer", "delete_transfer"])
def test_an_unknown_transfer_is_not_found(world: World, operation: str) -> None:
    for unknown in (new_id(), "no-uuid"):
        reply = world.user("ann").call(operation, unknown)
        assert reply.refused(404, "not_found") == {"resource": "transfer", "id": unknown}


def test_authentication_comes_first(world: World) -> None:
    world.nobody.call("append", "no-uuid", body={"channel": 7}).refused(401, "unauthorized")
    world.nobody.call("list_conversations", limit="x").refused(401, "unauthorized")
    world.nobody.call("admin_list_conversations", limit="x").refused(401, "unauthorized")


def test_the_role_comes_before_syntax_and_existence(world: World) -> None:
    ann = world.user("ann")
    ann.call("admin_list_conversations", limit="x").refused(403, "forbidden")
    ann.call("admin_get_conversation", new_id()).refused(403, "forbidden")
    world.auditor.call("evict", body={"retentionPeriod": "90 days"}).refused(403, "forbidden")


def test_syntax_comes_before_existence_and_level(world: World) -> None:
    conversation = world.user("ann").starts()
    sam = world.user("sam")
    for target in (conversation["id"], new_id()):
        for operation, ids, body in (
            ("update_conversation", [], {"title": "t" * 501}),
            ("share", [], {"userId": "u"}),
            ("share", [], {"userId": "u", "accessLevel": "king"}),
            ("change_membership", ["u"], {}),
        ):
            sam.call(operation, target, *ids, body=body).refused(400, "validation_error")
        sam.call("list_entries", target, limit=0).refused(400, "validation_error")


def test_the_level_comes_before_what_lies_within(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    entry = ann.says(conversation, "A")
    sam = world.user("sam")
    sam.call("fork", conversation, new_id()).refused(403, "forbidden")
    sam.call("fork", conversation, entry).refused(403, "forbidden")
    sam.call("list_entries", conversation, after=new_id()).refused(403, "forbidden")
    sam.call("change_membership", conversation, "x", body={"accessLevel": "reader"}).refused(
        403, "forbidden"
    )
    body = {"conversationId": conversation["id"], "newOwnerUserId": "nobody"}
    sam.call("create_transfer", body=body).refused(403, "forbidden")
