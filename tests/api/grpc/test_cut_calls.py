"""The end of a stream and the end of a call are two things, and gRPC tells them alike."""

import queue
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any
from uuid import UUID

import grpc
import pytest

from recollect.recordings.model import RecordingStatus
from tests.api.fakes import ID
from tests.api.grpc.adapter import ANN, SECONDS_MAX, Adapter
from tests.support.grpc.protocol import path_of, protocol

Code = grpc.StatusCode
RECORD = "ResponseRecorderService/Record"
TOO_LARGE = b"\x12" + b"x" * (20 * 2**20)
Cut = Callable[[Any, "queue.Queue[bytes | None]"], None]


class Listener:
    """In place of the recorder: notes what comes, and whether that came to an end."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.has_left = False
        self.was_told_of_an_end = False

    async def record(self, _: Any, __: Any, texts: AsyncIterator[str]) -> RecordingStatus:
        try:
            async for text in texts:
                self.heard.append(text)
            self.was_told_of_an_end = True
        finally:
            self.has_left = True
        return RecordingStatus.COMPLETED


def begun(adapter: Adapter) -> "tuple[Listener, Any, queue.Queue[bytes | None]]":
    """A recording under way: who listens, the call, and what it is to send."""
    listener = Listener()
    recorder: Any = adapter.fakes.recorder
    recorder.record = listener.record
    first: Any = protocol().message("RecordRequest")
    first.conversation_id, first.content = UUID(ID).bytes, "what came"
    messages: queue.Queue[bytes | None] = queue.Queue()
    messages.put(first.SerializeToString())
    sent: Iterator[bytes | None] = iter(messages.get, None)
    stream: Any = adapter.channel.stream_unary(path_of(protocol().methods[RECORD]))
    call = stream.future(sent, metadata=ANN, timeout=SECONDS_MAX)
    adapter.wait_until(lambda: listener.heard == ["what came"])
    return listener, call, messages


def test_a_caller_who_half_closes_has_ended_the_stream(adapter: Adapter) -> None:
    listener, call, messages = begun(adapter)
    messages.put(None)
    assert call.code() is Code.OK
    assert listener.was_told_of_an_end


CUTS: dict[str, Cut] = {
    "cancelled": lambda call, _: call.cancel(),
    "too_large": lambda _, messages: messages.put(TOO_LARGE),
}


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
def test_a_call_that_is_cut_is_no_end_of_the_stream(adapter: Adapter, cut: Cut) -> None:
    listener, call, messages = begun(adapter)
    cut(call, messages)
    assert call.code() in (Code.CANCELLED, Code.RESOURCE_EXHAUSTED)
    messages.put(None)
    adapter.wait_until(lambda: listener.has_left)
    assert not listener.was_told_of_an_end
    assert [status for _, _, status in adapter.measured(1)] == [499]
