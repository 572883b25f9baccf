"""Streams that are cut, at every point: a recording ends with what came, and nothing is left."""

import gc
import queue
import re
import socket
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import grpc
import httpx2
import pytest

from recollect.recordings.recording import Recording
from tests.recordings.callers import (
    RECORD,
    SUCCESS,
    Node,
    RecordingClient,
    callable_of,
    message,
    until,
)
from tests.recordings.conftest import OneNode, Serving
from tests.recordings.resetting_proxy import a_resetting_proxy
from tests.support.world import new_id

Code = grpc.StatusCode
Cut = Callable[[RecordingClient, str], None]
BIG = "ü" * 3_000_000


@pytest.fixture(scope="module")
def node(serving: Serving) -> Iterator[OneNode]:
    with serving() as running:
        yield running


def nothing_is_left(node: OneNode) -> bool:
    """No file, no location, and nobody who still works on a recording."""
    if node.recording_files() or node.locations() or open_tapes():
        return False
    # The library holds on to the last call that came, until the next one does.
    node.user("ann").recorded(new_id())
    gc.collect()
    return not any(isinstance(one, Recording) for one in gc.get_objects())


def open_tapes() -> list[str]:
    """Files that were removed but are held open."""
    links = [link for link in Path("/proc/self/fd").glob("*") if link.is_symlink()]
    return [target for link in links if ".tape" in (target := _target(link))]


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:  # it was closed meanwhile
        return ""


def calls_to_record(node: OneNode, status: int | str = r"\d+") -> float:
    """How many calls were measured, of all or of a status."""
    shown = httpx2.get(f"http://{node.address}/metrics", trust_env=False).text
    line = rf'recollect_requests_total{{.*"/memory.v1.{RECORD}",status="{status}"}} (.*)'
    return sum(map(float, re.findall(line, shown)))


def before_the_first_message(caller: RecordingClient, _: str) -> None:
    silence: queue.Queue[None] = queue.Queue()
    stream = callable_of(caller.node.channel.stream_unary, RECORD)
    stream.future(iter(silence.get, None), metadata=caller.metadata).cancel()
    silence.put(None)


def after_the_first_message(caller: RecordingClient, conversation: str) -> None:
    caller.begins(conversation).call.cancel()


def after_some_text(caller: RecordingClient, conversation: str) -> None:
    speaker = caller.begins(conversation, "some text")
    assert next(caller.replays(conversation)).content == "some text"
    speaker.call.cancel()


def in_a_large_message(caller: RecordingClient, conversation: str) -> None:
    speaker = caller.begins(conversation, "some text", BIG, BIG)
    speaker.call.cancel()


def while_it_begins(caller: RecordingClient, conversation: str) -> None:
    caller.records(conversation, "some text").call.cancel()


def after_the_end(caller: RecordingClient, conversation: str) -> None:
    speaker = caller.begins(conversation, "some text")
    speaker.half_closes()
    speaker.call.cancel()


def by_a_closed_channel(caller: RecordingClient, conversation: str) -> None:
    other = Node(int(caller.node.address.rpartition(":")[2]))
    other.user(caller.name).begins(conversation, "some text")
    other.close()


def by_a_reset(caller: RecordingClient, conversation: str) -> None:
    """The TCP connection of the caller is reset, behind a proxy of bytes."""
    with a_resetting_proxy(caller.node.address) as proxy:
        other = Node(proxy.port)
        other.user(caller.name).begins(conversation, "some text", BIG)
        proxy.reset()
        other.close()


def by_a_reader(caller: RecordingClient, conversation: str) -> None:
    """Readers go at every point of theirs; the recording does not mind."""
    speaker = caller.begins(conversation, "some text", BIG)
    replays = [caller.replays(conversation) for _ in range(4)]
    replays[0].cancel()
    next(replays[1])
    replays[1].cancel()
    with caller.follows(conversation) as events:
        next(events)
    for replay in replays[2:]:
        next(replay)
    assert speaker.ends().status == SUCCESS
    replays[2].cancel()
    next(replays[3])
    replays[3].cancel()


CUTS: list[Cut] = [
    before_the_first_message,
    while_it_begins,
    after_the_first_message,
    after_some_text,
    in_a_large_message,
    after_the_end,
    by_a_closed_channel,
    by_a_reset,
    by_a_reader,
]


@pytest.mark.parametrize("cut", CUTS, ids=lambda cut: cut.__name__)
def test_nothing_is_left_of_a_stream_that_was_cut(node: OneNode, cut: Cut) -> None:
    ann = node.user("ann")
    conversation = ann.starts()
    for _ in range(3):
        cut(ann, conversation)
        until(lambda: nothing_is_left(node), 10)
    again = ann.begins(conversation, "again")
    assert again.ends().status == SUCCESS


def test_readers_get_what_came_before_the_cut(node: OneNode) -> None:
    ann = node.user("ann")
    conversation = ann.starts()
    speaker = ann.begins(conversation, "what ", "came")
    replay = ann.replays(conversation)
    heard = ""
    while heard != "what came":
        heard += next(replay).content
    speaker.call.cancel()
    assert list(replay) == []
    assert replay.code() is Code.OK
    until(lambda: nothing_is_left(node))


@pytest.mark.parametrize(
    ("first", "code"),
    [
        ({}, Code.INVALID_ARGUMENT),
        ({"content": "text without a name"}, Code.INVALID_ARGUMENT),
        ({"conversation_id": b"short"}, Code.INVALID_ARGUMENT),
        ({"conversation_id": b"x" * 17}, Code.INVALID_ARGUMENT),
        ({"conversation_id": b"x" * 16}, Code.NOT_FOUND),
    ],
    ids=["empty", "nameless", "short", "long", "unknown"],
)
def test_a_bad_first_message_is_refused_before_anything_is_made(
    node: OneNode, first: dict[str, Any], code: grpc.StatusCode
) -> None:
    ann = node.user("ann")
    record = callable_of(node.channel.stream_unary, RECORD)
    call = record.future(iter([message("RecordRequest", **first)]), metadata=ann.metadata)
    assert call.code() is code
    assert (node.recording_files(), node.locations()) == ([], [])


def test_a_stream_without_any_message_is_refused(node: OneNode) -> None:
    record = callable_of(node.channel.stream_unary, RECORD)
    call = record.future(iter(()), metadata=node.user("ann").metadata)
    assert call.code() is Code.INVALID_ARGUMENT


def test_a_message_that_is_none_ends_a_recording_with_what_came(node: OneNode) -> None:
    ann = node.user("ann")
    conversation = ann.starts()
    raw: Any = node.channel.stream_unary("/memory.v1.ResponseRecorderService/Record")
    name = message("RecordRequest", conversation_id=bytes.fromhex(conversation.replace("-", "")))
    call = raw.future(iter([name.SerializeToString(), b"\xff\xff"]), metadata=ann.metadata)
    assert call.code() is Code.INVALID_ARGUMENT
    until(lambda: nothing_is_left(node))


@pytest.mark.parametrize("other", [b"x" * 16, b"short", b"x" * 17], ids=["16", "5", "17"])
def test_a_message_for_another_conversation_ends_a_recording_with_what_came(
    node: OneNode, other: bytes
) -> None:
    ann = node.user("ann")
    conversation = ann.starts()
    speaker = ann.begins(conversation, "what")
    speaker.sends(conversation_id=UUID(conversation).bytes, content=" came")
    replay = ann.replays(conversation)
    heard = ""
    while heard != "what came":
        heard += next(replay).content
    speaker.sends(conversation_id=other, content=" for others")
    assert speaker.refusal() is Code.INVALID_ARGUMENT
    assert "conversation_id" in speaker.call.details()
    assert list(replay) == []
    until(lambda: nothing_is_left(node))


def test_a_message_that_is_too_large_ends_a_recording_with_what_came(node: OneNode) -> None:
    ann = node.user("ann")
    conversation = ann.starts()
    speaker = ann.begins(conversation, "what came")
    replay = ann.replays(conversation)
    assert next(replay).content == "what came"
    speaker.says("x" * (16 * 2**20 + 1))
    assert speaker.refusal() is Code.RESOURCE_EXHAUSTED
    assert list(replay) == []
    until(lambda: nothing_is_left(node))


@pytest.mark.parametrize("mebibytes", [17, 40])
def test_a_message_that_is_not_even_taken_in_is_no_end_of_the_stream(
    node: OneNode, mebibytes: int
) -> None:
    """gRPC refuses it, and tells the server no more than that nothing follows."""
    ann = node.user("ann")
    conversation = ann.starts()
    speaker = ann.begins(conversation, "what came")
    replay = ann.replays(conversation)
    assert next(replay).content == "what came"
    ended, ended_well = calls_to_record(node), calls_to_record(node, 200)
    speaker.says("x" * mebibytes * 2**20)
    assert speaker.refusal() is Code.RESOURCE_EXHAUSTED
    assert list(replay) == []
    until(lambda: calls_to_record(node) > ended)
    assert calls_to_record(node, 200) == ended_well
    until(lambda: nothing_is_left(node))


def test_an_upload_that_is_cut_ends_with_what_came(node: OneNode) -> None:
    """Also in the middle of a character, and in the middle of a chunk."""
    ann = node.user("ann")
    for sent in (b"", b"5\r\nhello\r\n", b"3\r\nh\xc3\xa4\r\n1\r\n\xc3\r\n", b"ff\r\nhello"):
        conversation = ann.starts()
        host, port = node.address.split(":")
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(
                f"POST /v1/conversations/{conversation}/response HTTP/1.1\r\nHost: {host}\r\n"
                "X-Requester-Id: ann\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
                + sent
            )
            until(partial(ann.recorded, conversation))
        until(lambda: nothing_is_left(node), 10)


def test_an_upload_that_is_refused_leaves_nothing(node: OneNode) -> None:
    ann = node.user("ann")
    conversation = ann.starts()
    path = f"/conversations/{conversation}/response"
    json = ann.rest("POST", path, content=b"{}", headers={"Content-Type": "application/json"})
    assert (json.status_code, json.json()["code"]) == (415, "unsupported_media_type")
    bytes_ = ann.rest("POST", path, content=b"h\xff")
    assert (bytes_.status_code, bytes_.json()["code"]) == (400, "validation_error")
    unknown = ann.rest("POST", f"/conversations/{new_id()}/response", content=b"x")
    assert unknown.status_code == 404
    until(lambda: nothing_is_left(node))
