"""How much one caller, and all together, can have of a node's recorder."""

from collections.abc import Iterator
from typing import Any

import grpc
import pytest

from tests.recordings.callers import SUCCESS, RecordingClient, Speaker, code_of, text_of, until
from tests.recordings.conftest import OneNode, Serving

Code = grpc.StatusCode


@pytest.fixture(scope="module")
def node(serving: Serving) -> Iterator[OneNode]:
    """One that keeps what ended."""
    with serving(
        recorder__max_recordings=3,
        recorder__max_recordings_per_user=2,
        recorder__max_replays=3,
        recorder__max_replays_per_user=2,
        recorder__keep_seconds=60,
    ) as running:
        yield running


def path_of(conversation: str) -> str:
    return f"/conversations/{conversation}/response"


def turned_away(speaker: Speaker) -> str:
    """The text of a refusal that names a time to come back."""
    assert speaker.refusal() is Code.UNAVAILABLE
    trailers = dict(speaker.call.trailing_metadata())
    assert (trailers["error-code"], trailers["retry-after"]) == ("unavailable", "10")
    return str(speaker.call.details())


def upload(caller: RecordingClient, conversation: str) -> Any:
    return caller.rest("POST", path_of(conversation), content=b"x")


def end_all(*speakers: Speaker) -> None:
    assert [speaker.ends().status for speaker in speakers] == [SUCCESS] * len(speakers)


def test_a_user_has_so_many_recordings_at_once_and_others_have_theirs(node: OneNode) -> None:
    ann, bob = node.user("ann"), node.user("bob")
    running = [ann.begins(ann.starts(), "x") for _ in range(2)]
    conversation = ann.starts()
    assert "one user may have 2 recordings" in turned_away(ann.records(conversation, "x"))
    refused = upload(ann, conversation)
    assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
    assert refused.headers["retry-after"] == "10"
    his = bob.begins(bob.starts(), "x")
    end_all(running.pop())
    assert upload(ann, conversation).json() == {"status": "success"}
    end_all(*running, his)


def test_a_node_has_so_many_recordings_at_once(node: OneNode) -> None:
    users = [node.user(name) for name in ("ann", "bob", "cleo", "dan")]
    running = [user.begins(user.starts(), "x") for user in users[:3]]
    dan = users[3]
    conversation = dan.starts()
    assert "this node" in turned_away(dan.records(conversation, "x"))
    assert dan.recorded(conversation) == []
    end_all(running.pop())
    end_all(dan.begins(conversation, "x"), *running)


def test_a_refused_or_failed_recording_takes_no_place(node: OneNode) -> None:
    ann, eve = node.user("ann"), node.user("eve")
    conversation = ann.starts()
    for _ in range(4):
        assert eve.records(conversation, "x").refusal() is Code.PERMISSION_DENIED
        cut = ann.begins(conversation, "x")
        cut.call.cancel()
        until(lambda: not ann.recorded(conversation))
    end_all(ann.begins(conversation, "x"), ann.begins(ann.starts(), "x"))


def test_of_many_short_recordings_the_latest_are_kept(node: OneNode) -> None:
    """However many a user makes: two of each are kept, and three of all."""
    ann, bob = node.user("ann"), node.user("bob")
    places = []
    for number in range(5):
        conversation = ann.starts()
        speaker = ann.begins(conversation, "begun ")
        with ann.follows(conversation) as events:
            places.append((conversation, next(events).id))
        speaker.says(f"end {number}")
        end_all(speaker)
    assert [ann.events(*place) for place in places[:3]] == [[], [], []]
    assert [text_of(ann.events(*place)) for place in places[3:]] == ["end 3", "end 4"]
    for _ in range(2):
        end_all(bob.begins(bob.starts(), "x"))
    assert len(node.recording_files()) == 3
    assert ann.events(*places[3]) == []
    assert text_of(ann.events(*places[4])) == "end 4"


def test_a_user_follows_so_many_recordings_at_once_and_others_follow_theirs(node: OneNode) -> None:
    ann = node.user("ann")
    conversation = ann.starts()
    ann.shares(conversation, "bob", "reader")
    ann.shares(conversation, "cleo", "reader")
    speaker = ann.begins(conversation, "x")
    open_ = [ann.replays(conversation) for _ in range(2)]
    assert [next(replay).content for replay in open_] == ["x", "x"]
    third = ann.replays(conversation)
    with pytest.raises(grpc.RpcError):
        next(third)
    assert code_of(third) is Code.UNAVAILABLE
    refused = ann.rest("GET", path_of(conversation))
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "10")
    with node.user("bob").follows(conversation) as events:
        next(events)
        assert node.user("cleo").rest("GET", path_of(conversation)).status_code == 503
    open_[0].cancel()
    until(lambda: follows_again(ann, conversation))
    end_all(speaker)
    assert [piece.content for piece in open_[1]] == []


def follows_again(reader: RecordingClient, conversation: str) -> bool:
    replay = reader.replays(conversation)
    try:
        return bool(next(replay).content == "x")
    except grpc.RpcError:
        return False
    finally:
        replay.cancel()
