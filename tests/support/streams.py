"""Server-sent events as a client reads them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2

from tests.support.api import headers_of
from tests.support.memory.callers import Caller

SECONDS_MAX = 30


@dataclass(frozen=True, slots=True)
class Block:
    """What stands between two empty lines. Without `event` it is a comment, perhaps with an id."""

    id: str | None
    type: str | None
    event: Any


class EventStream:
    """An open stream."""

    def __init__(self, response: httpx2.Response) -> None:
        self.response = response
        self._lines = response.iter_lines()

    def block(self) -> Block:
        """The next block; raises StopIteration where the stream ends."""
        fields: dict[str, str] = {}
        while line := next(self._lines):
            name, _, value = line.partition(": ")
            fields[name] = value
        data = fields.get("data")
        return Block(fields.get("id"), fields.get("event"), json.loads(data) if data else None)

    def events(self, count: int) -> list[Block]:
        """The next so many events, without the comments between them."""
        found: list[Block] = []
        while len(found) < count:
            block = self.block()
            if block.event is not None:
                found.append(block)
        return found


@contextmanager
def following(
    reader: Caller, *, last_id: str | None = None, http: httpx2.Client | None = None, **query: Any
) -> Iterator[EventStream]:
    """The stream of `/events`; closed afterwards."""
    headers = headers_of(reader.user.credentials) | {"Accept": "text/event-stream"}
    if last_id is not None:
        headers["Last-Event-ID"] = last_id
    client = http or reader.world.api.http
    with client.stream(
        "GET", "/events", params=query, headers=headers, timeout=SECONDS_MAX
    ) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"] == "text/event-stream"
        yield EventStream(response)
