"""What one node shows of section 12: who may, how recordings end, and what is left of them."""

import gc
import time
from pathlib import Path

import grpc
import pytest

from recollect.recordings.recording import Recording
from tests.recordings.callers import (
    CANCELLED,
    ERROR,
    IS_ENABLED,
    SUCCESS,
    RecordingClient,
    code_of,
    message,
    nothing,
    until,
)
from tests.recordings.conftest import OneNode, Serving
from tests.support.world import ADMIN, new_id

Code = grpc.StatusCode
RENEWAL_SECONDS = 5


def left(node: OneNode) -> tuple[list[Path], list[str]]:
    """Files and locations; recordings that have ended leave neither."""
    return node.recording_files(), node.locations()


@pytest.fixture
def ann(node: OneNode) -> RecordingClient:
    return node.user("ann")


def test_readers_hear_it_from_the_beginning_while_it_is_said(
    node: OneNode, ann: RecordingClient
) -> None:
    conversation = ann.starts()
    speaker = ann.begins(conversation, "Grüße ", "", "😀")
    replay = ann.replays(conversation)
    heard = ""
    while heard != "Grüße 😀":
        heard += next(replay).content
    speaker.says(" and on")
    assert next(replay).content == " and on"
    assert speaker.ends().status == SUCCESS
    assert list(replay) == []
    assert left(node) == ([], [])
    assert ann.hears(conversation) == ""


def test_who_records_means_to_take_part_and_who_listens_does_not(
    node: OneNode, ann: RecordingClient
) -> None:
    conversation, bob, cid = ann.starts(), node.user("bob"), node.user("cid")
    for member in (bob, cid):
        ann.shares(conversation, member.name, "writer")
    bob.records(conversation, "one").ends()
    cid.hears(conversation)
    path = f"/chats/{conversation}/participants"
    stays = ann.rest("GET", path).json()["data"]
    confirmed = {stay["user_id"] for stay in stays if stay["confirmed_at"] is not None}
    assert confirmed == {"ann", "bob"}


def test_complete_ends_it_without_the_end_of_the_stream(
    node: OneNode, ann: RecordingClient
) -> None:
    conversation = ann.starts()
    speaker = ann.begins(conversation, "one")
    replay = ann.replays(conversation)
    assert next(replay).content == "one"
    speaker.sends(content=" two", complete=True)
    speaker.sends(content=" three")
    assert speaker.status() == SUCCESS
    assert "".join(piece.content for piece in replay) == " two"
    assert left(node) == ([], [])


def test_a_first_message_may_be_all_of_it(node: OneNode, ann: RecordingClient) -> None:
    conversation = ann.starts()
    speaker = ann.records(conversation)
    speaker.sends(complete=True)
    assert speaker.status() == SUCCESS
    assert left(node) == ([], [])


def test_a_cancel_answers_when_another_recording_can_begin(
    node: OneNode, ann: RecordingClient
) -> None:
    conversation = ann.starts()
    for number in range(5):
        speaker = ann.begins(conversation, f"number {number}")
        replay = ann.replays(conversation)
        assert next(replay).content == f"number {number}"
        answer = ann.cancels(conversation)
        assert (answer.accepted, answer.redirect_address) == (True, "")
        assert left(node) == ([], [])
        assert speaker.status() == CANCELLED
        assert list(replay) == []


def test_nothing_to_cancel_or_to_follow_is_no_error(node: OneNode, ann: RecordingClient) -> None:
    conversation = ann.starts()
    assert ann.cancels(conversation).accepted
    assert ann.hears(conversation) == ""
    path = f"/conversations/{conversation}/response"
    assert [ann.rest(method, path).status_code for method in ("DELETE", "GET")] == [200, 204]
    assert ann.rest("DELETE", path).content == b""
    assert ann.recorded(conversation) == []


def test_a_second_recording_is_an_answer_and_no_failure(
    node: OneNode, ann: RecordingClient
) -> None:
    conversation = ann.starts()
    first = ann.begins(conversation, "first")
    second = ann.records(conversation, "second").answer()
    assert second.status == ERROR
    assert "another recording" in second.error_message
    upload = ann.rest("POST", f"/conversations/{conversation}/response", content="second")
    assert (upload.status_code, upload.json()["code"]) == (409, "conflict")
    replay = ann.replays(conversation)
    assert next(replay).content == "first"
    assert first.ends().status == SUCCESS


@pytest.mark.parametrize(
    ("level", "record", "replay"),
    [
        (None, Code.PERMISSION_DENIED, Code.PERMISSION_DENIED),
        ("reader", Code.PERMISSION_DENIED, Code.OK),
        ("writer", Code.OK, Code.OK),
    ],
)
def test_writers_record_and_readers_follow(
    node: OneNode,
    ann: RecordingClient,
    level: str | None,
    record: grpc.StatusCode,
    replay: grpc.StatusCode,
) -> None:
    conversation, bob = ann.starts(), node.user(f"bob-{level}")
    if level is not None:
        ann.shares(conversation, bob.name, level)
    speaker = bob.records(conversation, "x")
    speaker.half_closes()
    assert speaker.refusal() is record
    assert left(node) == ([], [])
    following = bob.replays(conversation)
    assert following.code() is replay
    path = f"/conversations/{conversation}/response"
    status = 200 if record is Code.OK else 403
    assert bob.rest("DELETE", path).status_code == status
    assert bob.rest("POST", path, content="x").status_code == status
    assert bob.rest("GET", path).status_code == (204 if replay is Code.OK else 403)


def test_what_nobody_has_or_what_is_deleted_is_not_found(
    node: OneNode, ann: RecordingClient
) -> None:
    deleted = ann.starts()
    ann.rest("DELETE", f"/conversations/{deleted}")
    for conversation in (new_id(), deleted):
        assert ann.records(conversation, "x").refusal() is Code.NOT_FOUND
        assert ann.replays(conversation).code() is Code.NOT_FOUND
        with pytest.raises(grpc.RpcError) as refused:
            ann.cancels(conversation)
        assert code_of(refused.value) is Code.NOT_FOUND
        for method in ("POST", "GET", "DELETE"):
            reply = ann.rest(method, f"/conversations/{conversation}/response")
            assert reply.status_code == 404, method
        assert ann.recorded(conversation) == []
    assert left(node) == ([], [])


def test_callers_are_told_apart_before_anything_else(node: OneNode) -> None:
    nobody = node.user("")
    assert nobody.records(new_id()).refusal() is Code.UNAUTHENTICATED
    assert nobody.replays(new_id()).code() is Code.UNAUTHENTICATED
    assert nobody.rest("POST", f"/conversations/{new_id()}/response").status_code == 401


@pytest.mark.parametrize(("user", "place"), [("ann", ""), (ADMIN, "/admin")])
def test_a_deleted_tree_ends_the_recordings_in_it_at_once(
    node: OneNode, ann: RecordingClient, user: str, place: str
) -> None:
    conversation = ann.starts()
    speaker = ann.begins(conversation, "too late")
    deleted_at = time.monotonic()
    deleted = node.user(user).rest("DELETE", f"{place}/conversations/{conversation}")
    assert deleted.status_code == 204
    assert speaker.status() == CANCELLED
    assert time.monotonic() - deleted_at < RENEWAL_SECONDS / 2
    assert left(node) == ([], [])


def test_check_leaves_out_what_the_caller_may_not_read(node: OneNode, ann: RecordingClient) -> None:
    bob = node.user("bob")
    mine, shared, silent = ann.starts(), ann.starts(), ann.starts()
    ann.shares(shared, "bob", "reader")
    speakers = [ann.begins(conversation, "x") for conversation in (mine, shared)]
    asked = [silent, shared, new_id(), mine, shared]
    assert ann.recorded(*asked) == [shared, mine]
    assert bob.recorded(*asked) == [shared]
    assert node.user("carol").recorded(*asked) == []
    for speaker in speakers:
        assert speaker.ends().status == SUCCESS


def test_too_many_ids_or_bad_ones_are_refused(node: OneNode, ann: RecordingClient) -> None:
    for ids in ([b"x" * 16] * 1_001, [b"short"], [b""]):
        with pytest.raises(grpc.RpcError) as refused:
            ann.asks(
                "ResponseRecorderService/CheckRecordings",
                message("CheckRecordingsRequest", conversation_ids=ids),
            )
        assert code_of(refused.value) is Code.INVALID_ARGUMENT


def test_without_locators_there_is_no_recorder(serving: Serving) -> None:
    with serving(recorder__locators="none") as node:
        ann = node.user("ann")
        conversation = ann.starts()
        assert not ann.asks(IS_ENABLED, nothing()).enabled
        answer = ann.records(conversation, "x").answer()
        assert answer.status == ERROR
        assert "switched off" in answer.error_message
        with pytest.raises(grpc.RpcError) as refused:
            ann.cancels(conversation)
        assert code_of(refused.value) is Code.FAILED_PRECONDITION
        path = f"/conversations/{conversation}/response"
        statuses = [ann.rest(method, path).status_code for method in ("DELETE", "POST", "GET")]
        assert statuses == [409, 409, 204]
        assert ann.hears(conversation) == ""
        assert ann.recorded(conversation) == []
        assert not node.folder.exists()


def test_a_recording_that_grows_too_long_ends_with_what_came(serving: Serving) -> None:
    with serving(recorder__max_bytes=1_000) as node:
        ann = node.user("ann")
        conversation = ann.starts()
        speaker = ann.begins(conversation, "x" * 500)
        replay = ann.replays(conversation)
        assert next(replay).content == "x" * 500
        speaker.says("ü" * 300)
        answer = speaker.answer()
        assert (answer.status, "1000 bytes" in answer.error_message) == (ERROR, True)
        assert list(replay) == []
        path = f"/conversations/{conversation}/response"
        upload = ann.rest("POST", path, content="x" * 1_000)
        assert (upload.status_code, upload.json()["code"]) == (413, "payload_too_large")
        assert left(node) == ([], [])


def test_a_folder_that_can_not_be_used_is_told(serving: Serving, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file")
    with serving(recorder__directory=taken) as node:
        ann = node.user("ann")
        conversation = ann.starts()
        speaker = ann.records(conversation, "x")
        assert speaker.refusal() is Code.UNAVAILABLE
        assert "can't record" in speaker.call.details()
        until(lambda: node.locations() == [])
        upload = ann.rest("POST", f"/conversations/{conversation}/response", content="x")
        assert (upload.status_code, upload.headers["retry-after"]) == (503, "1")


def test_a_sealed_recording_has_no_text_on_the_disk(serving: Serving) -> None:
    key = {"id": "k1", "key": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="}
    with serving(encryption__keys=[key]) as node:
        ann = node.user("ann")
        conversation = ann.starts()
        said = ["the secret word", "ü" * 20_000, "😀"]
        speaker = ann.begins(conversation, *said)
        replay = ann.replays(conversation)
        heard = ""
        while len(heard) < len("".join(said)):
            heard += next(replay).content
        assert heard == "".join(said)
        (tape,) = node.recording_files()
        assert tape.stat().st_mode & 0o777 == 0o600
        raw = tape.read_bytes()
        assert len(raw) > 40_000
        assert b"secret" not in raw
        assert "üü".encode() not in raw
        assert speaker.ends().status == SUCCESS


def test_nobody_holds_on_to_recordings_that_ended(node: OneNode, ann: RecordingClient) -> None:
    conversation = ann.starts()
    speaker = ann.begins(conversation, "gone")
    replay = ann.replays(conversation)
    next(replay)
    replay.cancel()
    assert speaker.ends().status == SUCCESS

    def is_forgotten() -> bool:
        gc.collect()
        return not any(isinstance(one, Recording) for one in gc.get_objects())

    until(is_forgotten)
