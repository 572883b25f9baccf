"""What `MemoriesService` refuses, and how it tells: status, code and details of REST, in trailers
that clients take."""

from typing import Any

import grpc
import pytest

from tests.api.grpc.client import Client
from tests.api.grpc.conftest import client_of
from tests.api.grpc.memories import EVERYWHERE, MINE, adds, ask, count, details, request, send
from tests.conftest import Serve
from tests.support.grpc.api import metadata_of
from tests.support.grpc.messages import fill_value
from tests.support.world import World, new_id

Code = grpc.StatusCode
MIB = 1024 * 1024
# A field that no message has: number 1000, a varint.
UNKNOWN = b"\xc0\x3e\x01"


def test_a_refusal_has_the_status_code_and_details_of_rest(client: Client, world: World) -> None:
    ann, bob = world.user("ann"), world.user("bob")
    kept = adds(client, ann)
    missing = ask(client, bob, "GetMemory", memory_id=kept.id)
    missing.refused(Code.NOT_FOUND, "not_found")
    assert details(missing) == {"resource": "memory", "id": kept.id}
    twice = ask(client, ann, "CreateMemory", id=kept.id, content="again", **MINE)
    twice.refused(Code.FAILED_PRECONDITION, "conflict")
    assert details(twice)["reason"] == "duplicate_id"
    wrong = ask(client, ann, "CreateMemory", content="x", type="rumour", **MINE)
    assert wrong.invalid().startswith("type: must be one of preference, ")
    assert [one["field"] for one in details(wrong)["violations"]] == ["type"]
    other = ask(client, bob, "CreateMemory", content="x", space={"kind": "user", "id": ann.name})
    other.refused(Code.PERMISSION_DENIED, "not_owner")


def test_a_refusal_of_many_things_fits_into_trailers(client: Client, world: World) -> None:
    ann = world.user("ann")
    kept = adds(client, ann)
    broken = [{"update": {"memory_id": kept.id, "type": "rumour"}} for _ in range(500)]
    items = [{"create": {"content": "y", **MINE}}, *broken]
    answer = ask(client, ann, "BatchMemories", items=items)
    assert answer.invalid().startswith("type: must be one of preference, ")
    told = [item["index"] for item in details(answer)["items"]]
    assert told == list(range(1, len(told) + 1))
    assert len(answer.trailers["error-details"]) <= 4_000
    assert count(client, ann) == 1
    spaces = [{"kind": "nowhere"} for _ in range(50)]
    for method in ("SearchMemories", "ListMemories"):
        members = {"query": "x"} if method == "SearchMemories" else {}
        text = ask(client, ann, method, filters={"spaces": spaces}, **members).invalid()
        assert text.startswith("spaces[0].kind: must be one of agent_private, ")
        assert len(text) < 1_100


def test_local_mode_asks_for_a_requester_first(serve: Serve) -> None:
    client = client_of(serve(auth__mode="local"))
    for method in ("CreateMemory", "GetMemory", "ListMemories"):
        ask(client, (), method).refused(Code.INVALID_ARGUMENT, "requester_required")
    empty = (("x-requester-id", ""),)
    ask(client, empty, "ListMemories").refused(Code.INVALID_ARGUMENT, "requester_invalid")
    agent = (("x-requester-id", "agent:nobody"),)
    ask(client, agent, "GetMemory", memory_id="x").refused(Code.NOT_FOUND, "not_found")


def test_a_requester_who_is_not_the_tokens_user_is_told_so(client: Client, world: World) -> None:
    metadata = (*metadata_of(world.user("ann").credentials), ("x-requester-id", "bob"))
    answer = ask(client, metadata, "GetMemory", memory_id="x")
    answer.refused(Code.PERMISSION_DENIED, "requester_mismatch")


def test_a_caller_without_a_credential_learns_nothing(client: Client) -> None:
    ask(client, (), "GetMemory", memory_id="x").refused(Code.UNAUTHENTICATED, "unauthorized")
    send(client, (), "CreateMemory", b"\xff" * 9).refused(Code.UNAUTHENTICATED, "unauthorized")


@pytest.mark.parametrize(
    ("method", "members", "inside"),
    [
        ("CreateMemory", {"content": "hush", **MINE}, ""),
        ("CreateMemory", {"content": "hush", **MINE}, "space"),
        ("BatchMemories", {"items": [{"create": {"content": "hush", **MINE}}]}, "items"),
        ("SearchMemories", {"query": "x", "filters": {"spaces": [{"kind": "user"}]}}, "filters"),
        ("ListMemories", {"filters": {"spaces": [{"kind": "user"}]}}, ""),
        ("DeleteMemory", {"memory_id": "x"}, ""),
        ("GetHistory", {"memory_id": "x"}, ""),
    ],
)
def test_a_field_that_the_server_does_not_know_is_refused(
    client: Client, world: World, method: str, members: dict[str, Any], inside: str
) -> None:
    ann = world.user("ann")
    message = request(method, **members)
    target = getattr(message, inside) if inside else message
    (target[0].create if inside == "items" else target).MergeFromString(UNKNOWN)
    assert "does not know" in send(client, ann, method, message).invalid()
    assert count(client, ann) == 0


def test_a_blank_query_finds_nothing_and_an_absent_one_is_refused(
    client: Client, world: World
) -> None:
    ann = world.user("ann")
    adds(client, ann)
    assert list(ask(client, ann, "SearchMemories", query=" ", **EVERYWHERE).expect().hits) == []
    assert ask(client, ann, "SearchMemories", **EVERYWHERE).invalid().startswith("query: ")
    assert len(ask(client, ann, "SearchMemories", query="tea", **EVERYWHERE).expect().hits) == 1


def test_every_space_and_some_spaces_are_not_asked_for_at_once(
    client: Client, world: World
) -> None:
    filters = {"all_spaces": True, "spaces": [{"kind": "user"}]}
    for method in ("SearchMemories", "RecallMemories", "ListMemories"):
        members = {} if method == "ListMemories" else {"query": "x"}
        answer = ask(client, world.user("ann"), method, filters=filters, **members)
        assert answer.invalid().startswith("all_spaces: ")


@pytest.mark.parametrize(
    "space", [{"kind": "all"}, {"kind": "user:ann"}, {"kind": ""}, {"kind": "user", "id": ""}]
)
def test_a_space_of_a_list_is_a_kind_and_an_id(
    client: Client, world: World, space: dict[str, str]
) -> None:
    answer = ask(client, world.user("ann"), "ListMemories", filters={"spaces": [space]})
    assert answer.invalid().startswith("spaces[0].")


@pytest.mark.parametrize(
    ("members", "code", "text"),
    [
        ({"clear": ["nonsense"]}, "validation_error", "clear: must name fields of expires_at, "),
        ({"clear": ["content"]}, "validation_error", "clear: must name fields of expires_at, "),
        ({"clear": ["expires_at"], "expires_at": "2100-01-01"}, "validation_error", "clear: `exp"),
        ({"clear": ["visibility"]}, "immutable_field", "visibility: can't be changed"),
    ],
)
def test_what_can_not_be_cleared_is_refused_by_name(
    client: Client, world: World, members: dict[str, Any], code: str, text: str
) -> None:
    ann = world.user("ann")
    kept = adds(client, ann)
    answer = ask(client, ann, "UpdateMemory", memory_id=kept.id, **members)
    assert answer.refused(Code.INVALID_ARGUMENT, code).startswith(text)
    item = {"update": {"memory_id": kept.id, **members}}
    answer = ask(client, ann, "BatchMemories", items=[{"delete": {"memory_id": kept.id}}, item])
    where = "items[1]." if text.startswith("clear") else ""
    assert answer.refused(Code.INVALID_ARGUMENT, code).startswith(where + text)
    assert ask(client, ann, "GetMemory", memory_id=kept.id).expect() == kept


@pytest.mark.parametrize("field", ["value", "metadata"])
@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), "nul \x00", {"nul \x00": 1}])
def test_what_json_can_not_hold_is_refused_in_structs(
    client: Client, world: World, field: str, wrong: Any
) -> None:
    ann = world.user("ann")
    message = request("CreateMemory", key="k", value={"x": 1}, **MINE)
    fill_value(getattr(message, field).fields["wrong"], wrong)
    send(client, ann, "CreateMemory", message).invalid()
    assert count(client, ann) == 0


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"content": "x" * 100_001}, "content"),
        ({"content": ""}, "content"),
        ({"content": "nul \x00"}, "content"),
        ({"content": "x", "metadata": {"text": "x" * 16_400}}, "metadata"),
        ({"key": "k", "value": {"text": "x" * 262_200}}, "value"),
        ({"content": "x", "tags": ["t"] * 51}, "tags"),
        ({"content": "x", "id": "a b"}, "id"),
        ({"content": "x", "ttl_seconds": 0}, "ttl_seconds"),
        ({"content": "x", "observed_at": "yesterday"}, "observed_at"),
        ({"messages": []}, "messages"),
        ({"messages": [{"content": "no role"}]}, "messages"),
        ({"content": "x", "key": "k", "value": {}}, "content"),
    ],
)
def test_limits_are_those_of_rest(
    client: Client, world: World, members: dict[str, Any], field: str
) -> None:
    ann = world.user("ann")
    assert field in ask(client, ann, "CreateMemory", **members, **MINE).invalid()
    assert count(client, ann) == 0


def test_a_message_above_16_mib_is_too_large(client: Client, world: World) -> None:
    answer = ask(client, world.user("ann"), "CreateMemory", content="x" * (16 * MIB), **MINE)
    answer.refused(Code.RESOURCE_EXHAUSTED, "payload_too_large")
    assert details(answer)["message"].endswith(f"at most {16 * MIB} bytes")


@pytest.mark.parametrize("method", ["GetMemory", "DeleteMemory", "GetHistory", "ExplainMemory"])
def test_an_id_that_names_nothing_is_not_found(client: Client, world: World, method: str) -> None:
    ann = world.user("ann")
    for memory_id in ("x", new_id(), "nul \x00", "a/b?c=d", "é" * 300):
        answer = ask(client, ann, method, memory_id=memory_id)
        answer.refused(Code.NOT_FOUND, "not_found")
        assert details(answer) == {"resource": "memory", "id": memory_id}
    endless = ask(client, ann, method, memory_id="x" * 10_000)
    endless.refused(Code.NOT_FOUND, "not_found")
    assert details(endless) == {}
    assert ask(client, ann, method).invalid() == "memory_id: must name a memory"
