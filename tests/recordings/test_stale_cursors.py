"""Places that lead nowhere: a reader who comes back with one starts over, on any node."""

from tests.recordings.callers import SUCCESS, RecordingClient, text_of
from tests.recordings.conftest import Pair
from tests.support.engines import TestDatabase
from tests.support.servers.redis import RedisServer
from tests.support.world import new_id


def users(pair: Pair, name: str) -> tuple[RecordingClient, RecordingClient]:
    """One and the same person at each node."""
    return pair[0].user(name), pair[1].user(name)


def tell(
    database: TestDatabase, redis_server: RedisServer, conversation: str, location: str
) -> None:
    """Put down where the end of a recording is kept, for either locator."""
    key = f"response-tail:{conversation}:{location.partition('@')[0]}"
    redis_server.put(key, location, 60)
    database.rows(
        "INSERT INTO recording_locations VALUES (:key, :value, now() + interval '1 minute')",
        key=key,
        value=location,
    )


def test_a_place_in_another_conversation_starts_from_the_beginning(pair: Pair) -> None:
    """Kept on one node or on the other, it is none of this one's."""
    ann, ann_there = users(pair, "ann")
    foreign, conversation = ann.starts(), ann.starts()
    for keeper, follower in ((ann, ann_there), (ann_there, ann)):
        ended = keeper.begins(foreign, "begun")
        with keeper.follows(foreign) as events:
            place = next(events).id
        ended.says(" and ended")
        assert ended.ends().status == SUCCESS
        for caller in (keeper, follower):
            assert caller.events(conversation, place) == []
            assert text_of(caller.events(foreign, place)) == " and ended"
        speaker = follower.begins(conversation, "its own")
        for caller in (keeper, follower):
            with caller.follows(conversation, place) as events:
                assert next(events).content == {"content": "its own"}
        assert speaker.ends().status == SUCCESS


def test_a_place_on_a_node_that_is_gone_starts_from_what_runs_now(
    pair: Pair, shared_database: TestDatabase, redis_server: RedisServer
) -> None:
    ann, _ = users(pair, "ann")
    conversation, lost = ann.starts(), new_id()
    tell(shared_database, redis_server, conversation, f"{lost}@127.0.0.1:1")
    assert ann.events(conversation, f"{lost}.5") == []
    speaker = ann.begins(conversation, "what runs now")
    with ann.follows(conversation, f"{lost}.5") as events:
        assert next(events).content == {"content": "what runs now"}
    assert speaker.ends().status == SUCCESS


def test_a_place_that_its_node_has_lost_starts_from_what_runs_now(
    pair: Pair, shared_database: TestDatabase, redis_server: RedisServer
) -> None:
    """The other node is said to have it; it sends the caller back, and that is the end of it."""
    ann, _ = users(pair, "ann")
    conversation, lost = ann.starts(), new_id()
    tell(shared_database, redis_server, conversation, f"{lost}@{pair[1].address}")
    assert ann.events(conversation, f"{lost}.5") == []
    speaker = ann.begins(conversation, "what runs now")
    with ann.follows(conversation, f"{lost}.5") as events:
        assert next(events).content == {"content": "what runs now"}
    assert speaker.ends().status == SUCCESS
