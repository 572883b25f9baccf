"""The server is killed right after it has answered writes of memories."""

import http.client
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.engines import TestDatabase
from tests.support.processes import start_server

NewDatabase = Callable[[], TestDatabase]

WRITES = 50
WAIT_SECONDS = 60


class Client:
    """One connection, one user."""

    def __init__(self, port: int) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_SECONDS)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and body."""
        headers = {"X-Requester-Id": "ann", "Content-Type": "application/json"}
        sent = None if body is None else json.dumps(body)
        self._http.request(method, path, sent, headers)
        response = self._http.getresponse()
        return response.status, json.loads(response.read() or b"null")


@pytest.mark.scenario(15)
def test_every_answered_write_is_found_after_a_kill_under_the_id_that_was_given(
    new_database: NewDatabase, tmp_path: Path
) -> None:
    database = new_database()
    with start_server(tmp_path, database) as (server, port), Client(port) as client:
        status, _ = client.call("POST", "/v1/agents", {"id": "a", "owner_id": "ann"})
        assert status == 201
        given = {}
        for number in range(WRITES):
            body = {"agent_id": "a", "content": f"the locker of guest{number} is full"}
            status, answer = client.call("POST", "/v1/memories", body)
            assert status == 201, answer
            given[answer["id"]] = f"guest{number}"
        server.kill()
    with start_server(tmp_path, database) as (_, port), Client(port) as client:
        for memory_id, word in given.items():
            status, memory = client.call("GET", f"/v1/memories/{memory_id}")
            assert status == 200
            assert word in memory["content"]
            asked = {"query": word, "agent_id": "a", "limit": 1}
            status, found = client.call("POST", "/v1/memories/search", asked)
            assert status == 200
            assert [hit["id"] for hit in found["data"]] == [memory_id]
