"""Answers that are cut, late, huge or not of Recollect: a typed error, or the call goes on."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from recollect_client import (
    InvalidInput,
    LimitExceeded,
    NotFound,
    Recollect,
    RecollectError,
    RetryPolicy,
    ServerUnreachable,
    Unavailable,
)
from tests.client.stub import CannedServer, answer

QUICK = RetryPolicy(attempts=3, pause_seconds=0.001, pause_seconds_max=0.002)
HTML = b"<!doctype html><html><body>Sign in</body></html>"
BUSY = json.dumps({"error": "the server is busy", "code": "unavailable"}).encode()


def a_page(count: int) -> bytes:
    """A page of chats."""
    chat: dict[str, Any] = {
        "id": "c",
        "kind": "group",
        "created_at": "2026-01-01T00:00:00Z",
        "title": "x" * 1000,
    }
    chat |= {"created_by": "ann", "provider": None, "tree": False}
    return answer("200 OK", json.dumps({"data": [chat] * count, "next_cursor": None}).encode())


def ask(*answers: bytes, **options: Any) -> Any:
    """Ask a server that answers so for the chats; the answer, and what the server heard."""
    with (
        CannedServer(answers) as server,
        Recollect.connect(server.url, retries=options.pop("retries", QUICK)) as memory,
    ):
        return memory.user("ann").operations.list_chats(), server.heard


@pytest.mark.parametrize(
    ("canned", "kind", "code", "said"),
    [
        (answer("200 OK", HTML, "text/html"), Unavailable, "unexpected_answer", "text/html"),
        (answer("200 OK", b"[1, 2]"), Unavailable, "unexpected_answer", "not one of Recollect"),
        (answer("200 OK", b"{}"), Unavailable, "unexpected_answer", "not one of Recollect"),
        (
            answer("301 Moved", b"", location="https://memory.example/v1/chats"),
            Unavailable,
            "unexpected_answer",
            "leads to https://memory.example/v1/chats",
        ),
        (answer("404 Not Found", HTML, "text/html"), NotFound, "", "not one of Recollect"),
        (answer("413 Too Large", HTML, "text/html"), LimitExceeded, "", "not one of Recollect"),
        (answer("400 Bad Request", HTML, "text/html"), InvalidInput, "", "not one of Recollect"),
    ],
)
def test_an_answer_of_something_else_is_a_typed_error_and_not_asked_for_again(
    canned: bytes, kind: type[RecollectError], code: str, said: str
) -> None:
    with pytest.raises(kind, match=said) as caught:
        ask(canned)
    assert caught.value.code == code


@pytest.mark.parametrize(
    "canned",
    [
        answer("502 Bad Gateway", HTML, "text/html"),
        answer("503 Unavailable", BUSY, retry_after="0"),
        answer("429 Too Many", BUSY),
        b"",
        b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        answer("200 OK", b"no gzip", content_encoding="gzip"),
    ],
    ids=["502 of a proxy", "503", "429", "hung up", "cut off", "another protocol", "no gzip"],
)
def test_after_a_fault_that_passes_the_call_goes_on(canned: bytes) -> None:
    chats, heard = ask(canned, canned, a_page(1))
    assert (len(chats), len(heard)) == (1, 3)
    with pytest.raises(RecollectError) as caught:
        ask(canned, canned, canned)
    assert isinstance(caught.value, Unavailable | LimitExceeded)


def test_a_huge_answer_arrives_whole() -> None:
    chats, _ = ask(a_page(20_000))
    assert len(chats) == 20_000


def test_a_server_may_say_when_to_come_again() -> None:
    in_a_moment = format_datetime(datetime.now(UTC) - timedelta(seconds=5), usegmt=True)
    chats, _ = ask(answer("503 Unavailable", BUSY, retry_after=in_a_moment), a_page(1))
    assert len(chats) == 1
    tomorrow = answer("503 Unavailable", BUSY, retry_after="86400")
    with pytest.raises(Unavailable, match="busy") as caught:
        ask(tomorrow, a_page(1))
    assert caught.value.retry_after_seconds == 86400


def test_a_write_is_repeated_under_its_key_and_a_change_is_not_repeated() -> None:
    cut = b"HTTP/1.1 201 Created\r\ncontent-length: 1000\r\n\r\n{"
    with (
        CannedServer([cut, b"", answer("503 Unavailable", BUSY)]) as server,
        Recollect.connect(server.url, retries=QUICK) as memory,
        pytest.raises(Unavailable, match="busy"),
    ):
        memory.user("ann").remember("Once")
    first, *others = server.keys()
    assert others == [first, first]
    with (
        CannedServer([cut, cut]) as server,
        Recollect.connect(server.url, retries=QUICK) as memory,
        pytest.raises(ServerUnreachable),
    ):
        memory.user("ann").update("m1", content="Once")
    assert len(server.heard) == 1


def test_a_search_is_repeated_without_a_key() -> None:
    with (
        CannedServer([b"", b"", b""]) as server,
        Recollect.connect(server.url, retries=QUICK) as memory,
        pytest.raises(ServerUnreachable),
    ):
        memory.user("ann").search("tea")
    assert (len(server.heard), server.keys()) == (3, [])


def test_tls_is_not_asked_of_a_server_that_has_none() -> None:
    with CannedServer([b"HTTP/1.1 400 Bad Request\r\n\r\n"]) as server:
        url = server.url.replace("http://", "https://")
        with (
            Recollect.connect(url, retries=RetryPolicy(attempts=1)) as memory,
            pytest.raises(ServerUnreachable, match="SSL") as caught,
        ):
            memory.user("ann").remember("Hello")
    assert caught.value.code == "not_connected"
