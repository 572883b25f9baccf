"""What callers can have of a server that does not know them yet: next to nothing."""

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from recollect.rpc.request_reader import ANONYMOUS_READS_MAX
from tests.api.grpc.adapter import ANN, SECONDS_MAX, Adapter
from tests.support.grpc.protocol import path_of, protocol

Code = grpc.StatusCode
OPEN = ("SystemService/GetHealth",)
CHECK = "/grpc.health.v1.Health/Check"
REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
KNOWN_ONLY = sorted(protocol().methods.keys() - set(OPEN))


@contextmanager
def silent(adapter: Adapter, path: str, metadata: Any = ()) -> Iterator[Any]:
    """A call whose message never comes."""
    nothing: queue.Queue[None] = queue.Queue()
    stream: Any = adapter.channel.stream_stream(path)
    call = stream(iter(nothing.get, None), metadata=metadata, timeout=SECONDS_MAX)
    try:
        yield call
    finally:
        call.cancel()
        nothing.put(None)


def is_served(adapter: Adapter) -> bool:
    stub: Any = health_pb2_grpc.HealthStub(adapter.channel)
    answer = stub.Check(health_pb2.HealthCheckRequest(), timeout=SECONDS_MAX)
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


@pytest.mark.parametrize("name", KNOWN_ONLY)
def test_no_message_is_waited_for_of_a_caller_who_is_not_known(adapter: Adapter, name: str) -> None:
    with silent(adapter, path_of(protocol().methods[name])) as call:
        assert call.code() is Code.UNAUTHENTICATED


@pytest.mark.parametrize("path", [CHECK, REFLECTION])
def test_of_many_unfinished_messages_the_oldest_give_way(adapter: Adapter, path: str) -> None:
    with silent(adapter, path) as first, silent(adapter, path) as second:
        assert is_served(adapter)
        opened = [silent(adapter, path) for _ in range(ANONYMOUS_READS_MAX)]
        latest = [call.__enter__() for call in opened]
        assert {first.code(), second.code()} == {Code.UNAVAILABLE}
        assert is_served(adapter)
        # The probe needed a place for a moment, and took that of the oldest.
        assert [call.done() for call in latest[1:]] == [False] * (ANONYMOUS_READS_MAX - 1)
        for call in opened:
            call.__exit__(None, None, None)
    assert is_served(adapter)


@pytest.mark.parametrize("path", [CHECK, REFLECTION])
def test_a_message_that_does_not_come_does_not_keep_the_server_from_stopping(
    adapter: Adapter, path: str
) -> None:
    with silent(adapter, path) as call:
        assert is_served(adapter)
        adapter.begin_stop(SECONDS_MAX).result(SECONDS_MAX / 2)
        assert call.code() is Code.UNAVAILABLE


def test_a_call_without_a_message_is_refused(adapter: Adapter) -> None:
    path = path_of(protocol().methods["ConversationsService/GetConversation"])
    for metadata, asked in ((ANN, path), ((), CHECK)):
        stream: Any = adapter.channel.stream_stream(asked)
        call = stream(iter(()), metadata=metadata, timeout=SECONDS_MAX)
        assert call.code() is Code.INVALID_ARGUMENT


@pytest.mark.parametrize("path", [CHECK, REFLECTION])
def test_a_stranger_has_little_to_say(adapter: Adapter, path: str) -> None:
    stream: Any = adapter.channel.stream_stream(path)
    call = stream(iter([b"\x0a" + b"x" * 100_000]), timeout=SECONDS_MAX)
    assert call.code() is Code.RESOURCE_EXHAUSTED
    garbage = stream(iter([b"\xff\xff"]), timeout=SECONDS_MAX)
    assert garbage.code() is Code.INVALID_ARGUMENT
