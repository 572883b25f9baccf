"""Nodes that are killed, sleep, stop or lose what they share with the others."""

import os
import resource
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest

from recollect.cli.serve import bind_socket
from recollect.settings import ServerSettings
from tests.recordings.callers import ERROR, SUCCESS, code_of, until
from tests.recordings.conftest import Serving, StartNode
from tests.support.engines import TestDatabase
from tests.support.servers.redis import RedisServer, a_redis_server

LIFETIME_SECONDS = 10
# A busy machine is slow to do what it is told.
PATIENCE_SECONDS = 3
Code = grpc.StatusCode


def locations(database: TestDatabase, redis: RedisServer) -> set[str]:
    """The keys that there are, with either locator."""
    return {key for (key,) in database.rows("SELECT key FROM recording_locations")} | {
        *redis.values()
    }


def settings_of(locators: str, redis_server: RedisServer) -> dict[str, str]:
    return {"RECORDER__LOCATORS": locators, "REDIS__URL": redis_server.url}


@pytest.mark.parametrize("locators", ["database", "redis"])
def test_the_recording_of_a_killed_node_is_gone_in_ten_seconds(
    locators: str, start_node: StartNode, redis_server: RedisServer
) -> None:
    settings = settings_of(locators, redis_server)
    with start_node(**settings) as first, start_node(**settings) as second:
        ann = second.user("ann")
        conversation = ann.starts()
        speaker = first.user("ann").begins(conversation, "lost")
        first.process.kill()
        killed_at = time.monotonic()
        assert ann.recorded(conversation) == [conversation]
        assert ann.records(conversation, "too early").answer().status == ERROR
        assert speaker.refusal() is Code.UNAVAILABLE
        until(lambda: not ann.recorded(conversation), LIFETIME_SECONDS + PATIENCE_SECONDS)
        assert time.monotonic() - killed_at < LIFETIME_SECONDS + PATIENCE_SECONDS
        again = ann.begins(conversation, "again")
        assert again.ends().status == SUCCESS


def test_a_node_that_slept_too_long_gives_way_to_another(
    start_node: StartNode, shared_database: TestDatabase
) -> None:
    settings = {"RECORDER__LOCATORS": "database"}
    with start_node(**settings) as first, start_node(**settings) as second:
        ann, there = first.user("ann"), second.user("ann")
        lost, kept = there.starts(), there.starts()
        speaker, lasting = ann.begins(lost, "before"), ann.begins(kept, "before")
        heard = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            listener = pool.submit(ann.hears, kept, heard)
            assert heard.wait(PATIENCE_SECONDS * 10)
            os.kill(first.process.pid, signal.SIGSTOP)
            speaker.says(" while it slept")
            until(lambda: not there.recorded(lost, kept), LIFETIME_SECONDS + PATIENCE_SECONDS)
            other = there.begins(lost, "the other one")
            os.kill(first.process.pid, signal.SIGCONT)
            answer = speaker.answer()
            assert answer.status == ERROR
            assert "took its place" in answer.error_message
            until(lambda: there.recorded(kept))
            lasting.says(" and after")
            assert lasting.ends().status == SUCCESS
            assert listener.result() == "before and after"
        assert there.recorded(lost) == [lost]
        begun = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            listener = pool.submit(ann.hears, lost, begun)
            assert begun.wait(PATIENCE_SECONDS * 10)
            assert other.ends().status == SUCCESS
            assert listener.result() == "the other one"


def test_a_recording_outlives_a_restart_of_redis(start_node: StartNode) -> None:
    with a_redis_server() as redis, start_node(**settings_of("redis", redis)) as node:
        ann = node.user("ann")
        conversation = ann.starts()
        speaker = ann.begins(conversation, "before")
        redis.stop()
        path = f"/conversations/{ann.starts()}/response"
        assert ann.rest("POST", path, content="x").status_code == 503
        redis.start()
        until(redis.values, LIFETIME_SECONDS)
        assert ann.recorded(conversation) == [conversation]
        speaker.says(" and after")
        assert speaker.ends().status == SUCCESS
        assert not [key for key in redis.values() if key.startswith("response:")]


def test_a_recording_ends_when_its_place_can_not_be_held(start_node: StartNode) -> None:
    """Another node may record by then, and nobody could say."""
    with a_redis_server() as redis, start_node(**settings_of("redis", redis)) as node:
        ann = node.user("ann")
        speaker = ann.begins(ann.starts(), "before")
        redis.sleep()
        assert speaker.refusal() is Code.UNAVAILABLE
        assert "unavailable for too long" in speaker.call.details()
        redis.wake()


@pytest.mark.parametrize("locators", ["database", "redis"])
def test_a_stop_ends_recordings_at_once_and_leaves_nothing(
    locators: str,
    start_node: StartNode,
    shared_database: TestDatabase,
    redis_server: RedisServer,
) -> None:
    with start_node(**settings_of(locators, redis_server)) as node:
        before = locations(shared_database, redis_server)
        ann = node.user("ann")
        ended = ann.begins(ann.starts(), "kept for a while")
        assert ended.ends().status == SUCCESS
        conversation, uploaded = ann.starts(), ann.starts()
        speaker = ann.begins(conversation, "x")
        replay = ann.replays(conversation)
        assert next(replay).content == "x"
        with ThreadPoolExecutor(1) as pool:
            silent = threading.Event()
            upload = pool.submit(
                ann.rest,
                "POST",
                f"/conversations/{uploaded}/response",
                content=_one_text_then_silence(silent),
            )
            until(lambda: ann.recorded(uploaded))
            node.process.send_signal(signal.SIGTERM)
            asked_at = time.monotonic()
            assert speaker.refusal() is Code.UNAVAILABLE
            assert node.process.wait() == 0
            assert time.monotonic() - asked_at < LIFETIME_SECONDS
            silent.set()
            assert upload.result().status_code == 503
        assert list(replay) == []
        assert node.recording_files() == []
        assert locations(shared_database, redis_server) <= before


def _one_text_then_silence(end: threading.Event) -> Iterator[bytes]:
    yield b"x"
    assert end.wait(PATIENCE_SECONDS * 10)


def test_a_full_disk_is_told_and_readers_get_what_came(start_node: StartNode) -> None:
    with start_node() as node:
        ann = node.user("ann")
        conversation = ann.starts()
        resource.prlimit(node.process.pid, resource.RLIMIT_FSIZE, (200_000, 200_000))
        speaker = ann.begins(conversation, "x" * 150_000)
        replay = ann.replays(conversation)
        heard = next(replay).content
        speaker.says("y" * 100_000)
        assert speaker.refusal() is Code.UNAVAILABLE
        assert "can't record" in speaker.call.details()
        heard += "".join(piece.content for piece in replay)
        assert heard == "x" * 150_000
        with pytest.raises(grpc.RpcError) as refused:
            ann.cancels("00000000-0000-0000-0000-000000000000")
        assert code_of(refused.value) is Code.NOT_FOUND


def test_callers_that_vanish_without_a_word_are_noticed() -> None:
    """Nothing here can take a cable away: what is proven is that connections are asked."""
    settings = ServerSettings(host="127.0.0.1", port=0)
    with bind_socket(settings) as listener:
        listener.listen()
        with socket.create_connection(listener.getsockname()):
            connection, _ = listener.accept()
            with connection:
                assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
                silence = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)
                assert silence <= 60


def test_only_old_leftovers_are_removed_at_the_start(serving: Serving, tmp_path: Path) -> None:
    young, old, another = (tmp_path / name for name in ("a.tape", "b.tape", "c.txt"))
    for path in (young, old, another):
        path.write_text("left")
    for path, minutes in ((young, 29), (old, 31), (another, 31)):
        moment = time.time() - minutes * 60
        os.utime(path, (moment, moment))
    with serving(recorder__directory=tmp_path):
        assert sorted(tmp_path.iterdir()) == [young, another]
