"""Large messages are read and made beside the event loop: nobody else waits for them."""

import asyncio
import threading
from collections.abc import Callable
from time import perf_counter
from typing import Any

import grpc
import pytest
from google.protobuf.message import DecodeError

from recollect.conversations.entries.append import SyncOutcome
from recollect.kernel.errors import ValidationFailed
from recollect.kernel.pages import Page
from recollect.kernel.strict_json import dump
from recollect.rpc.request_reader import LARGE_BYTES, RequestReader
from recollect.search.model import EntryHitPage
from tests.api.fakes import ID, a_hit, an_entry, seen
from tests.api.grpc.adapter import ANN, ROOT, SECONDS_MAX, Adapter
from tests.api.grpc.client import Client
from tests.support.api import RestApi
from tests.support.grpc.api import metadata_of
from tests.support.grpc.messages import fill
from tests.support.grpc.protocol import new_request, path_of, protocol
from tests.support.world import World, memory, new_id

LIST = "EntriesService/ListEntries"
IN_IT = {"conversation_id": ID}
WRITTEN = IN_IT | {"entry": {"content_type": "x", "content": ["c"]}}
ENTRY = an_entry(dump([[0] * 1_000_000]))
METADATA = {"numbers": [0] * 8_000}


def begun(channel: grpc.Channel, metadata: Any, name: str, members: dict[str, Any]) -> Any:
    """A call whose answer is left as bytes: to read it would keep this process busy."""
    request = new_request(protocol().methods[name])
    fill(request, members)
    call: Any = channel.unary_unary(path_of(protocol().methods[name]))
    return call.future(request.SerializeToString(), timeout=SECONDS_MAX, metadata=metadata)


def longest_beside(under_way: Any, ping: Callable[[], object]) -> float:
    """The longest of the short calls that were made beside one that is under way."""
    longest = 0.0
    while not under_way.done():
        began_at = perf_counter()
        ping()
        longest = max(longest, perf_counter() - began_at)
    return longest


@pytest.mark.parametrize(
    ("service", "method", "answer", "name", "members"),
    [
        ("entries", "list", Page([ENTRY], None), LIST, IN_IT),
        ("entries", "append", ENTRY, "EntriesService/AppendEntry", WRITTEN),
        (
            "entries",
            "sync",
            SyncOutcome(1, False, True, ENTRY),
            "EntriesService/SyncEntries",
            WRITTEN,
        ),
        (
            "search",
            "search",
            EntryHitPage([a_hit(entry=ENTRY)]),
            "SearchService/SearchConversations",
            {"query": "q"},
        ),
        (
            "indexing",
            "list_unindexed",
            Page([ENTRY], None),
            "SearchService/ListUnindexedEntries",
            {},
        ),
        (
            "conversations",
            "list",
            Page([seen(metadata=METADATA)] * 60, None),
            "ConversationsService/ListConversations",
            {},
        ),
    ],
    ids=["list", "append", "sync", "search", "unindexed", "conversations"],
)
def test_no_call_waits_for_a_large_answer_of_another(
    adapter: Adapter, service: str, method: str, answer: Any, name: str, members: dict[str, Any]
) -> None:
    getattr(adapter.fakes, service).answers[method] = answer
    began_at = perf_counter()
    under_way = begun(adapter.channel, ROOT, name, members)
    longest = longest_beside(
        under_way, lambda: adapter.client.ask(ANN, "SystemService/GetHealth").expect()
    )
    took = perf_counter() - began_at
    assert under_way.code() is grpc.StatusCode.OK, under_way.details()
    assert longest < took / 2, (longest, took)


def test_health_is_answered_while_a_large_entry_is_listed(world: World, client: Client) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    body = memory([[0] * 3_000_000])
    RestApi.call(world.api, "append", ann.credentials, (conversation,), body=body).expect(201)
    metadata = metadata_of(ann.credentials)
    began_at = perf_counter()
    under_way = begun(client.channel, metadata, LIST, {"conversation_id": conversation})
    longest = longest_beside(under_way, lambda: world.api.http.get("/health").raise_for_status())
    took = perf_counter() - began_at
    assert under_way.code() is grpc.StatusCode.OK, under_way.details()
    assert longest < took / 2, (longest, took)


class Kind:
    """A type of messages that remembers where they are parsed."""

    def __init__(self, *, readable: bool) -> None:
        self.threads: list[threading.Thread] = []
        self._readable = readable

    def FromString(self, raw: bytes) -> bytes:  # noqa: N802 - the library's name
        self.threads.append(threading.current_thread())
        if not self._readable:
            raise DecodeError
        return raw


class OneMessage:
    """A call that brings these bytes."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw

    async def read(self) -> bytes:
        return self._raw


@pytest.mark.parametrize("readable", [True, False], ids=["readable", "refused"])
@pytest.mark.parametrize(("size", "large"), [(LARGE_BYTES, False), (LARGE_BYTES + 1, True)])
def test_a_large_message_is_parsed_beside_the_loop(size: int, large: bool, readable: bool) -> None:
    kind: Any = Kind(readable=readable)
    context: Any = OneMessage(b"x" * size)
    inbox: RequestReader[Any] = RequestReader(kind, context)
    if readable:
        assert len(asyncio.run(inbox.read_one())) == size
    else:
        with pytest.raises(ValidationFailed):
            asyncio.run(inbox.read_one())
    assert inbox.large is large
    assert [thread is not threading.main_thread() for thread in kind.threads] == [large]
