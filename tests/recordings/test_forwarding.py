"""What is asked of another node is what the caller asked, and what it answers is what they get."""

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack

import httpx2
import pytest

from recollect.kernel.errors import Unavailable
from recollect.recordings.forwarding import wait_for_node
from recollect.recordings.model import RecordingTiming
from tests.recordings.callers import CANCELLED, SUCCESS, RecordingClient
from tests.recordings.conftest import Pair, StartNode
from tests.recordings.nodes import a_node
from tests.support.engines import TestDatabase
from tests.support.world import JWT_SECRET, a_token

LIFETIME_SECONDS = 10
# A busy machine is slow to do what it is told.
PATIENCE_SECONDS = 3
TOKEN = a_token("ann", expires_at=4_000_000_000)


@pytest.fixture(scope="module")
def pair(shared_database: TestDatabase, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """The first takes tokens alone, and of each user one reader."""
    folder = tmp_path_factory.mktemp("pair")
    both = {"RECORDER__LOCATORS": "database", "AUTH__JWT_SECRET": JWT_SECRET}
    strict = {"AUTH__MODE": "jwt", "RECORDER__MAX_REPLAYS_PER_USER": 1}
    with ExitStack() as stack:
        first = stack.enter_context(a_node(folder, shared_database, **both, **strict))
        yield first, stack.enter_context(a_node(folder, shared_database, **both))


def answers_of(pair: Pair, conversation: str, **headers: bytes) -> list[httpx2.Response]:
    """What each node answers to a reader with a token, without what follows."""
    sent = {b"authorization": f"Bearer {TOKEN}".encode()} | {
        name.replace("_", "-").encode(): value for name, value in headers.items()
    }
    path = f"/conversations/{conversation}/response"
    answers = []
    for node in pair:
        with node.http.stream("GET", path, headers=sent) as answer:
            answers.append(answer)
    return answers


def test_names_beyond_ascii_cancel_from_another_node(start_node: StartNode) -> None:
    settings = {"RECORDER__LOCATORS": "database"}
    with start_node(**settings) as first, start_node(**settings) as second:
        jose = {b"x-requester-id": "josé".encode()}
        made = first.http.post("/conversations", headers=jose, json={})
        assert made.status_code == 201, made.text
        conversation = made.json()["id"]
        member = {"userId": "ann", "accessLevel": "writer"}
        path = f"/conversations/{conversation}"
        first.http.post(f"{path}/memberships", headers=jose, json=member)
        speaker = first.user("ann").begins(conversation, "x")
        with second.http.stream("GET", f"{path}/response", headers=jose) as followed:
            assert followed.status_code == 200
            assert second.http.delete(f"{path}/response", headers=jose).status_code == 200
        assert speaker.status() == CANCELLED


@pytest.mark.parametrize("value", ["é".encode(), "é".encode("latin-1")], ids=["utf-8", "latin-1"])
@pytest.mark.parametrize("name", ["x_request_id", "accept", "last_event_id"])
def test_headers_beyond_ascii_are_answered_alike_on_both_nodes(
    pair: Pair, name: str, value: bytes
) -> None:
    ann = RecordingClient(pair[0], "ann", TOKEN)
    conversation = ann.starts()
    speaker = ann.begins(conversation)
    sent = value + b".5" if name == "last_event_id" else value
    direct, forwarded = answers_of(pair, conversation, **{name: sent})
    assert direct.status_code == forwarded.status_code < 500
    assert speaker.ends().status == SUCCESS


def test_a_refusal_of_another_node_keeps_its_headers(pair: Pair) -> None:
    ann = RecordingClient(pair[0], "ann", TOKEN)
    conversation = ann.starts()
    speaker = ann.begins(conversation, "x")
    replay = ann.replays(conversation)
    assert next(replay).content == "x"
    direct, forwarded = answers_of(pair, conversation)
    assert direct.status_code == forwarded.status_code == 503
    assert direct.headers["retry-after"] == forwarded.headers["retry-after"] == "10"
    unknown = pair[1].user("ann").rest("DELETE", f"/conversations/{conversation}/response")
    assert (unknown.status_code, unknown.headers["www-authenticate"]) == (401, "Bearer")
    assert speaker.ends().status == SUCCESS


def test_an_answer_that_never_comes_is_waited_for_as_long_as_a_cancel_may_take() -> None:
    """Its node is alive as far as the others can see."""

    async def scene() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            with pytest.raises(Unavailable, match="does not answer"):
                await wait_for_node(asyncio.Event().wait(), is_gone, RecordingTiming(cancel=0.1))

    async def is_gone() -> bool:
        return False

    asyncio.run(scene())


def test_a_cancel_at_a_node_that_hangs_is_answered_when_its_recording_has_vanished(
    start_node: StartNode,
) -> None:
    settings = {"RECORDER__LOCATORS": "database"}
    with start_node(**settings) as first, start_node(**settings) as second:
        ann = second.user("ann")
        conversation = ann.starts()
        speaker = first.user("ann").begins(conversation, "x")
        os.kill(first.process.pid, signal.SIGSTOP)
        asked_at = time.monotonic()
        cancel = ann.rest("DELETE", f"/conversations/{conversation}/response")
        assert (cancel.status_code, cancel.content) == (200, b"")
        assert time.monotonic() - asked_at < LIFETIME_SECONDS + PATIENCE_SECONDS
        assert ann.recorded(conversation) == []
        os.kill(first.process.pid, signal.SIGCONT)
        assert speaker.status() == CANCELLED
