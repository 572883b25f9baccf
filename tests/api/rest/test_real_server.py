"""A few things that only a real server and a real socket show."""

import asyncio
import http.client
import threading
from collections.abc import AsyncIterator, Iterator
from urllib.parse import quote

import httpx2
import pytest
from structlog.testing import capture_logs

from tests.api.fakes import ID, Rest
from tests.support.servers.thread import RunningServer

ENTRIES = f"/v1/conversations/{ID}/entries"
MIB = 1024 * 1024


@pytest.fixture
def url(rest: Rest) -> Iterator[str]:
    server = RunningServer(rest.app).start()
    yield server.url
    server.stop()


@pytest.fixture
def client(url: str) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=url, headers={"X-Requester-Id": "ann"}, timeout=30) as client:
        yield client


def test_17_mib_are_too_large_with_and_without_a_declared_length(client: httpx2.Client) -> None:
    declared = client.post(ENTRIES, content=b" " * (17 * MIB))
    chunked = client.post(ENTRIES, content=(b" " * MIB for _ in range(17)))
    for response in (declared, chunked):
        assert response.status_code == 413
        assert response.json()["code"] == "payload_too_large"
    assert client.get("/v1/health").json() == {"status": "ok"}


def test_a_body_in_chunks_is_one_body(rest: Rest, client: httpx2.Client) -> None:
    response = client.post(ENTRIES, content=iter([b'{"content":', b'["', b"\xc3", b'\xa9"]}']))
    assert response.status_code == 201
    assert rest.entries.calls[0][1][1].content == ["é"]


def test_one_connection_serves_refusals_and_answers_in_turn(url: str) -> None:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=30)
    headers = {"X-Requester-Id": "Zoë".encode().decode("latin-1")}
    statuses = []
    for method, path, body in [
        ("POST", f"{ENTRIES}/sync", b'{"content":[]}'),
        ("POST", ENTRIES, b"{"),
        ("HEAD", f"/v1/conversations/{ID}", b""),
        ("DELETE", f"/v1/conversations/{ID}", b""),
        ("POST", ENTRIES, b'{"content":["a"]}'),
    ]:
        connection.request(method, path, body=body, headers=headers)
        response = connection.getresponse()
        response.read()
        statuses.append(response.status)
    connection.close()
    assert statuses == [403, 400, 200, 204, 201]


def test_an_escaped_slash_in_a_member_is_part_of_the_name(
    rest: Rest, client: httpx2.Client
) -> None:
    member = "team/a b+ü"
    path = f"/v1/conversations/{ID}/memberships/{quote(member, safe='')}"
    assert client.delete(path).status_code == 204
    assert rest.sharing.calls[0][1][2] == member


class HeldEviction:
    """Shows its first step, then waits for the test; says when nobody listens any more."""

    def __init__(self) -> None:
        self.left = threading.Event()

    async def progress(self) -> AsyncIterator[int]:
        try:
            yield 0
            await asyncio.Event().wait()
        finally:
            self.left.set()


def test_a_caller_who_leaves_the_stream_ends_the_stream(rest: Rest, client: httpx2.Client) -> None:
    held = HeldEviction()
    rest.eviction.answers["begin"] = held
    body = {"retentionPeriod": "P1D", "resourceTypes": ["conversations"]}
    headers = {"X-Requester-Id": "root"}
    target = "/v1/admin/evict?async=true"
    with capture_logs() as logged:
        with client.stream("POST", target, json=body, headers=headers) as response:
            assert next(response.iter_lines()) == 'data: {"progress":0}'
        assert held.left.wait(30)
    assert logged == []
