"""Connections that break the rules of HTTP. The server answers or closes, stays healthy, stores
nothing that was not asked for, and its log holds none of what was sent."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollect.api.registry import CONVERSATION_OPERATIONS
from tests.hostile.process import (
    ServerProcess,
    a_server_process,
    next_answer,
    read_to_the_end,
    statuses,
)
from tests.hostile.sample_tree import MARKER
from tests.hostile.stored import contents, nothing_stored
from tests.support.engines import TestDatabase
from tests.support.world import ADMIN, CLIENT_KEYS, a_token, new_id

MIB = 1024 * 1024
M = MARKER.encode()
AUTH = f"Authorization: Bearer {a_token(ADMIN)}\r\nX-API-Key: {CLIENT_KEYS['k1']}\r\n".encode()
JSON = b"Content-Type: application/json\r\n"
HEALTH = b"GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n"
LAST = b"GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
CREATE = b"POST /v1/conversations HTTP/1.1\r\nHost: x\r\n" + AUTH + JSON
BODY = b'{"title":"' + M + b'"}'
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
INNER = CREATE + LENGTH + b"\r\n" + BODY
# What the HTTP server says of an answer that nobody waited for.
HUNG_UP = "ASGI callable returned without completing response."
CHUNKED = b"Transfer-Encoding: chunked\r\n"


def chunk(content: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(content), content)


# Each carries a whole request inside what other readers might take for a body, or the reverse.
AMBIGUOUS: dict[str, bytes] = {
    "two lengths": CREATE + b"Content-Length: 2\r\n" + LENGTH + b"\r\n{}" + INNER,
    "two equal lengths": CREATE + LENGTH + LENGTH + b"\r\n" + BODY,
    "a list of lengths": CREATE + b"Content-Length: 2, 2\r\n\r\n{}",
    "length and chunks": CREATE + b"Content-Length: 2\r\n" + CHUNKED + b"\r\n0\r\n\r\n" + INNER,
    "chunks and length": CREATE + CHUNKED + LENGTH + b"\r\n0\r\n\r\n" + INNER,
    "a negative length": CREATE + b"Content-Length: -1\r\n\r\n" + INNER,
    "a length with a sign": CREATE + b"Content-Length: +2\r\n\r\n{}" + INNER,
    "a length in hex": CREATE + b"Content-Length: 0x2\r\n\r\n{}" + INNER,
    "a length of many digits": CREATE + b"Content-Length: " + b"9" * 40 + b"\r\n\r\n" + INNER,
    "a length of no digits": CREATE + b"Content-Length: two\r\n\r\n{}" + INNER,
    "an unknown coding": CREATE + b"Transfer-Encoding: xchunked\r\n\r\n" + INNER,
    "chunked not last": CREATE + b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n" + INNER,
    "a bad chunk size": CREATE + CHUNKED + b"\r\nzz\r\n" + INNER,
    "a negative chunk size": CREATE + CHUNKED + b"\r\n-2\r\n{}\r\n0\r\n\r\n" + INNER,
    "an endless chunk size": CREATE + CHUNKED + b"\r\n" + b"f" * 17 + b"\r\n" + INNER,
    "a chunk longer than said": CREATE + CHUNKED + b"\r\n1\r\n{}\r\n0\r\n\r\n" + INNER,
    "a space before the colon": CREATE + b"Content-Length : 2\r\n\r\n{}" + INNER,
    "a header without a colon": CREATE + M + b"\r\n\r\n" + INNER,
    "NUL in a header": CREATE + b"X-A: a\0" + M + b"\r\n\r\n" + INNER,
    "a bare carriage return": CREATE + b"X-A: a\rContent-Length: 2\r\n\r\n{}" + INNER,
}
NO_HTTP: dict[str, bytes] = {
    "nothing": b"",
    "an empty line": b"\r\n\r\n",
    "noise": bytes(range(256)) * 10,
    "a word": M + b"\r\n\r\n",
    "a TLS greeting": bytes.fromhex("16030100c8010000c40303") + b"\0" * 200,
    "HTTP/0.9": b"GET /" + M + b"\r\n",
    "HTTP/9.9": b"GET /v1/health HTTP/9.9\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "no method": b" /v1/health HTTP/1.1\r\n\r\n",
    "an unknown method": b"BREW /v1/health HTTP/1.1\r\nHost: x\r\n\r\n",
    "a method in lower case": b"get /v1/health HTTP/1.1\r\nHost: x\r\n\r\n",
    "no target": b"GET  HTTP/1.1\r\nHost: x\r\n\r\n",
    "a target of no path": b"GET " + M + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    "raw bytes in the path": b"GET /\xff\xfe"
    + M
    + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "connect": b"CONNECT " + M + b":443 HTTP/1.1\r\nHost: x\r\n\r\n",
    "a method that never ends": b"A" * MIB,
}


@pytest.fixture(scope="module")
def process(
    engine: TestDatabase, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    with a_server_process(engine, tmp_path_factory.mktemp("process")) as running:
        yield running
    # Some lines are written late, so the log is whole only now.
    assert_silent(running)
    assert '"event": "request"' in running.logged()


@pytest.fixture(autouse=True)
def healthy_and_silent(process: ServerProcess) -> Iterator[None]:
    """Whatever a test did: the server still answers, and its log has no content and no fault."""
    yield
    assert process.healthy()
    assert_silent(process)


def assert_silent(process: ServerProcess) -> None:
    logged = process.logged()
    assert MARKER not in logged
    lines = [json.loads(line) for line in logged.splitlines()]
    faults = [line for line in lines if line["level"] == "error" and line["event"] != HUNG_UP]
    assert not faults
    assert not [line for line in lines if "exception" in line]


@pytest.mark.parametrize("kind", AMBIGUOUS)
def test_a_request_of_unclear_length_is_refused_and_the_connection_closed(
    process: ServerProcess, kind: str
) -> None:
    with nothing_stored(process.database):
        answers = process.exchange(AMBIGUOUS[kind], LAST)
        assert [s for s in statuses(answers) if s < 400] == [], answers
        assert M not in answers


@pytest.mark.parametrize("kind", NO_HTTP)
def test_what_is_no_http_gets_a_refusal_or_a_closed_connection(
    process: ServerProcess, kind: str
) -> None:
    with nothing_stored(process.database):
        answers = process.break_off(NO_HTTP[kind])
    assert all(400 <= status < 500 for status in statuses(answers)), answers
    assert b"Traceback" not in answers


def test_who_says_the_preface_of_http_2_and_vanishes_is_no_fault_of_the_server(
    process: ServerProcess,
) -> None:
    for _ in range(40):
        with process.connect() as connection:
            connection.sendall(NO_HTTP["HTTP/2"])


def test_a_body_that_breaks_off_stores_nothing(process: ServerProcess) -> None:
    entries = f"POST /v1/conversations/{new_id()}/entries HTTP/1.1\r\nHost: x\r\n".encode()
    with nothing_stored(process.database):
        for head in (CREATE, entries + AUTH + JSON):
            for cut in (1, len(BODY) // 2, len(BODY) - 1):
                process.break_off(head + LENGTH + b"\r\n" + BODY[:cut])
                process.break_off(head + CHUNKED + b"\r\n" + chunk(BODY)[: cut + 3])
            process.break_off(head + CHUNKED + b"\r\n" + chunk(BODY))
            process.break_off(head[: len(head) // 2])


def test_a_connection_that_is_cut_hard_stores_nothing(process: ServerProcess) -> None:
    with nothing_stored(process.database):
        for _ in range(20):
            with process.connect() as connection:
                connection.sendall(CREATE + LENGTH + b"\r\n" + BODY[:-1])
        assert process.healthy()


def test_who_hangs_up_at_once_is_no_fault_of_the_server(
    new_database: Callable[[], TestDatabase], tmp_path: Path
) -> None:
    """On a server of its own: what was asked for is stored some time after the asker has gone."""
    with a_server_process(new_database(), tmp_path) as process:
        for _ in range(20):
            process.break_off(INNER)
            process.break_off(INNER + HEALTH * 5)
        assert process.healthy()
    assert_silent(process)


def test_a_slow_header_keeps_nobody_else_waiting(process: ServerProcess) -> None:
    with process.connect() as slow:
        for byte in HEALTH[:-2]:
            slow.sendall(bytes([byte]))
        assert process.healthy()
        slow.sendall(HEALTH[-2:])
        assert next_answer(slow) == (200, b'{"status":"ok"}')


def test_pipelined_requests_are_answered_in_order(process: ServerProcess) -> None:
    missing = b"GET /v1/nowhere HTTP/1.1\r\nHost: x\r\n\r\n"
    bad = CREATE + b"Content-Length: 1\r\n\r\n{"
    answers = process.exchange(HEALTH + missing + INNER + bad + HEALTH + LAST)
    assert statuses(answers) == [200, 404, 201, 400, 200, 200]


def test_a_body_that_nobody_reads_is_not_taken_for_a_request(process: ServerProcess) -> None:
    wrapped = b"Content-Length: %d\r\n\r\n" % len(INNER) + INNER
    unread = [
        b"GET /v1/health HTTP/1.1\r\nHost: x\r\n" + wrapped,
        b"PUT /v1/conversations HTTP/1.1\r\nHost: x\r\n" + wrapped,
        b"POST /v1/nowhere HTTP/1.1\r\nHost: x\r\n" + wrapped,
        b"POST /v1/conversations HTTP/1.1\r\nHost: x\r\n" + wrapped,
        b"DELETE /v1/conversations/x HTTP/1.1\r\nHost: x\r\n" + AUTH + wrapped,
        CREATE.replace(JSON, b"Content-Type: text/plain\r\n") + wrapped,
    ]
    with nothing_stored(process.database):
        answers = process.exchange(b"".join(unread) + LAST)
        assert statuses(answers) == [200, 405, 404, 401, 404, 415, 200]


def test_the_rest_of_a_body_that_was_too_large_is_not_taken_for_requests(
    process: ServerProcess,
) -> None:
    count = 17 * MIB // len(INNER) + 1
    declared = b"Content-Length: %d\r\n\r\n" % (count * len(INNER))
    chunks = chunk(INNER * (MIB // len(INNER))) * 18
    for head, body in ((declared, INNER * count), (CHUNKED + b"\r\n", chunks + b"0\r\n\r\n")):
        with nothing_stored(process.database):
            answers = process.exchange(CREATE + head, body, LAST)
            assert statuses(answers)[0] == 413
            assert set(statuses(answers)[1:]) <= {200}


def test_http_1_0_is_answered_and_closed(process: ServerProcess) -> None:
    with process.connect() as connection:
        connection.sendall(b"GET /v1/health HTTP/1.0\r\n\r\n")
        assert read_to_the_end(connection).endswith(b'{"status":"ok"}')


@pytest.mark.parametrize(
    ("target", "status"),
    [
        (b"http://elsewhere.example/v1/health", 200),
        (b"http://user:secret@elsewhere.example:1/v1/health?x=1#y", 200),
        (b"/v1/health#" + M, 200),
        (b"//elsewhere.example/v1/health", 404),
        (b"/v1/./health", 404),
        (b"/v1/x/../health", 404),
        (b"/v1/%68ealth", 200),
        (b"*", 404),
    ],
)
def test_strange_targets_lead_to_a_path_or_nowhere(
    process: ServerProcess, target: bytes, status: int
) -> None:
    request = b"GET " + target + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    answers = process.exchange(request)
    assert statuses(answers) in ([status], [400]), answers
    assert M not in answers


def test_who_expects_100_continue_is_told_to_go_on(process: ServerProcess) -> None:
    expecting = CREATE + b"Expect: 100-continue\r\n"
    with process.connect() as connection:
        connection.sendall(expecting + LENGTH + b"\r\n")
        assert connection.recv(25, 0x100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(BODY)
        assert next_answer(connection)[0] == 201
    with process.connect() as connection:
        connection.sendall(expecting + b"Content-Length: %d\r\n\r\n" % (17 * MIB))
        assert next_answer(connection)[0] == 413


@pytest.mark.parametrize("size", [70_000, MIB])
def test_endless_urls_and_headers_are_answered_or_refused(
    process: ServerProcess, size: int
) -> None:
    filler = (M * (size // len(M) + 1))[:size]
    close = b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    many = b"".join(b"X-%d: %b\r\n" % (n, M) for n in range(size // 20))
    for request in (
        b"GET /v1/health?q=" + filler + close + b"\r\n",
        b"GET /" + filler + close + b"\r\n",
        b"GET /v1/conversations?after=" + filler + close + AUTH + b"\r\n",
        b"GET /v1/conversations?" + b"a=1&" * (size // 4) + close + AUTH + b"\r\n",
        b"GET /v1/conversations" + close + b"Authorization: Bearer " + filler + b"\r\n\r\n",
        b"GET /v1/conversations" + close + AUTH + b"X-Requester-Id: " + filler + b"\r\n\r\n",
        b"GET /v1/health" + close + b"X-Request-Id: " + filler + b"\r\n\r\n",
        b"GET /v1/health" + close + many + b"\r\n",
    ):
        answers = process.exchange(request)
        assert not [s for s in statuses(answers) if s >= 500], answers[:300]
        assert M not in answers


@pytest.mark.parametrize(
    "beginning",
    [
        b"GET /",
        b"GET /v1/health HTTP/1.1\r\nHost: x\r\nX-A: ",
        b"GET /v1/health HTTP/1.1\r\nHost: x\r\nX-",
        b"POST /v1/conversations HTTP/1.1\r\nHost: x\r\n" + CHUNKED + b"\r\n0\r\nX-A: ",
        b"POST /v1/conversations HTTP/1.1\r\nHost: x\r\n" + CHUNKED + b"\r\n2;x=",
        HEALTH * 3 + b"GET /v1/health HTTP/1.1\r\nHost: x\r\nX-A: ",
    ],
)
def test_what_never_ends_is_cut_off(process: ServerProcess, beginning: bytes) -> None:
    answers = process.exchange(beginning, *[b"a" * MIB] * 4)
    assert set(statuses(answers)) <= {200, 400, 401}


def test_trailers_are_no_headers(process: ServerProcess) -> None:
    head = b"POST /v1/conversations HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + JSON + CHUNKED
    with nothing_stored(process.database):
        answers = process.exchange(head + b"\r\n" + chunk(BODY) + b"0\r\n" + AUTH + b"\r\n")
        assert statuses(answers) == [401]
    named = b"X-Requester-Id: somebody else\r\n"
    answers = process.exchange(
        head + AUTH + b"\r\n" + chunk(BODY) + b"0\r\n" + AUTH + named + b"\r\n"
    )
    assert statuses(answers) == [201]


def test_an_upgrade_is_not_taken(process: ServerProcess) -> None:
    for protocol in (b"websocket", b"h2c", M):
        request = b"GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: "
        key = (
            b"\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )
        answers = process.exchange(request + protocol + key)
        assert 101 not in statuses(answers)
        assert statuses(answers) in ([200], [400], [426], []), answers


def test_what_is_sent_anywhere_in_a_request_is_in_no_log_line(process: ServerProcess) -> None:
    for row in CONVERSATION_OPERATIONS:
        path = re.sub(r"{\w+}", MARKER, row.path)
        query = f"?query={MARKER}&after={MARKER}&justification={MARKER}&limit={MARKER}"
        content = b'{"title":"' + M + b'","content":["' + M + b'"],"x":tru'
        head = f"{row.method} {path}{query} HTTP/1.1\r\nHost: {MARKER}\r\n".encode()
        headers = b"X-Requester-Id: " + M + b"\r\nUser-Agent: " + M + b"\r\nX-A: " + M + b"\r\n"
        length = b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(content)
        for credentials in (
            AUTH,
            headers + b"X-API-Key: " + M + b"\r\n",
            b"Authorization: Bearer " + M,
        ):
            request = head + credentials.rstrip(b"\r\n") + b"\r\n" + JSON + length + content
            assert not [s for s in statuses(process.exchange(request)) if s >= 500]


def test_what_was_created_is_all_that_is_stored(process: ServerProcess) -> None:
    before = contents(process.database)
    assert statuses(process.exchange(INNER + LAST)) == [201, 200]
    after = contents(process.database)
    assert len(after["conversations"]) == len(before["conversations"]) + 1
