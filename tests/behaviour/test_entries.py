"""Appending and listing entries: channels, strict and tolerant history, memory, epochs."""

import json
from functools import partial
from typing import Any

import pytest

from tests.support.world import User, World, at_once, history, memory, new_id


def item(**members: Any) -> dict[str, Any]:
    """A history append whose one item has these members besides the role."""
    return history("") | {"content": [{"role": "USER"} | members]}


def test_an_append_to_an_unknown_id_creates_the_conversation(world: World) -> None:
    ann, conversation = world.user("ann"), new_id()
    entry = ann.says(conversation, "hello")
    assert entry["conversationId"] == conversation
    seen = ann.gets(conversation)
    assert (seen["ownerUserId"], seen["accessLevel"]) == (ann.name, "owner")
    assert ann.levels(conversation) == {ann.name: "owner"}
    assert ann.call("list_entries", conversation).expect(200)["data"] == [entry]


def test_a_conversation_starts_with_its_first_write(world: World) -> None:
    ann, conversation = world.user("ann"), new_id()
    page = ann.call("list_entries", conversation).expect(200)
    assert page == {"data": [], "nextCursor": None}
    ann.call("get_conversation", conversation).refused(404, "not_found")


def test_two_first_appends_at_once_never_fail(world: World) -> None:
    for _ in range(10):
        conversation, users = new_id(), [world.user("u") for _ in range(4)]
        users[1:2] = [users[0]]
        replies = at_once(
            partial(user.call, "append", conversation, body=history("x")) for user in users
        )
        statuses = sorted(r.status for r in replies)
        assert statuses in ([201, 403, 403, 403], [201, 201, 403, 403]), statuses


@pytest.mark.parametrize(
    ("client", "channel", "content_type", "stored"),
    [
        (None, None, "history", "history"),
        (None, None, "text/plain", "history"),
        ("k1", None, "history", "history"),
        ("k1", None, "history/lc4j", "history"),
        ("k1", None, "historical", "memory"),
        ("k1", None, "application/json", "memory"),
        ("k1", "history", "history", "history"),
        ("k1", "memory", "history", "memory"),
    ],
)
def test_the_channel_follows_from_key_and_content_type(
    world: World, client: str | None, channel: str | None, content_type: str, stored: str
) -> None:
    ann = world.user("ann")
    user = ann.with_key(client) if client else ann
    body = item(text="x") | {"channel": channel, "contentType": content_type}
    entry = user.call("append", new_id(), body=body).expect(201)
    assert entry["channel"] == stored
    assert entry.get("epoch") == (1 if stored == "memory" else None)


def test_memory_without_a_key_is_forbidden_and_creates_nothing(world: World) -> None:
    ann, conversation = world.user("ann"), new_id()
    ann.call("append", conversation, body=memory(["m"])).refused(403, "forbidden")
    ann.call("get_conversation", conversation).refused(404, "not_found")


def test_the_user_of_an_entry(world: World) -> None:
    ann, bob = world.user("ann"), world.user("bob")
    k1, trusted = ann.with_key("k1"), ann.with_key("trusted")
    conversation = ann.starts()
    ann.shares(conversation, bob, "reader")
    assert ann.says(conversation, "x")["userId"] == ann.name
    assert k1.says(conversation, "x")["userId"] == ann.name
    assert ann.says(conversation, "x", userId=ann.name)["userId"] == ann.name
    assert "userId" not in k1.notes(conversation, "m")
    assert k1.notes(conversation, "m", userId=ann.name)["userId"] == ann.name
    assert trusted.says(conversation, "x", userId=bob.name)["userId"] == bob.name
    stranger = world.user("sam").name
    for user, name in ((ann, bob.name), (k1, bob.name), (trusted, stranger)):
        body = history("x") | {"userId": name}
        user.call("append", conversation, body=body).refused(400, "bad_request")


def test_the_content_type_is_required_of_clients_and_with_a_channel(world: World) -> None:
    ann = world.user("ann")
    k1 = ann.with_key("k1")
    content = {"content": [{"role": "USER", "text": "x"}]}
    refused: list[tuple[User, dict[str, str]]] = [
        (k1, {}),
        (k1, {"channel": "history"}),
        (k1, {"channel": "memory"}),
        (ann, {"channel": "history"}),
    ]
    for user, members in refused:
        reply = user.call("append", new_id(), body=content | members)
        reply.refused(400, "validation_error")
    assert ann.call("append", new_id(), body=content).expect(201)["contentType"] == "history"


def test_indexed_content_is_for_history_only(world: World) -> None:
    ann = world.user("ann").with_key("k1")
    ann.says(new_id(), "x", indexedContent="redacted")
    conversation = new_id()
    body = memory(["m"]) | {"indexedContent": "redacted"}
    ann.call("append", conversation, body=body).expect(400)
    ann.call("sync", conversation, body=body).expect(400)
    ann.call("get_conversation", conversation).refused(404, "not_found")


@pytest.mark.parametrize(
    "body",
    [
        item(text="x") | {"contentType": "text/plain"},
        item(text="x") | {"contentType": "historyx"},
        item(text="x") | {"content": []},
        item(text="x") | {"content": [{"role": "USER", "text": "a"}] * 2},
        item(text="x") | {"content": ["text"]},
        item(text="x") | {"content": [{"text": "x"}]},
        item(role="SYSTEM", text="x"),
        item(role="user", text="x"),
        item(role=1, text="x"),
        item(),
        item(text=None, events=None, attachments=None),
        item(events={}),
        item(events="e"),
        item(attachments={}),
        item(attachments=["a"]),
        item(attachments=[{}]),
        item(attachments=[{"href": 1, "contentType": "image/png"}]),
        item(attachments=[{"attachmentId": 7}]),
        item(attachments=[{"href": "https://files.test/a.png"}]),
        item(attachments=[{"href": "https://files.test/a.png", "contentType": 3}]),
    ],
)
@pytest.mark.parametrize("client", [None, "k1"])
def test_strict_history_refuses_every_breach(
    world: World, client: str | None, body: dict[str, Any]
) -> None:
    ann, conversation = world.user("ann"), new_id()
    user = ann.with_key(client) if client else ann
    details = user.call("append", conversation, body=body).refused(400, "bad_request")
    assert details["field"]
    ann.call("get_conversation", conversation).refused(404, "not_found")


@pytest.mark.parametrize(
    "content",
    [
        {"role": "AI", "text": "answer"},
        {"role": "USER", "events": [{"any": "shape"}, 7, None]},
        {"role": "USER", "text": "x", "events": [], "attachments": []},
        {"role": "USER", "attachments": [{"attachmentId": "a1", "extra": True}]},
        {"role": "AI", "attachments": [{"href": "https://files.test/a", "contentType": "a/b"}]},
        {"zeta": 1, "role": "USER", "text": "x", "unknown": {"kept": [12345678901234567890]}},
    ],
)
def test_strict_history_is_kept_as_sent(world: World, content: dict[str, Any]) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    body = {"channel": "history", "contentType": "history/x", "content": [content]}
    entry = ann.call("append", conversation, body=body).expect(201)
    assert entry["contentType"] == "history/x"
    assert entry["content"] == [content]


@pytest.mark.rest_only("messages keep no member order")
def test_strict_history_keeps_the_order_of_members(world: World) -> None:
    content = {"zeta": 1, "text": "x", "role": "USER", "attachments": [], "alpha": {"b": 1, "a": 2}}
    body = {"channel": "history", "contentType": "history", "content": [content]}
    entry = world.user("ann").call("append", new_id(), body=body).expect(201)
    assert json.dumps(entry["content"]) == json.dumps([content])


@pytest.mark.parametrize(
    ("content", "stored"),
    [
        ("hello", {"role": "USER", "text": "hello"}),
        (["a", " ", "b"], {"role": "USER", "text": "a\nb"}),
        ([{"type": "text", "text": "typed"}], {"role": "USER", "text": "typed"}),
        ([{"text": "a"}, {"text": ""}, {"text": "b"}], {"role": "USER", "text": "a\nb"}),
        ([{"role": "AI", "text": "x"}], {"role": "AI", "text": "x"}),
        ([{"role": "assistant", "content": "x"}], {"role": "AI", "text": "x"}),
        ([{"events": [{"e": 1}]}], {"role": "USER", "events": [{"e": 1}]}),
        (
            [{"text": "x", "attachments": [{"attachmentId": "a"}]}],
            {"role": "USER", "text": "x", "attachments": [{"attachmentId": "a"}]},
        ),
    ],
)
def test_tolerant_history_becomes_one_object(
    world: World, content: Any, stored: dict[str, Any]
) -> None:
    ann, conversation = world.user("ann"), new_id()
    entry = ann.call("append", conversation, body={"content": content}).expect(201)
    assert entry["content"] == [stored]
    assert (entry["channel"], entry["contentType"]) == ("history", "history")
    assert ann.call("list_entries", conversation).expect(200)["data"] == [entry]


@pytest.mark.parametrize(
    ("sent", "stored"),
    [("history/lc4j", "history/lc4j"), ("history", "history"), ("a/b", "history")],
)
def test_tolerant_history_keeps_history_types_only(world: World, sent: str, stored: str) -> None:
    body = {"content": "hello", "contentType": sent}
    entry = world.user("ann").call("append", new_id(), body=body).expect(201)
    assert entry["contentType"] == stored


@pytest.mark.amendment(14)
@pytest.mark.parametrize(
    ("word", "role"),
    [("User", "USER"), ("human", "USER"), ("assistant", "AI"), ("Ai", "AI"), ("MODEL", "AI")],
)
def test_roles_and_chat_messages_are_read_as_people_write_them(
    world: World, word: str, role: str
) -> None:
    ann, conversation = world.user("ann"), new_id()
    parts = [{"type": "text", "text": "what a"}, {"type": "text", "text": "kumquat"}]
    for content in ("what a\nkumquat", parts):
        for body in (
            {"content": [{"role": word, "content": content}]},
            {"role": word} | {"content": content},
        ):
            entry = ann.call("append", conversation, body=body).expect(201)
            assert entry["content"] == [{"role": role, "text": "what a\nkumquat"}]
    assert ann.gets(conversation)["title"] == "what a kumquat"


@pytest.mark.amendment(14)
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"role": "system", "content": "x"}, "role"),
        ({"content": [{"role": "tool", "content": "x"}]}, "content[0].role"),
        (
            {"content": [{"role": "user", "text": "x"}, {"role": "ai", "text": "y"}]},
            "content[1].role",
        ),
        ({"role": "human", "content": [{"role": "model", "content": "y"}]}, "content[0].role"),
    ],
)
def test_other_roles_and_two_in_one_entry_are_refused(
    world: World, body: dict[str, Any], field: str
) -> None:
    ann, conversation = world.user("ann"), new_id()
    details = ann.call("append", conversation, body=body).refused(400, "bad_request")
    assert details["field"] == field
    assert details["message"].endswith("one of user, human, assistant, ai, model")
    ann.call("get_conversation", conversation).refused(404, "not_found")


@pytest.mark.parametrize("content", ["", "  \n", [], [" "], [{}], [{"type": "text", "text": ""}]])
def test_an_append_with_nothing_in_it_is_an_invalid_request(world: World, content: Any) -> None:
    ann, conversation = world.user("ann"), new_id()
    reply = ann.call("append", conversation, body={"content": content})
    reply.refused(400, "invalid_request")
    assert "details" not in reply.body
    ann.call("get_conversation", conversation).refused(404, "not_found")


def test_memory_items_may_be_any_json(world: World) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    items = ["text", 1, 2.5, None, True, [], {"nested": {"deep": [None]}}]
    entry = ann.notes(conversation, *items, contentType="anything/at+all")
    assert entry["content"] == items
    assert entry["contentType"] == "anything/at+all"


def test_who_sees_which_channel(world: World) -> None:
    ann, conversation = world.user("ann"), new_id()
    k1, k2 = ann.with_key("k1"), ann.with_key("k2")
    ann.says(conversation, "h")
    k1.notes(conversation, "m1")
    k2.notes(conversation, "m2")
    seen = {
        (user, channel): user.texts(conversation, **({"channel": channel} if channel else {}))
        for user in (ann, k1, k2)
        for channel in ("", "history", "memory")
    }
    assert [seen[ann, channel] for channel in ("", "history", "memory")] == [["h"]] * 3
    assert [seen[k1, channel] for channel in ("", "history", "memory")] == [
        ["h", "m1"],
        ["h"],
        ["m1"],
    ]
    assert seen[k2, ""] == ["h", "m2"]


@pytest.mark.scenario(20)
def test_no_listing_shows_another_clients_memory(world: World) -> None:
    ann, conversation = world.user("ann"), new_id()
    k1, k2 = ann.with_key("k1"), ann.with_key("k2")
    ann.says(conversation, "h")
    k1.syncs(conversation, ["old1"])
    k2.syncs(conversation, ["old2"])
    k1.syncs(conversation, ["new1"])
    k2.syncs(conversation, ["new2"])
    fork = ann.forks(conversation, ann.says(conversation, "cut"))
    k2.notes(fork, "fork2")
    assert k1.texts(conversation) == ["h", "new1", "cut"]
    assert k1.texts(conversation, epoch="all") == ["h", "old1", "new1", "cut"]
    assert k1.texts(conversation, forks="all") == ["h", "old1", "new1", "cut"]
    assert k1.texts(conversation, channel="memory", forks="all") == ["old1", "new1"]
    for query in (
        {},
        {"channel": "memory"},
        {"epoch": "all"},
        {"channel": "memory", "epoch": "all"},
    ):
        assert ann.texts(conversation, **query) == ["h", "cut"]
    assert ann.texts(fork, forks="all", channel="memory") == ["h", "cut"]


def test_every_member_sees_the_memory_of_the_client_they_use(world: World) -> None:
    ann = world.user("ann").with_key("k1")
    conversation = ann.starts()
    ann.notes(conversation, "m")
    [rob] = world.members(conversation, ann, "reader")
    assert rob.with_key("k1").texts(conversation) == ["m"]
    assert rob.texts(conversation) == []


def test_the_epoch_filter_works_on_memory_alone(world: World) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    ann.says(conversation, "h")
    ann.syncs(conversation, ["a"])
    ann.syncs(conversation, ["b"])
    ann.syncs(conversation, ["b", "c"])
    assert ann.texts(conversation) == ["h", "b", "c"]
    assert ann.texts(conversation, epoch="latest") == ["h", "b", "c"]
    assert ann.texts(conversation, epoch=1) == ["h", "a"]
    assert ann.texts(conversation, epoch=2, channel="memory") == ["b", "c"]
    assert ann.texts(conversation, epoch=9) == ["h"]
    assert ann.texts(conversation, epoch="all") == ["h", "a", "b", "c"]
    assert ann.texts(conversation, epoch=1, forks="all") == ["h", "a", "b", "c"]


@pytest.mark.parametrize("epoch", ["0", "-1", "first", "1.5"])
def test_a_bad_epoch_is_refused(world: World, epoch: str) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    ann.call("list_entries", conversation, epoch=epoch).refused(400, "bad_request")


def test_memory_appends_join_the_latest_epoch(world: World) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    assert ann.notes(conversation, "a")["epoch"] == 1
    ann.syncs(conversation, ["b"])
    assert ann.notes(conversation, "c")["epoch"] == 2
    assert ann.with_key("k2").notes(conversation, "z")["epoch"] == 1


def test_parallel_appends_get_one_order(world: World) -> None:
    ann, conversation = world.user("ann"), new_id()
    ann.says(conversation, "first")
    at_once(partial(ann.says, conversation, str(n)) for n in range(16))
    walked = ann.walks("list_entries", conversation, limit=5)
    assert len({e["id"] for e in walked}) == 17
    times = [e["createdAt"] for e in walked]
    assert times == sorted(times)
