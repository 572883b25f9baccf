"""A Redis that stalls for some seconds: nobody's way is blocked by what they did themselves."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest

from tests.recordings.callers import CANCELLED, SUCCESS, RecordingClient, Speaker, until
from tests.recordings.nodes import NodeProcess, a_node
from tests.support.engines import TestDatabase
from tests.support.servers.redis import RedisServer

LIFETIME_SECONDS = 10
# The first question is given up by then, and asked once more.
A_STALL_SECONDS = 2.6
# The recording is given up, and so is the first attempt to take back its claim.
A_LONG_STALL_SECONDS = 9
# Less than one question takes until it is given up.
AT_ONCE_SECONDS = 1.5


@pytest.fixture(scope="module")
def node(
    shared_database: TestDatabase,
    redis_server: RedisServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[NodeProcess]:
    settings = {"RECORDER__LOCATORS": "redis", "REDIS__URL": redis_server.url}
    with a_node(tmp_path_factory.mktemp("stalls"), shared_database, **settings) as running:
        yield running


def begins_in_a_stall(
    caller: RecordingClient, redis: RedisServer, seconds: float
) -> tuple[str, Speaker]:
    """A recording; what is asked of Redis for it is on its way when Redis wakes up."""
    conversation = caller.starts()
    assert caller.recorded(conversation) == []  # so it is connected
    redis.sleep()
    threading.Timer(seconds, redis.wake).start()
    return conversation, caller.records(conversation, "x")


def test_a_recording_that_begins_in_a_stall_is_recorded(
    node: NodeProcess, redis_server: RedisServer
) -> None:
    ann = node.user("ann")
    conversation, speaker = begins_in_a_stall(ann, redis_server, A_STALL_SECONDS)
    assert speaker.ends().status == SUCCESS
    assert ann.recorded(conversation) == []


def test_a_claim_that_came_through_after_its_recording_was_given_up_is_taken_back(
    node: NodeProcess, redis_server: RedisServer
) -> None:
    ann = node.user("ann")
    conversation, speaker = begins_in_a_stall(ann, redis_server, A_LONG_STALL_SECONDS)
    assert speaker.refusal() is grpc.StatusCode.UNAVAILABLE
    redis_server.values()  # answered when it is awake
    woken_at = time.monotonic()
    until(lambda: ann.records(conversation, "again").ends().status == SUCCESS)
    assert time.monotonic() - woken_at < LIFETIME_SECONDS / 2


def test_who_is_cancelled_in_a_stall_is_told_at_once(
    node: NodeProcess, redis_server: RedisServer
) -> None:
    ann = node.user("ann")
    conversation = ann.starts()
    speaker = ann.begins(conversation, "x")
    replay = ann.replays(conversation)
    assert next(replay).content == "x"
    redis_server.sleep()
    with ThreadPoolExecutor(1) as pool:
        try:
            asked_at = time.monotonic()
            cancel = pool.submit(ann.cancels, conversation)
            assert speaker.status() == CANCELLED
            assert list(replay) == []
            assert time.monotonic() - asked_at < AT_ONCE_SECONDS
            assert cancel.result().accepted
        finally:
            redis_server.wake()
    woken_at = time.monotonic()
    until(lambda: ann.records(conversation, "again").ends().status == SUCCESS)
    assert time.monotonic() - woken_at < LIFETIME_SECONDS / 4
