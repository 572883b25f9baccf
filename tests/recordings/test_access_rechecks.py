"""Who may is asked again while a stream goes on: also whether the token is still good."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest

from tests.recordings.callers import SUCCESS, RecordingClient, text_of, until
from tests.recordings.conftest import OneNode, Serving
from tests.support.world import JWT_SECRET, a_token

Code = grpc.StatusCode
RENEWAL_SECONDS = 5
LIFE_SECONDS = 3_600


@pytest.fixture(scope="module")
def node(serving: Serving) -> Iterator[OneNode]:
    with serving(auth__jwt_secret=JWT_SECRET) as running:
        yield running


def with_token(node: OneNode, name: str) -> RecordingClient:
    """Somebody whose token has a life."""
    ending = int(node.clock.now().timestamp()) + LIFE_SECONDS
    return RecordingClient(node, name, a_token(name, expires_at=ending))


def within_a_renewal(end: Callable[[], Any]) -> Any:
    """What comes of it, in time."""
    started_at = time.monotonic()
    came = end()
    assert time.monotonic() - started_at < RENEWAL_SECONDS + 2
    return came


def test_readers_hear_no_more_when_their_token_is_over(node: OneNode) -> None:
    ann, rita = node.user("ann"), with_token(node, "rita")
    conversation = ann.starts()
    ann.shares(conversation, "rita", "reader")
    speaker = ann.begins(conversation, "while it lasts")
    untouched, replay = ann.replays(conversation), rita.replays(conversation)
    assert next(replay).content == "while it lasts"
    with rita.follows(conversation) as events:
        assert next(events).content == {"content": "while it lasts"}
        node.clock.advance(seconds=LIFE_SECONDS)
        with pytest.raises(grpc.RpcError):
            within_a_renewal(lambda: list(replay))
        assert replay.code() is Code.UNAUTHENTICATED
        (last,) = events
        assert (last.kind, last.content) == ("error", {"code": "unauthorized"})
    speaker.says(" and on")
    assert speaker.ends().status == SUCCESS
    assert "".join(piece.content for piece in untouched) == "while it lasts and on"


def test_a_recording_ends_with_the_token_and_readers_get_what_came(node: OneNode) -> None:
    ann, wanda = node.user("ann"), with_token(node, "wanda")
    conversation = ann.starts()
    ann.shares(conversation, "wanda", "writer")
    speaker = wanda.begins(conversation, "what came")
    replay = ann.replays(conversation)
    assert next(replay).content == "what came"
    node.clock.advance(seconds=LIFE_SECONDS)
    assert within_a_renewal(speaker.refusal) is Code.UNAUTHENTICATED
    assert list(replay) == []
    assert ann.begins(conversation, "another").ends().status == SUCCESS


def test_an_upload_ends_with_the_token(node: OneNode) -> None:
    ann, wanda = node.user("ann"), with_token(node, "wanda")
    conversation, end = ann.starts(), threading.Event()
    ann.shares(conversation, "wanda", "writer")

    def chunks() -> Iterator[bytes]:
        yield b"what came"
        assert end.wait(30)

    with ThreadPoolExecutor(1) as pool:
        path = f"/conversations/{conversation}/response"
        upload = pool.submit(wanda.rest, "POST", path, content=chunks())
        until(lambda: ann.recorded(conversation))
        with ann.follows(conversation) as events:
            first = next(events)
            node.clock.advance(seconds=LIFE_SECONDS)
            assert text_of([first, *within_a_renewal(lambda: list(events))]) == "what came"
        end.set()
        refused = upload.result()
    assert (refused.status_code, refused.json()["code"]) == (401, "unauthorized")
