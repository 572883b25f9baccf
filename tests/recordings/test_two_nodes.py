"""Two server processes on one PostgreSQL behave as one recorder."""

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import grpc
import pytest

from tests.recordings.callers import (
    CANCELLED,
    ERROR,
    SECONDS_MAX,
    SUCCESS,
    RecordingClient,
    events_of,
    text_of,
    until,
)
from tests.recordings.conftest import Pair
from tests.recordings.nodes import NodeProcess
from tests.support.engines import TestDatabase
from tests.support.servers.redis import RedisServer

RENEWAL_SECONDS = 5
READERS = 10
LETTERS = "aß€😀 \n\u0000e\u0301日本\U0001f469\u200d\U0001f52c"


@pytest.fixture(scope="module")
def seed() -> int:
    """Another one in every run; a failure tells it."""
    return random.SystemRandom().randrange(10**9)


def users(pair: Pair, name: str) -> tuple[RecordingClient, RecordingClient]:
    """One and the same person at each node."""
    return pair[0].user(name), pair[1].user(name)


@pytest.mark.scenario(37)
def test_a_recording_elsewhere_is_redirected_to_and_cancelled_from_there(pair: Pair) -> None:
    ann, ann_there = users(pair, "ann")
    conversation = ann.starts()
    speaker = ann.begins(conversation, "so ", "far ", "said")
    replay = ann.replays(conversation)
    heard = ""
    while heard != "so far said":
        heard += next(replay).content
    redirects = list(ann_there.replays(conversation))
    assert [(one.content, one.redirect_address) for one in redirects] == [("", pair[0].address)]
    cancel = ann_there.rest("DELETE", f"/conversations/{conversation}/response")
    assert (cancel.status_code, cancel.content) == (200, b"")
    assert speaker.status() == CANCELLED
    assert list(replay) == []
    assert ann_there.recorded(conversation) == []
    again = ann_there.begins(conversation, "on the other node")
    assert again.ends().status == SUCCESS


def test_a_cancel_over_grpc_is_told_where_to_go(pair: Pair) -> None:
    ann, ann_there = users(pair, "ann")
    conversation = ann.starts()
    speaker = ann.begins(conversation, "x")
    told = ann_there.cancels(conversation)
    assert (told.accepted, told.redirect_address) == (False, pair[0].address)
    assert ann.recorded(conversation) == [conversation]
    assert ann.cancels(conversation).accepted
    assert speaker.status() == CANCELLED


def test_only_one_node_records_a_conversation(pair: Pair) -> None:
    ann, ann_there = users(pair, "ann")
    conversation = ann.starts()
    speaker = ann.begins(conversation, "first")
    refused = ann_there.records(conversation, "second").answer()
    assert (refused.status, bool(refused.error_message)) == (ERROR, True)
    assert ann.recorded(conversation) == ann_there.recorded(conversation) == [conversation]
    assert speaker.ends().status == SUCCESS
    assert ann.recorded(conversation) == ann_there.recorded(conversation) == []


def test_the_right_to_cancel_is_checked_on_both_nodes(pair: Pair) -> None:
    ann, _ = users(pair, "ann")
    conversation = ann.starts()
    ann.shares(conversation, "rita", "reader")
    speaker = ann.begins(conversation, "x")
    path = f"/conversations/{conversation}/response"
    assert pair[1].user("rita").rest("DELETE", path).status_code == 403
    assert pair[1].user("sam").rest("DELETE", path).status_code == 403
    assert pair[1].user("sam").rest("GET", path).status_code == 403
    assert speaker.ends().status == SUCCESS


def test_readers_that_join_anytime_get_every_character_once_and_in_order(
    pair: Pair, seed: int
) -> None:
    """Three ways: here, by a redirect, and through the other node over REST."""
    chance = random.Random(seed)
    ann, ann_there = users(pair, "ann")
    conversation = ann.starts()
    chunks = [
        "".join(chance.choices(LETTERS, k=chance.choice((0, 1, 3, 700, 40_000))))
        for _ in range(120)
    ]
    ways = [ann.hears, ann_there.hears, ann_there.reads]
    joins = chance.sample(range(len(chunks)), READERS)
    speaker = ann.begins(conversation, "begin ")
    with ThreadPoolExecutor(READERS) as pool:
        readers: list[Future[str]] = []
        begun = [threading.Event() for _ in range(READERS)]
        for number, chunk in enumerate(chunks):
            if number in joins:
                way = ways[len(readers) % len(ways)]
                readers.append(pool.submit(way, conversation, begun[len(readers)]))
            speaker.says(chunk)
            if number % 10 == 0:
                until(speaker.is_silent)
        assert all(one.wait(SECONDS_MAX) for one in begun)
        assert speaker.ends().status == SUCCESS
        heard = [reader.result() for reader in readers]
    assert len(heard) == READERS
    said = "begin " + "".join(chunks)
    assert all(one == said for one in heard), f"seed {seed}: {[len(one) for one in heard]}"


def test_sixteen_recordings_run_at_once(pair: Pair) -> None:
    conversations = [pair[0].user("ann").starts() for _ in range(16)]
    callers = [pair[number % 2].user("ann") for number in range(16)]
    speakers = [
        caller.begins(conversation, f"begin {conversation}")
        for caller, conversation in zip(callers, conversations, strict=True)
    ]
    assert pair[0].user("ann").recorded(*conversations) == conversations
    begun = [threading.Event() for _ in conversations]
    with ThreadPoolExecutor(16) as pool:
        heard = pool.map(pair[1].user("ann").hears, conversations, begun)
        assert all(one.wait(SECONDS_MAX) for one in begun)
        for speaker in speakers:
            speaker.says(" end")
        assert {speaker.ends().status for speaker in speakers} == {SUCCESS}
        assert list(heard) == [f"begin {conversation} end" for conversation in conversations]
    assert pair[1].user("ann").recorded(*conversations) == []


def test_a_deletion_on_the_other_node_ends_a_recording_within_a_renewal(pair: Pair) -> None:
    ann, ann_there = users(pair, "ann")
    conversation = ann.starts()
    speaker = ann.begins(conversation, "x")
    started_at = time.monotonic()
    assert ann_there.rest("DELETE", f"/conversations/{conversation}").status_code == 204
    assert speaker.status() == CANCELLED
    assert time.monotonic() - started_at < RENEWAL_SECONDS + 2


def test_who_loses_access_hears_no_more_within_a_renewal(pair: Pair) -> None:
    ann, ann_there = users(pair, "ann")
    conversation = ann.starts()
    ann.shares(conversation, "rita", "reader")
    speaker = ann.begins(conversation, "for members")
    replay = pair[0].user("rita").replays(conversation)
    assert next(replay).content == "for members"
    with pair[1].user("rita").follows(conversation) as events:
        assert next(events).content == {"content": "for members"}
        started_at = time.monotonic()
        path = f"/conversations/{conversation}/memberships/rita"
        assert ann_there.rest("DELETE", path).status_code == 204
        with pytest.raises(grpc.RpcError):
            list(replay)
        assert replay.code() is grpc.StatusCode.PERMISSION_DENIED
        (last,) = events
        assert (last.kind, last.content) == ("end", {"status": "forbidden"})
    assert time.monotonic() - started_at < RENEWAL_SECONDS + 2
    speaker.says(" and on")
    assert speaker.ends().status == SUCCESS


def test_locations_that_lead_in_circles_are_told(
    pair: Pair, shared_database: TestDatabase, redis_server: RedisServer
) -> None:
    """A node that is reached by another name than its own sends to itself."""
    ann, _ = users(pair, "ann")
    conversation = ann.starts()
    key = f"response:{conversation}"
    value = f"somebody@localhost:{pair[0].address.rpartition(':')[2]}"
    redis_server.put(key, value, 60)
    shared_database.rows(
        "INSERT INTO recording_locations VALUES (:key, :value, now() + interval '1 minute')",
        key=key,
        value=value,
    )
    for method in ("DELETE", "GET"):
        circled = ann.rest(method, f"/conversations/{conversation}/response")
        assert (circled.status_code, circled.json()["code"]) == (502, "bad_gateway")


def test_a_location_of_a_node_that_is_gone_is_told(
    pair: Pair, shared_database: TestDatabase, redis_server: RedisServer
) -> None:
    ann, _ = users(pair, "ann")
    conversation = ann.starts()
    redis_server.put(f"response:{conversation}", "somebody@127.0.0.1:1", 60)
    shared_database.rows(
        "INSERT INTO recording_locations VALUES (:key, :value, now() + interval '1 minute')",
        key=f"response:{conversation}",
        value="somebody@127.0.0.1:1",
    )
    reply = ann.rest("DELETE", f"/conversations/{conversation}/response")
    assert (reply.status_code, reply.json()["code"]) == (503, "unavailable")


def test_who_lost_the_connection_gets_the_rest_at_any_node(pair: Pair) -> None:
    """Also after the end: the last pieces are kept for a while."""
    ann, ann_there = users(pair, "ann")
    conversation = ann.starts()
    speaker = ann.begins(conversation)
    ids = []
    with ann_there.follows(conversation) as events:
        for text in ("one ", "two ", "three "):
            speaker.says(text)
            event = next(events)
            assert event.content == {"content": text}
            ids.append(event.id)
    speaker.says("four")
    assert speaker.ends().status == SUCCESS
    rests = ["two three four", "three four", "four"]
    for caller in (ann, ann_there):
        for last_id, rest in zip(ids, rests, strict=True):
            events_left = caller.events(conversation, last_id)
            assert text_of(events_left) == rest
        assert caller.events(conversation, events_left[-2].id) == []
        assert caller.events(conversation) == []
    another = ann_there.begins(conversation, "another")
    assert text_of(ann_there.events(conversation, ids[-1])) == "four"
    assert another.ends().status == SUCCESS


def test_a_slow_reader_does_not_slow_the_writer(pair: Pair) -> None:
    ann, ann_there = users(pair, "ann")
    conversation = ann.starts()
    speaker = ann.begins(conversation, "x")
    slow = [ann.replays(conversation), ann.replays(conversation)]
    assert [next(one).content for one in slow] == ["x", "x"]
    path = f"/conversations/{conversation}/response"
    with pair[1].http.stream("GET", path, headers=ann_there.headers) as forwarded:
        chunk = "ü" * 500_000
        for _ in range(30):
            speaker.says(chunk)
        assert speaker.ends().status == SUCCESS
        assert text_of(list(events_of(forwarded))) == "x" + chunk * 30
    for one in slow:
        assert sum(len(piece.content) for piece in one) == 30 * len(chunk)


def test_a_hundredfold_of_a_message_is_recorded_in_bounded_memory(
    pair: Pair, soak_size: Callable[[int, int], int]
) -> None:
    """10 MiB here, 100 MiB in a soak."""
    mebibytes = soak_size(10, 100)
    ann, _ = users(pair, "ann")
    conversation = ann.starts()
    warm = ann.begins(conversation, "x" * 2**20)
    assert warm.ends().status == SUCCESS
    before = pair[0].resident_bytes()
    most = [before]
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(pair[0], most, done))
    watcher.start()
    try:
        speaker = ann.begins(conversation)
        with ThreadPoolExecutor(3) as pool:
            begun = [threading.Event() for _ in range(3)]
            readers = [pool.submit(_heard, ann, conversation, one) for one in begun]
            for _ in range(mebibytes):
                speaker.says("x" * 2**20)
                until(speaker.is_silent)
            assert all(one.wait(SECONDS_MAX) for one in begun)
            assert speaker.ends().status == SUCCESS
            assert {reader.result() for reader in readers} == {mebibytes * 2**20}
    finally:
        done.set()
        watcher.join()
    grown = max(most) - before
    assert grown < 48 * 2**20, f"{grown / 2**20:.0f} MiB more for {mebibytes} MiB"


def _heard(caller: RecordingClient, conversation: str, begun: threading.Event) -> int:
    """How much it was, without keeping it."""
    length = 0
    for piece in caller.replays(conversation):
        length += len(piece.content)
        begun.set()
    return length


def _watch(node: NodeProcess, most: list[int], done: threading.Event) -> None:
    while not done.wait(0.1):
        most.append(node.resident_bytes())
