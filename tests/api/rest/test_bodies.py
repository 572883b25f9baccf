"""What a body may look like: JSON, types, limits, characters, sizes."""

from typing import Any

import pytest
from structlog.testing import capture_logs

from recollect.conversations.entries.entry import Channel
from recollect.conversations.model import Keep
from recollect.http.validation import BODY_BYTES_MAX
from recollect.kernel.access_level import Level
from tests.api.fakes import ID, Rest

ENTRIES = f"/v1/conversations/{ID}/entries"
MEMBERS = f"/v1/conversations/{ID}/memberships"
JSON = {"content-type": "application/json"}


def fields(details: Any) -> list[str]:
    return [violation["field"] for violation in details["violations"]]


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"nonsense",
        b'{"content":["a"]} x',
        b"\xff\xfe{}",
        b"[]",
        b"3",
        b"null",
        b'{"content":' + b"[" * 65 + b"]" * 65 + b"}",
        b'{"content":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
def test_what_is_no_json_object_of_ours_is_a_validation_error(rest: Rest, body: bytes) -> None:
    details = rest.call("POST", ENTRIES, body).refused(400, "validation_error")
    assert fields(details) == ["body"]
    assert not rest.asked


@pytest.mark.parametrize(
    "value",
    [b"NaN", b"-Infinity", b"1e999", b"9" * 5_000, rb'"\u0000"', rb'"\ud800"', rb'{"\udfff":1}'],
)
def test_a_value_that_can_not_be_kept_is_named(rest: Rest, value: bytes) -> None:
    body = b'{"content":["a",' + value + b"]}"
    details = rest.call("POST", ENTRIES, body).refused(400, "validation_error")
    assert fields(details) == ["content[1]"]
    assert not rest.asked


def test_an_absent_body_is_refused_where_one_is_needed(rest: Rest) -> None:
    assert fields(rest.call("POST", ENTRIES).refused(400, "validation_error")) == ["body"]


def test_an_absent_body_is_fine_where_every_member_is_optional(rest: Rest) -> None:
    assert rest.call("POST", "/v1/conversations").status == 201
    assert rest.call("POST", f"{ENTRIES}/{ID}/fork").status == 201


def test_integers_of_any_length_and_duplicate_members_reach_the_service_exactly(rest: Rest) -> None:
    body = b'{"content":["first"],"content":[12345678901234567890, 1.5, {"z":1,"a":null}]}'
    assert rest.call("POST", ENTRIES, body).status == 201
    new = rest.entries.calls[0][1][1]
    assert new.content == [12345678901234567890, 1.5, {"z": 1, "a": None}]
    assert list(new.content[2]) == ["z", "a"]


def test_an_append_reaches_the_service_with_its_members(rest: Rest) -> None:
    body = {
        "content": "hello",
        "contentType": "history",
        "channel": "HISTORY",
        "userId": "ann",
        "indexedContent": "h",
        "forkedAtConversationId": ID.upper(),
        "forkedAtEntryId": ID.upper(),
        "colour": "ignored",
    }
    assert rest.call("POST", ENTRIES.replace(ID, ID.upper()), body).status == 201
    _, (principal, new), _ = rest.entries.calls[0]
    assert (principal.user_id, new.conversation_id) == ("ann", ID)
    assert (new.content, new.content_type, new.channel) == ("hello", "history", Channel.HISTORY)
    assert (new.user_id, new.indexed_content) == ("ann", "h")
    assert (new.forked_at_conversation_id, new.forked_at_entry_id) == (ID, ID)


def test_null_counts_as_absent(rest: Rest) -> None:
    body = {"content": ["a"], "contentType": None, "channel": None, "forkedAtEntryId": None}
    assert rest.call("POST", ENTRIES, body).status == 201
    new = rest.entries.calls[0][1][1]
    assert (new.content_type, new.channel, new.forked_at_entry_id) == (None, None, None)
    missing = rest.call("POST", ENTRIES, {"content": None}).refused(400, "validation_error")
    assert fields(missing) == ["content"]


@pytest.mark.parametrize(
    ("body", "title"), [({}, Keep.KEEP), ({"title": None}, None), ({"title": "t"}, "t")]
)
def test_a_patch_tells_an_absent_title_from_a_cleared_one(
    rest: Rest, body: dict[str, Any], title: Any
) -> None:
    assert rest.call("PATCH", f"/v1/conversations/{ID}", body).status == 200
    assert rest.conversations.calls[0][1][1].title == title


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("POST", ENTRIES, {}, "content"),
        ("POST", ENTRIES, {"content": {"a": 1}}, "content"),
        ("POST", ENTRIES, {"content": 7}, "content"),
        ("POST", ENTRIES, {"content": [0] * 1001}, "content"),
        ("POST", ENTRIES, {"content": ["a"], "contentType": 7}, "contentType"),
        ("POST", ENTRIES, {"content": ["a"], "contentType": ""}, "contentType"),
        ("POST", ENTRIES, {"content": ["a"], "contentType": "c" * 128}, "contentType"),
        ("POST", ENTRIES, {"content": ["a"], "channel": "journal"}, "channel"),
        ("POST", ENTRIES, {"content": ["a"], "channel": ["memory"]}, "channel"),
        ("POST", ENTRIES, {"content": ["a"], "userId": "u" * 256}, "userId"),
        ("POST", ENTRIES, {"content": ["a"], "indexedContent": ""}, "indexedContent"),
        ("POST", ENTRIES, {"content": ["a"], "indexedContent": "i" * 100_001}, "indexedContent"),
        ("POST", ENTRIES, {"content": ["a"], "forkedAtEntryId": "x"}, "forkedAtEntryId"),
        ("POST", "/v1/conversations", {"title": "t" * 501}, "title"),
        ("POST", "/v1/conversations", {"title": "\u0001t"}, "title"),
        ("POST", "/v1/conversations", {"title": "a\nb"}, "title"),
        ("POST", "/v1/conversations", {"title": "a\n"}, "title"),
        ("POST", "/v1/conversations", {"title": "\u0085"}, "title"),
        ("POST", "/v1/conversations", {"title": 7}, "title"),
        ("POST", "/v1/conversations", {"metadata": []}, "metadata"),
        ("POST", "/v1/conversations", {"metadata": {"k": "v" * 16_384}}, "metadata"),
        ("POST", "/v1/conversations", {"metadata": {"k": "ü" * 8_192}}, "metadata"),
        ("PATCH", f"/v1/conversations/{ID}", {"title": False}, "title"),
        ("POST", MEMBERS, {"userId": "", "accessLevel": "reader"}, "userId"),
        ("POST", MEMBERS, {"userId": "bob", "accessLevel": "boss"}, "accessLevel"),
        ("POST", MEMBERS, {"userId": "bob"}, "accessLevel"),
        ("PATCH", f"{MEMBERS}/bob", {"accessLevel": 3}, "accessLevel"),
        (
            "POST",
            "/v1/ownership-transfers",
            {"conversationId": "x", "newOwnerUserId": "bob"},
            "conversationId",
        ),
        ("POST", "/v1/ownership-transfers", {"conversationId": ID}, "newOwnerUserId"),
    ],
)
def test_a_wrong_member_is_named_as_on_the_wire(
    rest: Rest, method: str, path: str, body: dict[str, Any], field: str
) -> None:
    assert fields(rest.call(method, path, body).refused(400, "validation_error")) == [field]
    assert not rest.asked


def test_every_violation_is_told_at_once(rest: Rest) -> None:
    body = {"content": 1, "contentType": 2, "userId": 3}
    details = rest.call("POST", ENTRIES, body).refused(400, "validation_error")
    assert sorted(fields(details)) == ["content", "contentType", "userId"]


def test_limits_are_inclusive(rest: Rest) -> None:
    metadata = {"k": "v" * (16_384 - len('{"k":""}'))}
    body = {"title": "ä" * 500, "metadata": metadata}
    assert rest.call("POST", "/v1/conversations", body).status == 201
    full = {"content": [0] * 1000, "contentType": "c" * 127, "indexedContent": "i" * 100_000}
    assert rest.call("POST", ENTRIES, full).status == 201
    synced = {"content": [0] * 10_000, "contentType": "c"}
    assert rest.call("POST", f"{ENTRIES}/sync", synced, key="k").status == 200


@pytest.mark.parametrize("content", ["text", [0] * 10_001, {"a": 1}])
def test_sync_takes_a_list_of_at_most_ten_thousand_items(rest: Rest, content: Any) -> None:
    answered = rest.call(
        "POST", f"{ENTRIES}/sync", {"content": content, "contentType": "c"}, key="k"
    )
    assert fields(answered.refused(400, "validation_error")) == ["content"]


def test_levels_come_in_any_letter_case(rest: Rest) -> None:
    assert rest.call("POST", MEMBERS, {"userId": "bob", "accessLevel": "WRITER"}).status == 201
    command = rest.sharing.calls[0][1][1]
    assert (command.user_id, command.level) == ("bob", Level.WRITER)


def test_a_declared_length_above_the_limit_is_refused_unread(rest: Rest) -> None:
    headers = {"content-length": str(17 * 1024 * 1024)}
    answered = rest.call("POST", ENTRIES, headers=headers, chunks=[b"{}", b"", b""])
    assert set(answered.refused(413, "payload_too_large")) == {"message"}


def test_an_undeclared_body_is_counted(rest: Rest) -> None:
    half = b" " * (BODY_BYTES_MAX // 2)
    document = b'{"content":["a"]}'
    fits = [half, half[: -len(document)], document]
    assert rest.call("POST", ENTRIES, chunks=fits).status == 201
    too_much = rest.call("POST", ENTRIES, chunks=[half, half, document])
    too_much.refused(413, "payload_too_large")


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/json", 201),
        ("Application/JSON; charset=UTF-8", 201),
        ("application/merge-patch+json", 201),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("application/json; charset=latin-1", 415),
        ("", 415),
    ],
)
def test_a_content_type_other_than_json_is_refused(
    rest: Rest, content_type: str, status: int
) -> None:
    headers = {"content-type": content_type}
    answered = rest.call("POST", ENTRIES, {"content": ["a"]}, headers=headers)
    assert answered.status == status
    if status == 415:
        assert set(answered.refused(415, "unsupported_media_type")) == {"message"}


def test_a_content_type_without_a_body_does_not_matter(rest: Rest) -> None:
    assert rest.call("POST", "/v1/conversations", headers={"content-type": "text/x"}).status == 201


def test_a_caller_who_hangs_up_gets_nothing_and_changes_nothing(
    rest: Rest,
) -> None:
    with capture_logs() as logged:
        answered = rest.call("POST", ENTRIES, chunks=[b'{"content":', None])
    assert answered.status == 0
    assert not rest.asked
    assert rest.metrics.requests == [("POST", "/v1/conversations/{id}/entries", 499)]
    assert logged == []
