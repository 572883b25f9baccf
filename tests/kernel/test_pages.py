"""Opaque cursors: ours come back, everybody else's are refused."""

import base64
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.kernel.errors import InvalidInput
from recollect.kernel.pages import decode_key, encode_key
from tests.support.strategies import texts

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
instants = st.datetimes(timezones=st.just(UTC))


def forged(*parts: Any) -> str:
    text = json.dumps(parts, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def assert_refused(cursor: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        decode_key("memberships", cursor)
    assert refusal.value.code == "bad_request"
    assert refusal.value.details is not None
    assert refusal.value.details["field"] == "after"


@given(instants, texts)
def test_a_cursor_comes_back_as_the_key_it_was_made_of(at: datetime, key: str) -> None:
    assert decode_key("memberships", encode_key("memberships", at, key)) == (at, key)


@given(instants, texts)
def test_a_cursor_of_another_list_is_refused(at: datetime, key: str) -> None:
    assert_refused(encode_key("transfers", at, key))


@given(st.text())
def test_a_text_of_nobody_is_refused(text: str) -> None:
    assert_refused(text)


@given(st.binary())
def test_bytes_of_nobody_are_refused(noise: bytes) -> None:
    assert_refused(base64.urlsafe_b64encode(noise).decode())


@given(st.data())
def test_a_mutilated_cursor_is_refused_or_is_another_cursor_of_ours(data: st.DataObject) -> None:
    cursor = encode_key("memberships", NOON, "ann")
    at = data.draw(st.integers(0, len(cursor) - 1))
    changed = cursor[:at] + data.draw(st.text(max_size=2)) + cursor[at + 1 :]
    try:
        key = decode_key("memberships", changed)
    except InvalidInput:
        return
    assert encode_key("memberships", *key) == changed


@given(st.integers(0, 200))
def test_a_cut_cursor_is_refused(length: int) -> None:
    cursor = encode_key("memberships", NOON, "ann")
    assert_refused(cursor[: length % len(cursor)])


@pytest.mark.parametrize(
    "cursor",
    [
        encode_key("memberships", NOON, "ann") + "=",
        encode_key("memberships", NOON, "ann") + "\n",
        forged("memberships", "2024-05-01T12:00:00Z", "ann"),
        forged("memberships", "2024-05-01T14:00:00.000000+02:00", "ann"),
        forged("memberships", "2024-05-01", "ann"),
        forged("memberships", "0001-01-01T00:00:00+14:00", "ann"),
        forged("memberships", "9999-12-31T23:59:59-14:00", "ann"),
        forged("memberships", 5, "ann"),
        forged("memberships", "2024-05-01T12:00:00.000000Z", 5),
        forged("memberships", "2024-05-01T12:00:00.000000Z", None),
        forged("memberships", "2024-05-01T12:00:00.000000Z", "a\x00"),
        forged("memberships", "2024-05-01T12:00:00.000000Z", "a\ud800"),
        forged("memberships", "2024-05-01T12:00:00.000000Z"),
        forged("memberships", "2024-05-01T12:00:00.000000Z", "ann", 1),
        base64.urlsafe_b64encode(b"[" * 30_000).decode(),
        base64.urlsafe_b64encode(b"9" * 30_000).decode(),
    ],
)
def test_a_forged_cursor_is_refused(cursor: str) -> None:
    assert_refused(cursor)


def test_a_cursor_is_safe_in_a_url() -> None:
    assert all(c.isalnum() or c in "-_" for c in encode_key("memberships", NOON, "?>~é😀"))
