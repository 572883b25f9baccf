"""Memories over gRPC where messages differ from JSON: presence, Structs, metadata. What they share
with REST is proved by the suites that are marked `surfaces`, which run over both."""

import struct
from typing import Any

import grpc
import pytest

from tests.api.grpc.client import Answer, Client
from tests.api.grpc.memories import EVERYWHERE, MINE, adds, ask, count, details
from tests.support.api import Credentials
from tests.support.grpc.api import Metadata, metadata_of
from tests.support.grpc.messages import struct_of
from tests.support.world import CLIENT_KEYS, User, World, new_id

Code = grpc.StatusCode
VALUE: dict[str, Any] = {
    "whole": 3,
    "half": 0.5,
    "big": 2**53,
    "none": None,
    "yes": True,
    "list": [1, "two", [], {}],
    "empty": {},
}


def keyed(user: User, key: str) -> Metadata:
    """The user's credentials, and a key to repeat a call under."""
    return (*metadata_of(user.credentials), ("idempotency-key", key))


def test_absent_fields_of_a_change_keep_and_empty_lists_replace(
    client: Client, world: World
) -> None:
    ann = world.user("ann")
    kept = adds(client, ann, tags=["a", "b"], metadata={"n": 1})
    changed = ask(client, ann, "UpdateMemory", memory_id=kept.id, type="event").expect().memory
    assert (list(changed.tags), struct_of(changed.metadata)) == (["a", "b"], {"n": 1})
    changed = ask(client, ann, "UpdateMemory", memory_id=kept.id, tags=[], metadata={}).expect()
    assert (list(changed.memory.tags), struct_of(changed.memory.metadata)) == ([], {})
    assert (changed.memory.type, changed.memory.version) == ("event", 3)
    assert not changed.HasField("approval_id")


def test_what_is_empty_is_there_and_what_is_null_is_not(client: Client, world: World) -> None:
    ann = world.user("ann")
    record = ask(client, ann, "CreateMemory", key="k", value={}, **MINE).expect().memory
    assert (record.HasField("value"), record.HasField("metadata")) == (True, True)
    statement = adds(client, ann)
    names = ("value", "key", "agent_id", "superseded_by", "expires_at")
    assert [name for name in names if statement.HasField(name)] == []
    found = ask(client, ann, "SearchMemories", query="tea", explain=True, **EVERYWHERE).expect()
    assert (found.HasField("withheld"), found.withheld) == (True, 0)


def test_members_of_a_change_are_cleared_by_name(client: Client, world: World) -> None:
    ann = world.user("ann")
    times = {"valid_from": "2026-01-01T00:00:00Z", "valid_until": "2027-01-01T00:00:00Z"}
    kept = adds(client, ann, type="preference", ttl_seconds=100, sensitivity="personal", **times)
    assert kept.HasField("expires_at")
    cleared = ["ttl_seconds", "valid_from", "valid_until", "sensitivity"]
    message = ask(client, ann, "UpdateMemory", memory_id=kept.id, clear=cleared).expect().memory
    assert message.sensitivity == "public"
    names = ("expires_at", "valid_from", "valid_until")
    assert [name for name in names if message.HasField(name)] == []


def test_a_batch_tells_each_result(client: Client, world: World) -> None:
    ann = world.user("ann")
    kept = adds(client, ann, "first")
    items: list[dict[str, Any]] = [
        {"create": {"content": "second", **MINE}},
        {"update": {"memory_id": kept.id, "version": 7, "tags": ["x"]}},
        {},
        {"delete": {"memory_id": kept.id, "version": 1}},
    ]
    results = ask(client, ann, "BatchMemories", items=items, atomic=False).expect().results
    assert [(one.index, one.status) for one in results] == [(0, 201), (1, 409), (2, 422), (3, 204)]
    assert results[1].error.code == "conflict"
    assert struct_of(results[1].error.details)["reason"] == "version"
    assert not results[1].HasField("id")
    assert not results[0].HasField("error")
    assert count(client, ann) == 1


def test_values_and_metadata_come_back_as_they_were_sent(client: Client, world: World) -> None:
    ann = world.user("ann")
    sent = {"key": "settings", "value": VALUE, "metadata": VALUE, **MINE}
    kept = ask(client, ann, "CreateMemory", **sent).expect().memory
    assert (struct_of(kept.value), struct_of(kept.metadata)) == (VALUE, VALUE)
    headers = dict(metadata_of(ann.credentials))
    over_rest = world.api.http.get(f"/memories/{kept.id}", headers=headers)
    assert over_rest.json()["value"] == VALUE
    assert over_rest.text.count('"whole":3,') == 2, "a whole number stays one"


def test_a_value_may_be_as_deep_over_grpc_as_over_rest(client: Client, world: World) -> None:
    ann = world.user("ann")
    assert struct_of(deep(client, ann, 32).expect().memory.value)["a"]
    found = ask(client, ann, "SearchMemories", query="bottom", **EVERYWHERE).expect()
    assert [struct_of(hit.memory.value).keys() for hit in found.hits] == [{"a"}]
    assert deep(client, ann, 33).invalid() == "value: must not be nested deeper than 32 levels"
    assert "nest" in deep(client, ann, 60).invalid()


def deep(client: Client, caller: User, levels: int) -> Answer:
    """The answer to a record that is nested so deep."""
    value: Any = {"a": "bottom"}
    for _ in range(levels - 1):
        value = {"a": value}
    return ask(client, caller, "CreateMemory", key="k", value=value, **MINE)


def test_pages_have_the_limits_of_rest_and_end_without_a_cursor(
    client: Client, world: World
) -> None:
    ann = world.user("ann")
    written = [adds(client, ann, f"memory {number}").id for number in range(3)]
    filters = {"spaces": [{"kind": "user"}]}
    for limit in (0, -1, 1001):
        assert ask(client, ann, "ListMemories", filters=filters, limit=limit).invalid()
    first = ask(client, ann, "ListMemories", filters=filters, limit=2).expect()
    rest = {"after": first.next_cursor, "limit": 2}
    second = ask(client, ann, "ListMemories", filters=filters, **rest).expect()
    assert [m.id for m in (*first.memories, *second.memories)] == written[::-1]
    assert second.next_cursor == ""
    assert ask(client, ann, "ListMemories", filters=filters, after="nowhere").invalid()


def test_a_page_of_large_memories_is_told_whole(client: Client, world: World) -> None:
    ann = world.user("ann")
    texts = [f"{number} " + "word " * 10_000 for number in range(3)]
    for text in texts:
        adds(client, ann, text)
    page = ask(client, ann, "ListMemories", filters={"spaces": [{"kind": "user"}]}).expect()
    assert [memory.content for memory in page.memories] == texts[::-1]


def test_the_vector_comes_to_writers_who_ask(client: Client, world: World) -> None:
    ann = world.user("ann")
    kept = adds(client, ann)
    asked = {"memory_id": kept.id, "include": "embedding"}
    assert list(ask(client, ann, "GetMemory", **asked).expect().embedding) == []
    world.database.rows(
        "INSERT INTO memory_embeddings (doc, memory_id, embedding, model, dimensions)"
        " SELECT doc, id, :vector, 'test', 2 FROM memories WHERE id = :id",
        id=kept.id,
        vector=struct.pack(">2f", 0.5, -2.0),
    )
    assert list(ask(client, ann, "GetMemory", **asked).expect().embedding) == [0.5, -2.0]
    assert list(ask(client, ann, "GetMemory", memory_id=kept.id).expect().embedding) == []


@pytest.mark.parametrize("method", ["CreateMemory", "BatchMemories"])
def test_a_repeat_under_a_key_gets_the_first_answer(
    client: Client, world: World, method: str
) -> None:
    ann = world.user("ann")
    record = {"key": "k", "value": VALUE, **MINE}
    members = record if method == "CreateMemory" else {"items": [{"create": record}]}
    first = ask(client, keyed(ann, "one"), method, **members).expect()
    assert ask(client, keyed(ann, "one"), method, **members).expect() == first
    assert count(client, ann) == 1
    ask(client, keyed(ann, "two"), method, **members).expect()
    assert count(client, ann) == 2


def test_a_move_under_a_key_is_done_once(client: Client, world: World) -> None:
    ann = world.user("ann")
    agents = world.api.request(
        "POST", "/agents", ann.credentials, query={}, body={"owner_id": ann.name}
    )
    agent_id = agents.expect(201)["id"]
    secret = {"content": "tea", "agent_id": agent_id, "visibility": "private"}
    kept = ask(client, ann, "CreateMemory", **secret).expect()
    members = {"memory_id": kept.id, "visibility": "public"}
    first = ask(client, keyed(ann, "move"), "MoveMemory", **members).expect()
    assert first.group_id == f"agent-{agent_id}-public"
    assert ask(client, keyed(ann, "move"), "MoveMemory", **members).expect() == first
    ask(client, ann, "GetMemory", memory_id=kept.id).refused(Code.NOT_FOUND, "not_found")


def test_a_key_is_for_one_request_of_one_caller(client: Client, world: World) -> None:
    ann, bob = world.user("ann"), world.user("bob")
    ask(client, keyed(ann, "k"), "CreateMemory", content="tea", **MINE).expect()
    other = ask(client, keyed(ann, "k"), "CreateMemory", content="coffee", **MINE)
    other.refused(Code.FAILED_PRECONDITION, "conflict")
    assert details(other)["reason"] == "idempotency"
    headers = dict(keyed(ann, "k"))
    over_rest = world.api.http.post("/memories", json={"content": "tea"} | MINE, headers=headers)
    assert over_rest.status_code == 409, "another body, though it says the same"
    ask(client, keyed(bob, "k"), "CreateMemory", content="coffee", **MINE).expect()
    for key in ("", "x" * 256):
        ask(client, keyed(ann, key), "CreateMemory", content="tea", **MINE).invalid()


def test_two_keys_of_one_call_are_refused_and_one_key_twice_is_one(
    client: Client, world: World
) -> None:
    ann = world.user("ann")
    once = keyed(ann, "k")
    ask(
        client, (*once, ("idempotency-key", "other")), "CreateMemory", content="tea", **MINE
    ).invalid()
    same = (*once, ("idempotency-key", " k "))
    first = ask(client, same, "CreateMemory", content="tea", **MINE).expect()
    assert ask(client, once, "CreateMemory", content="tea", **MINE).expect().id == first.id


def test_two_keys_of_one_request_are_refused_over_rest(world: World) -> None:
    once = keyed(world.user("ann"), "k")
    for second, status in (("other", 422), ("k", 201)):
        headers = [*once, ("idempotency-key", second)]
        reply = world.api.http.post("/memories", json={"content": "tea"} | MINE, headers=headers)
        assert reply.status_code == status, reply.text


def test_an_agent_speaks_for_itself_through_a_trusted_client(client: Client, world: World) -> None:
    agent = f"agent-{new_id()[:8]}"
    registered = world.api.request(
        "POST", "/agents", world.user("ann").credentials, query={}, body={"id": agent}
    )
    registered.expect(201)
    itself = metadata_of(Credentials(api_key=CLIENT_KEYS["trusted"], requester_id=f"agent:{agent}"))
    members = {"content": "tea", "agent_id": agent}
    written = ask(client, itself, "CreateMemory", **members).expect()
    assert written.group_id == f"agent-{agent}-public"
    user = metadata_of(Credentials(api_key=CLIENT_KEYS["trusted"], requester_id=agent))
    ask(client, user, "CreateMemory", **members).refused(Code.PERMISSION_DENIED, "not_owner")
