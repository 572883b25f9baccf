"""Responses over REST, as browsers use it: uploads as they come, server-sent events that resume."""

import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.recordings.callers import SUCCESS, RecordingClient, text_of, until
from tests.recordings.conftest import OneNode, Serving
from tests.support.world import new_id

TEXTS = ["Grüße", " an\n", "\r\n\n", "data: alle\n\n", "😀", "event: end\n\n", " \u2028 \x85\x00."]


@pytest.fixture(scope="module")
def node(serving: Serving) -> Iterator[OneNode]:
    """One that keeps what ended."""
    with serving(recorder__keep_seconds=60) as running:
        yield running


@pytest.fixture
def ann(node: OneNode) -> RecordingClient:
    return node.user("ann")


def path_of(conversation: str) -> str:
    return f"/conversations/{conversation}/response"


def test_an_upload_is_followed_while_it_comes(ann: RecordingClient) -> None:
    conversation, more = ann.starts(), threading.Semaphore(1)

    def chunks() -> Iterator[bytes]:
        for text in TEXTS:
            assert more.acquire(timeout=30)
            # Apart in the middle of a character, where there is one to part.
            raw = text.encode()
            yield raw[: len(raw) // 2 + 1]
            yield raw[len(raw) // 2 + 1 :]

    with ThreadPoolExecutor(1) as pool:
        upload = pool.submit(
            ann.rest,
            "POST",
            path_of(conversation),
            content=chunks(),
            headers={"Content-Type": "text/plain; charset=utf-8"},
        )
        until(lambda: ann.recorded(conversation))
        heard = ""
        with ann.follows(conversation) as events:
            for number in range(len(TEXTS)):
                while heard != "".join(TEXTS[: number + 1]):
                    heard += next(events).content["content"]
                more.release()
            (end,) = events
    assert (end.kind, end.content) == ("end", {"status": "completed"})
    reply = upload.result()
    assert (reply.status_code, reply.json()) == (200, {"status": "success"})


def test_a_cancelled_upload_is_told_so(ann: RecordingClient) -> None:
    conversation, end = ann.starts(), threading.Event()

    def chunks() -> Iterator[bytes]:
        yield b"begun"
        assert end.wait(30)

    with ThreadPoolExecutor(1) as pool:
        upload = pool.submit(ann.rest, "POST", path_of(conversation), content=chunks())
        until(lambda: ann.recorded(conversation))
        with ann.follows(conversation) as events:
            assert next(events).content == {"content": "begun"}
            assert ann.rest("DELETE", path_of(conversation)).status_code == 200
            assert [event.kind for event in events] == ["end"]
        end.set()
        assert upload.result().json() == {"status": "cancelled"}


def test_every_event_is_a_place_to_go_on_from(node: OneNode, ann: RecordingClient) -> None:
    """While it runs and after its end; the last place has nothing behind it."""
    conversation = ann.starts()
    speaker = ann.begins(conversation)
    texts, ids = [], []
    with ann.follows(conversation) as events:
        for text in TEXTS:
            speaker.says(text)
            event = next(events)
            texts.append(event.content["content"])
            ids.append(event.id)
    assert texts == TEXTS
    for number, last_id in enumerate(ids[:-1]):
        with ann.follows(conversation, last_id) as events:
            heard = ""
            while heard != "".join(TEXTS[number + 1 :]):
                heard += next(events).content["content"]
    with ann.follows(conversation, ids[-1]) as events:
        speaker.says(" And on.")
        assert next(events).content == {"content": " And on."}
    assert speaker.ends().status == SUCCESS
    for number, last_id in enumerate(ids):
        rest = ann.events(conversation, last_id)
        assert text_of(rest) == "".join(TEXTS[number + 1 :]) + " And on."
    assert ann.events(conversation, rest[-2].id) == []
    assert ann.events(conversation) == []


def test_a_reader_that_loses_its_connection_again_and_again_misses_nothing(
    ann: RecordingClient,
) -> None:
    chance = random.Random(7)
    conversation = ann.starts()
    said = "".join(chance.choices("aß€😀\n", k=60_000))
    speaker = ann.begins(conversation, said[:20_000])
    heard, last_id = "", None
    for start in range(20_000, 60_000, 1_000):
        speaker.says(said[start : start + 1_000])
        with ann.follows(conversation, last_id) as events:
            event = next(events)
            heard += event.content["content"]
            last_id = event.id
    assert speaker.ends().status == SUCCESS
    rest = ann.events(conversation, last_id)
    assert heard + (text_of(rest) if rest else "") == said


def test_events_are_what_browsers_take_for_events(node: OneNode, ann: RecordingClient) -> None:
    conversation = ann.starts()
    speaker = ann.begins(conversation, "x")
    assert speaker.ends().status == SUCCESS
    second = ann.begins(conversation, "line\nline")
    with node.http.stream("GET", path_of(conversation), headers=ann.headers) as response:
        assert second.ends().status == SUCCESS
        assert response.headers["content-type"] == "text/event-stream"
        assert response.headers["cache-control"] == "no-store"
        raw = response.read().decode()
    id_, data, empty, *end = raw.split("\n")
    assert id_.startswith("id: ")
    assert (data, empty) == ('data: {"content":"line\\nline"}', "")
    assert end == ["event: end", 'data: {"status":"completed"}', "", ""]


@pytest.mark.parametrize(
    "last_id", ["x", "a.b.c", "1", ".5", "x.-1", "x.1e3", "x." + "9" * 19, "x.²"]
)
def test_a_place_that_nobody_gave_out_is_refused(ann: RecordingClient, last_id: str) -> None:
    headers = {"Last-Event-ID": last_id.encode("latin-1")}
    reply = ann.rest("GET", path_of(ann.starts()), headers=headers)
    assert (reply.status_code, reply.json()["code"]) == (400, "bad_request")
    assert reply.json()["details"]["field"] == "Last-Event-ID"


def test_a_place_beyond_the_end_is_refused(ann: RecordingClient) -> None:
    conversation = ann.starts()
    speaker = ann.begins(conversation, "some text")
    with ann.follows(conversation) as events:
        recording, _, offset = str(next(events).id).rpartition(".")
    for wrong in (int(offset) + 1, int(offset) - 1, 1):
        headers = {"Last-Event-ID": f"{recording}.{wrong}"}
        assert ann.rest("GET", path_of(conversation), headers=headers).status_code == 400
    assert speaker.ends().status == SUCCESS


def test_what_is_kept_is_for_those_who_may_read_it(node: OneNode, ann: RecordingClient) -> None:
    """Also a place in another conversation leads nowhere."""
    conversation, bob = ann.starts(), node.user("bob")
    speaker = ann.begins(conversation, "secret", "")
    with ann.follows(conversation) as events:
        place = next(events).id
    speaker.says(" end")
    assert speaker.ends().status == SUCCESS
    own = bob.starts()
    assert bob.events(own, place) == []
    headers = {"Last-Event-ID": str(place)}
    assert bob.rest("GET", path_of(conversation), headers=headers).status_code == 403
    assert bob.rest("GET", path_of(new_id()), headers=headers).status_code == 404
    assert text_of(ann.events(conversation, place)) == " end"
    ann.rest("DELETE", f"/conversations/{conversation}")
    assert ann.rest("GET", path_of(conversation), headers=headers).status_code == 404


def test_a_silent_recording_shows_that_it_is_alive(node: OneNode, ann: RecordingClient) -> None:
    conversation = ann.starts()
    speaker = ann.begins(conversation, "x")
    with node.http.stream("GET", path_of(conversation), headers=ann.headers) as response:
        lines = response.iter_lines()
        assert [next(lines) for _ in range(4)][-1] == ":"
    assert speaker.ends().status == SUCCESS
