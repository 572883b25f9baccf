"""Wire rules: ids, times, enums, nulls, JSON values, limits, and the errors of HTTP itself."""

import json
import random
import re
import uuid
from typing import Any

import httpx2
import pytest

from tests.support.api import Reply, headers_of, reply_of
from tests.support.world import User, World, history, memory, new_id

INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def send(
    world: World, user: User, path: str, content: bytes | str, *, method: str = "POST", **more: str
) -> Reply:
    """A request with exactly these bytes as its body."""
    headers = headers_of(user.credentials) | {"Content-Type": "application/json"} | more
    return reply_of(world.api.http.request(method, path, content=content, headers=headers))


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


def test_health_answers_without_credentials(world: World) -> None:
    assert world.nobody.call("health").expect(200) == {"status": "ok"}


def test_ids_come_in_any_case_and_go_out_in_lower_case(world: World) -> None:
    ann, conversation = world.user("ann"), new_id()
    entry = ann.says(conversation.upper(), "hello")
    assert entry["conversationId"] == conversation
    assert ann.gets(conversation.upper())["id"] == conversation
    fork = ann.forks(conversation.upper(), entry["id"].upper())
    assert fork["forkedAtConversationId"] == conversation


def test_ids_made_by_the_server_are_version_7(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    entry = ann.says(conversation, "hello")
    assert [uuid.UUID(thing["id"]).version for thing in (conversation, entry)] == [7, 7]


def test_a_client_may_choose_any_128_bits_as_an_id(world: World) -> None:
    ann, chosen = world.user("ann"), str(uuid.UUID(int=random.getrandbits(128)))
    ann.says(chosen, "hello")
    assert ann.gets(chosen)["id"] == chosen


def test_the_tree_id_is_in_no_response(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts("title")
    ann.forks(conversation, ann.says(conversation, "hello"))
    replies = [
        ann.call("get_conversation", conversation),
        ann.call("list_conversations"),
        ann.call("list_entries", conversation),
        ann.call("list_forks", conversation),
        ann.call("list_memberships", conversation),
        world.admin.call("admin_list_entries", conversation),
        world.admin.call("admin_get_conversation", conversation),
    ]
    assert not [r for r in replies if "group" in json.dumps(r.expect(200)).lower()]


def test_times_are_utc_with_microseconds(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    entry = ann.says(conversation, "hello")
    times = [conversation["createdAt"], conversation["updatedAt"], entry["createdAt"]]
    assert all(INSTANT.fullmatch(time) for time in times), times


def test_time_parameters_may_carry_any_offset(world: World) -> None:
    before = world.clock.now().isoformat()
    assert before.endswith("+00:00")
    shifted = world.clock.now().astimezone().isoformat()
    for instant in (before, shifted, "2001-01-01T00:00:00+05:30"):
        world.admin.call("admin_list_conversations", deletedAfter=instant).expect(200)
    reply = world.admin.call("admin_list_conversations", deletedAfter="yesterday")
    reply.refused(400, "validation_error")


def test_enums_come_in_any_case_and_go_out_in_lower_case(world: World) -> None:
    ann = world.user("ann").with_key("k1")
    conversation = ann.starts()
    bob = world.user("bob")
    shared = ann.call(
        "share", conversation, body={"userId": bob.name, "accessLevel": "WRITER"}
    ).expect(201)
    assert shared["accessLevel"] == "writer"
    entry = ann.says(conversation, "hello", channel="HISTORY")
    assert entry["channel"] == "history"
    assert ann.notes(conversation, "m", channel="Memory")["channel"] == "memory"
    query = {"channel": "MEMORY", "epoch": "LATEST", "forks": "None"}
    assert ann.texts(conversation, **query) == ["m"]
    assert ann.texts(conversation, epoch="All", forks="ALL") == ["hello", "m"]
    ann.call("list_conversations", mode="ROOTS").expect(200)
    ann.call("list_transfers", role="SENDER").expect(200)
    ann.deletes(conversation)
    deleted = world.admin.call("admin_list_conversations", userId=ann.name, onlyDeleted="TRUE")
    assert [c["id"] for c in deleted.expect(200)["data"]] == [conversation["id"]]


def test_the_role_inside_content_is_case_sensitive(world: World) -> None:
    ann = world.user("ann")
    body = history("x") | {"content": [{"role": "user", "text": "x"}]}
    ann.call("append", new_id(), body=body).refused(400, "bad_request")


@pytest.mark.parametrize(
    ("operation", "query"),
    [
        ("list_conversations", {"mode": "newest"}),
        ("list_entries", {"channel": "journal"}),
        ("list_entries", {"forks": "some"}),
    ],
)
def test_an_unknown_enum_value_is_a_validation_error(
    world: World, operation: str, query: dict[str, str]
) -> None:
    ann = world.user("ann")
    ids = [ann.starts()] if operation == "list_entries" else []
    details = ann.call(operation, *ids, **query).refused(400, "validation_error")
    assert details["violations"][0]["field"] == next(iter(query))


def test_null_members_of_a_resource_are_left_out(world: World) -> None:
    ann = world.user("ann").with_key("k1")
    conversation = ann.starts()
    assert set(conversation) == {"id", "ownerUserId", "createdAt", "updatedAt", "accessLevel"}
    members = {"id", "conversationId", "channel", "contentType", "content", "createdAt"}
    assert set(ann.notes(conversation, "m")) == members | {"epoch"}
    assert set(ann.says(conversation, "h")) == members | {"userId"}


def test_null_in_a_request_counts_as_absent(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts(title=None, metadata=None)
    assert "title" not in conversation
    body = {"channel": None, "userId": None, "contentType": None, "content": "tolerant"}
    entry = ann.call("append", conversation, body=body).expect(201)
    assert (entry["channel"], entry["userId"]) == ("history", ann.name)


def test_envelopes_of_kind_a_always_show_the_cursor_and_those_of_kind_b_only_when_set(
    world: World,
) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    kind_a = [
        ann.call("list_conversations"),
        ann.call("list_entries", conversation),
        world.admin.call("admin_list_entries", conversation),
        world.admin.call("admin_list_events", actorUserId=ann.name),
    ]
    for reply in kind_a:
        assert set(reply.expect(200)) == {"data", "nextCursor"}
    kind_b = [
        ann.call("list_forks", conversation),
        ann.call("list_memberships", conversation),
        ann.call("list_transfers"),
        world.admin.call("admin_list_conversations", userId=ann.name),
        world.admin.call("admin_list_memberships", conversation),
        world.admin.call("admin_list_forks", conversation),
    ]
    for reply in kind_b:
        assert set(reply.expect(200)) == {"data"}


def test_unknown_members_and_parameters_are_ignored(world: World) -> None:
    ann = world.user("ann")
    body = {"title": "t", "colour": "red"}
    conversation = ann.call("create_conversation", body=body, verbose="1").expect(201)
    assert "colour" not in conversation
    ann.call("list_conversations", colour="red").expect(200)


@pytest.mark.rest_only("messages keep no member order and no integers beyond doubles")
@pytest.mark.scenario(21)
def test_json_values_come_back_as_sent(world: World) -> None:
    ann = world.user("ann").with_key("k1")
    conversation = new_id()
    value = '{"z":12345678901234567890,"a":-98765432109876543210,"m":{"ü":"日本🎉","b":[]},"f":0.1}'
    body = f'{{"contentType":"x","content":[{value}, 1e2, null, true, "s"]}}'
    send(world, ann, f"/conversations/{conversation}/entries", body.encode()).expect(201)
    item, number, *rest = ann.call("list_entries", conversation).expect(200)["data"][0]["content"]
    assert list(item) == ["z", "a", "m", "f"]
    assert list(item["m"]) == ["ü", "b"]
    assert item == json.loads(value)
    assert number == 100
    assert rest == [None, True, "s"]


@pytest.mark.rest_only("messages keep no member order and no integers beyond doubles")
def test_metadata_keeps_member_order_and_integers(world: World) -> None:
    ann = world.user("ann")
    sent = {"zeta": 12345678901234567890, "alpha": {"y": None, "x": 1.5}, "mid": ["ß"]}
    conversation = ann.starts(metadata=sent)
    listed = ann.call("list_conversations").expect(200)["data"][0]
    for metadata in (conversation["metadata"], ann.gets(conversation)["metadata"]):
        assert json.dumps(metadata) == json.dumps(sent)
    assert json.dumps(listed["metadata"]) == json.dumps(sent)


@pytest.mark.rest_only("the bytes of a JSON body")
def test_of_duplicate_members_the_last_wins(world: World) -> None:
    ann = world.user("ann")
    reply = send(world, ann, "/conversations", '{"title":"first","title":"last"}')
    assert reply.expect(201)["title"] == "last"


@pytest.mark.rest_only("the bytes of a JSON body")
@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_does_not_know_are_refused(world: World, literal: str) -> None:
    ann = world.user("ann")
    body = f'{{"metadata":{{"n":{literal}}}}}'
    send(world, ann, "/conversations", body).refused(400, "validation_error")


@pytest.mark.rest_only("the bytes of a JSON body")
@pytest.mark.parametrize("body", ["", "{", "[1", "nonsense", b"\xff\xfe", "[]", "3", '"text"'])
def test_a_body_that_is_no_json_object_is_refused(world: World, body: bytes | str) -> None:
    ann = world.user("ann")
    details = send(world, ann, f"/conversations/{new_id()}/entries", body).refused(
        400, "validation_error"
    )
    assert details["message"]
    assert all(set(v) == {"field", "message"} for v in details["violations"])


@pytest.mark.rest_only("messages have a depth of their own")
def test_json_may_be_64_levels_deep_and_no_deeper(world: World) -> None:
    ann = world.user("ann").with_key("k1")
    conversation = new_id()
    ann.call("append", conversation, body=memory([nested(62)])).expect(201)
    too_deep = ann.call("append", conversation, body=memory([nested(65)]))
    too_deep.refused(400, "validation_error")
    absurd = b'{"contentType":"x","content":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    path = f"/conversations/{conversation}/entries"
    send(world, ann, path, absurd).refused(400, "validation_error")


@pytest.mark.rest_only("the bytes of a JSON body")
@pytest.mark.parametrize("bad", [r"\u0000", r"\ud800", r"x\udfff"])
@pytest.mark.parametrize(
    ("path", "template"),
    [
        ("/conversations", '{"title":"%s"}'),
        ("/conversations", '{"metadata":{"k":"%s"}}'),
        ("/conversations", '{"metadata":{"%s":1}}'),
        ("/conversations/{}/entries", '{"contentType":"x","content":[{"a":["%s"]}]}'),
        ("/conversations/{}/entries", '{"contentType":"%s","content":["a"]}'),
        ("/conversations/{}/entries", '{"content":"%s"}'),
    ],
)
def test_nul_and_lone_surrogates_are_refused(
    world: World, path: str, template: str, bad: str
) -> None:
    ann = world.user("ann").with_key("k1")
    reply = send(world, ann, path.format(new_id()), template.replace("%s", bad))
    reply.refused(400, "validation_error")


@pytest.mark.parametrize("limit", ["0", "-1", "1001", "x", "1.5"])
@pytest.mark.parametrize("operation", ["list_conversations", "list_entries", "list_memberships"])
def test_a_limit_outside_its_range_is_refused(world: World, operation: str, limit: str) -> None:
    ann = world.user("ann")
    ids = [] if operation == "list_conversations" else [ann.starts()]
    ann.call(operation, *ids, limit=limit).refused(400, "validation_error")
    ann.call(operation, *ids, limit=1000).expect(200)
    ann.call(operation, *ids, limit=1).expect(200)


def test_title_limits(world: World) -> None:
    ann = world.user("ann")
    assert ann.starts("ä" * 500)["title"] == "ä" * 500
    for title in ("a" * 501, "tab\there", "line\nfeed", "\u0001x", "\u0085", 7, ["t"]):
        ann.call("create_conversation", body={"title": title}).refused(400, "validation_error")


def test_metadata_limits(world: World) -> None:
    ann = world.user("ann")
    ann.starts(metadata={"k": "v" * 16_000})
    for metadata in ({"k": "v" * 16_385}, {"k": "ü" * 9_000}, ["list"], "text"):
        reply = ann.call("create_conversation", body={"metadata": metadata})
        reply.refused(400, "validation_error")


def test_user_id_limits(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    for name, status in (("u" * 255, 201), ("u" * 256, 400), ("", 400)):
        body = {"userId": name, "accessLevel": "reader"}
        ann.call("share", conversation, body=body).expect(status)


def test_entry_limits(world: World) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    ann.notes(conversation, *range(1000), contentType="c" * 127)
    ann.syncs(new_id(), list(range(10_000)))
    refused: list[tuple[str, dict[str, Any]]] = [
        ("append", memory(range(1001))),
        ("append", memory(["x"]) | {"contentType": "c" * 128}),
        ("append", memory(["x"]) | {"contentType": ""}),
        ("append", history("x") | {"indexedContent": ""}),
        ("append", history("x") | {"indexedContent": "i" * 100_001}),
        ("append", {"contentType": "x"}),
        ("sync", {"contentType": "x"}),
        ("sync", memory(range(10_001))),
        ("sync", memory([]) | {"content": {"not": "a list"}}),
    ]
    for operation, body in refused:
        ann.call(operation, conversation, body=body).refused(400, "validation_error")
    assert len(ann.texts(conversation)) == 1


@pytest.mark.rest_only("the bytes of a JSON body")
def test_a_body_above_16_mib_is_too_large(world: World) -> None:
    ann = world.user("ann")
    body = b'{"content":"' + b"a" * (16 * 1024 * 1024) + b'"}'
    details = send(world, ann, f"/conversations/{new_id()}/entries", body).refused(
        413, "payload_too_large"
    )
    assert set(details) == {"message"}


@pytest.mark.rest_only("HTTP itself")
@pytest.mark.parametrize(
    ("method", "path"),
    [("PUT", "/conversations"), ("DELETE", "/conversations"), ("POST", "/health")],
)
def test_a_method_that_the_path_lacks_is_405(world: World, method: str, path: str) -> None:
    ann = world.user("ann")
    response = world.api.http.request(method, path, headers=headers_of(ann.credentials))
    assert set(reply_of(response).refused(405, "method_not_allowed")) == {"message"}


@pytest.mark.rest_only("HTTP itself")
def test_a_content_type_that_is_not_json_is_415(world: World) -> None:
    ann = world.user("ann")
    reply = send(world, ann, "/conversations", "title=x", **{"Content-Type": "text/plain"})
    assert set(reply.refused(415, "unsupported_media_type")) == {"message"}
    charset = {"Content-Type": "application/json; charset=utf-8"}
    send(world, ann, "/conversations", '{"title":"x"}', **charset).expect(201)


@pytest.mark.rest_only("HTTP itself")
def test_answers_are_json_in_utf_8(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts("Ünïcode 日本")
    headers = headers_of(ann.credentials)
    response = world.api.http.get(f"/conversations/{conversation['id']}", headers=headers)
    assert httpx2.Headers(response.headers)["content-type"].startswith("application/json")
    assert "Ünïcode 日本".encode() in response.content
