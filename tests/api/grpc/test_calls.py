"""Credentials in metadata, numbers as doubles, optional texts, what trailers tell: a running server
and a caller who speaks gRPC alone."""

import math
from collections.abc import Iterator
from typing import Any

import grpc
import pytest

from tests.api.grpc.client import Answer, Client
from tests.api.grpc.conftest import client_of
from tests.conftest import Serve
from tests.support.api import RestApi
from tests.support.grpc.messages import fill_value, value_of
from tests.support.grpc.protocol import new_request, protocol
from tests.support.searching import embedding_flags, settle
from tests.support.servers.embedding import EmbeddingServer
from tests.support.world import CLIENT_KEYS, User, World, a_token, memory, new_id

LIST = "ConversationsService/ListConversations"
CREATE = "ConversationsService/CreateConversation"
UPDATE = "ConversationsService/UpdateConversation"
ENTRIES = "EntriesService/ListEntries"
APPEND, SYNC = "EntriesService/AppendEntry", "EntriesService/SyncEntries"
SEARCH = "SearchService/SearchConversations"
Code = grpc.StatusCode
BEARER = ("authorization", f"Bearer {a_token('ann')}")
KEY = ("x-api-key", CLIENT_KEYS["k1"])


@pytest.mark.parametrize(
    "metadata",
    [
        (),
        (KEY,),
        (("authorization", "Bearer garbage"),),
        (("authorization", a_token("ann")),),
        (BEARER, ("x-api-key", "unknown")),
        (("x-requester-id", "ann"),),
        (KEY, ("x-requester-id", "ann")),
        (BEARER, BEARER),
        (BEARER, KEY, KEY),
        (BEARER, KEY, ("x-api-key", CLIENT_KEYS["k2"])),
        (BEARER, ("x-requester-id", "ann"), ("x-requester-id", "bob")),
    ],
    ids=[
        "nothing",
        "a key alone",
        "a bad token",
        "no scheme",
        "an unknown key",
        "a bare requester",
        "a requester of an ordinary client",
        "a token twice",
        "a key twice",
        "two keys",
        "two requesters",
    ],
)
def test_who_can_not_be_believed_is_unauthenticated(
    client: Client, metadata: tuple[tuple[str, str], ...]
) -> None:
    client.ask(metadata, LIST).refused(Code.UNAUTHENTICATED, "unauthorized")


def test_a_requester_that_differs_from_the_token_is_denied(client: Client) -> None:
    metadata = (BEARER, ("x-requester-id", "bob"))
    client.ask(metadata, LIST).refused(Code.PERMISSION_DENIED, "forbidden")
    client.ask((BEARER, ("x-requester-id", "ann")), LIST).expect()


def test_a_trusted_client_may_assert_the_user(client: Client) -> None:
    metadata = (("x-api-key", CLIENT_KEYS["trusted"]), ("x-requester-id", "asserted"))
    assert client.ask(metadata, CREATE).expect().owner_user_id == "asserted"


def test_local_mode_believes_the_requester(serve: Serve) -> None:
    client = client_of(serve(auth__mode="local"))
    made = client.ask((("x-requester-id", "ann"),), CREATE).expect()
    assert made.owner_user_id == "ann"
    client.ask((), LIST).refused(Code.UNAUTHENTICATED, "unauthorized")
    blank = client.ask((("x-requester-id", "  "),), LIST)
    assert (blank.code, client.ask((("x-requester-id", ""),), LIST).code) == (
        Code.UNAUTHENTICATED,
    ) * 2


def test_blanks_around_a_credential_are_none_of_it(client: Client) -> None:
    for requester in (" asserted ", "asserted  ", "  asserted"):
        metadata = (("x-api-key", f" {CLIENT_KEYS['trusted']} "), ("x-requester-id", requester))
        assert client.ask(metadata, CREATE).expect().owner_user_id == "asserted"


@pytest.mark.parametrize("name", [APPEND, SYNC])
def test_writing_entries_needs_a_key_before_anything_else(
    world: World, client: Client, name: str
) -> None:
    ann = world.user("ann")
    client.ask(ann, name).refused(Code.PERMISSION_DENIED, "forbidden")
    client.ask(ann.with_key("k1"), name).invalid()


def test_an_append_without_channel_follows_its_content_type(world: World, client: Client) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    for content_type, channel in (("history/x", 1), ("history", 1), ("other", 2)):
        entry = {"content_type": content_type, "content": [{"role": "USER", "text": "t"}]}
        made = client.ask(ann, APPEND, conversation_id=conversation, entry=entry).expect()
        assert (made.channel, made.epoch) == (channel, channel - 1)


def test_an_absent_title_stays_and_an_empty_one_is_cleared(world: World, client: Client) -> None:
    ann = world.user("ann")
    conversation = ann.starts("kept")
    named = new_request(protocol().methods[UPDATE])
    named.conversation_id = client.ask(ann, CREATE, title="kept").expect().id
    assert client.send(ann, UPDATE, named).expect().title == "kept"
    named.title = "new"
    assert client.send(ann, UPDATE, named).expect().title == "new"
    named.title = ""
    assert client.send(ann, UPDATE, named).expect().title == ""
    assert ann.gets(conversation)["title"] == "kept"


def test_an_empty_query_of_a_search_is_absent(world: World, client: Client) -> None:
    ann = world.user("ann")
    client.ask(ann, SEARCH).invalid()
    assert not client.ask(ann, SEARCH, query="  ").expect().results


@pytest.mark.parametrize("token", ["nul\x00", "\x00", "no-id", "é" * 40])
def test_a_page_token_that_was_not_given_is_refused(
    world: World, client: Client, token: str
) -> None:
    ann = world.user("ann")
    conversation = ann.starts()["id"]
    page = {"page_token": token}
    for name, members in (
        (LIST, {}),
        (ENTRIES, {"conversation_id": conversation}),
        ("ConversationsService/ListForks", {"conversation_id": conversation}),
        ("ConversationMembershipsService/ListMemberships", {"conversation_id": conversation}),
        ("OwnershipTransfersService/ListOwnershipTransfers", {}),
    ):
        answer = client.ask(ann, name, page=page, **members)
        answer.refused(Code.INVALID_ARGUMENT, "bad_request")
    assert client.ask(ann, SEARCH, query="q", after=token).code is Code.INVALID_ARGUMENT
    answer = client.ask(world.indexer, "SearchService/ListUnindexedEntries", cursor=token)
    answer.refused(Code.INVALID_ARGUMENT, "bad_request")


@pytest.mark.scenario(21)
def test_a_list_stored_over_rest_is_the_same_over_grpc(world: World, client: Client) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    over_rest(world, ann, "sync", conversation, [{"n": 1, "x": None}])
    same = synced(client, ann, conversation, [{"n": 1.0, "x": None}])
    assert (same.no_op, same.epoch, same.HasField("entry")) == (True, 1, False)
    missing = synced(client, ann, conversation, [{"n": 1.0}])
    assert (missing.no_op, missing.epoch, missing.epoch_incremented) == (False, 2, True)
    back = over_rest(world, ann, "sync", conversation, [{"n": 1}])
    assert back["noOp"] is True


def test_whole_numbers_are_stored_as_such(world: World, client: Client) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    items = [0, -7, 2**53, 1.5, -0.25, 1e300]
    synced(client, ann, conversation, items)
    page = RestApi.call(world.api, "list_entries", ann.credentials, (conversation,)).expect(200)
    assert [repr(n) for n in page["data"][0]["content"]] == [repr(n) for n in items]


def test_integers_beyond_doubles_are_told_as_the_nearest_double(
    world: World, client: Client
) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    items = [12345678901234567890, 10**400, -(10**400), 0.1]
    over_rest(world, ann, "append", conversation, items)
    [entry] = client.ask(ann, ENTRIES, conversation_id=conversation).expect().entries
    told = [value_of(item) for item in entry.content]
    assert told[0] == float(12345678901234567890)
    assert all(math.isfinite(number) for number in told)
    assert (told[1] > 1e308, told[2] < -1e308, told[3]) == (True, True, 0.1)


def test_every_kind_of_json_comes_back(world: World, client: Client) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    items: list[Any] = [
        None,
        True,
        False,
        "ü日🎉",
        "",
        [],
        {},
        [[]],
        {"": {"a": [None, {"b": 2.5}]}},
    ]
    synced(client, ann, conversation, items)
    [entry] = client.ask(ann, ENTRIES, conversation_id=conversation).expect().entries
    assert [value_of(item) for item in entry.content] == items


def test_a_value_without_a_kind_is_null(world: World, client: Client) -> None:
    ann = world.user("ann").with_key("k1")
    request = new_request(protocol().methods[APPEND])
    request.conversation_id, request.entry.content_type = b"\x07" * 16, "x"
    request.entry.content.add()
    stored = client.send(ann, APPEND, request).expect()
    assert [value_of(item) for item in stored.content] == [None]


@pytest.fixture
def failing() -> Iterator[EmbeddingServer]:
    """An endpoint of its own, so that its faults are nobody else's."""
    with EmbeddingServer(dimensions=32) as server:
        yield server


@pytest.mark.scenario(32)
def test_a_search_whose_vectors_fail_says_so_in_its_trailers(
    serve: Serve, failing: EmbeddingServer
) -> None:
    flags = {name.replace(".", "__"): v for name, v in embedding_flags(failing).items()}
    world = serve(**flags)
    ann, client = world.user("ann"), client_of(world)
    ann.says(new_id(), "My kayak is in the shed.")
    settle(world)
    whole = client.ask(ann, SEARCH, query="kayak")
    assert (len(whole.expect().results), "degraded" in whole.trailers) == (1, False)
    failing.mode = "error"
    degraded = client.ask(ann, SEARCH, query="the kayak, again")
    assert len(degraded.expect().results) == 1
    assert degraded.trailers["degraded"] == "embedding"


def synced(client: Client, user: User, conversation: str, items: list[Any]) -> Any:
    """Sync over gRPC, numbers as doubles."""
    request = new_request(protocol().methods[SYNC])
    request.conversation_id = bytes.fromhex(conversation.replace("-", ""))
    request.entry.content_type = "application/json"
    for item in items:
        fill_value(request.entry.content.add(), item)
    answer: Answer = client.send(user, SYNC, request)
    return answer.expect()


def over_rest(
    world: World, user: User, operation: str, conversation: str, items: list[Any]
) -> dict[str, Any]:
    """Write over REST, in a world that is called over gRPC."""
    reply = RestApi.call(
        world.api, operation, user.credentials, (conversation,), body=memory(items)
    )
    assert reply.status in (200, 201), reply.body
    body: dict[str, Any] = reply.body
    return body
