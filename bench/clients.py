"""The clients' process: it shares the cores with the server, so it does next to nothing.

It writes prebuilt requests on keep-alive connections and reads of each answer only the status and
the length.
"""

import asyncio
import pickle
import re
import sys
import time
from functools import partial
from typing import cast

import uvloop

from bench.load import Job, Lane, Outcome

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Client(asyncio.Protocol):
    """One connection with one request under way."""

    def __init__(self, lane: Lane, first: int, count: int) -> None:
        self._lane = lane
        self._next = first
        self._end = first + count
        self._seen = b""
        self._sent_at = 0.0
        self.latencies: list[float] = []
        self.failure: bytes | None = None
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio."""
        self.transport = cast(asyncio.Transport, transport)

    def go(self) -> None:
        """Send the next request, or end."""
        if self._next == self._end:
            self._finish(None)
            return
        self._sent_at = time.perf_counter()
        self.transport.write(self._lane[self._next % len(self._lane)])
        self._next += 1

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        self._seen += data
        head = self._seen.find(b"\r\n\r\n")
        if head < 0:
            return
        length = _LENGTH.search(self._seen, 0, head)
        if len(self._seen) < head + 4 + (int(length[1]) if length else 0):
            return
        if self._seen[9:10] != b"2":
            self._finish(self._seen)
            return
        self._seen = b""
        self.latencies.append(time.perf_counter() - self._sent_at)
        self.go()

    def connection_lost(self, error: Exception | None) -> None:
        """See asyncio."""
        self._finish(b"nothing: the connection was lost")

    def _finish(self, failure: bytes | None) -> None:
        if not self.done.done():
            self.failure = failure
            self.done.set_result(None)


async def do(job: Job) -> Outcome:
    """Connect every client, then let them all go at once."""
    loop = asyncio.get_running_loop()
    clients: list[Client] = []
    for lane in job.lanes:
        factory = partial(Client, lane, job.first, job.each)
        _, client = await loop.create_connection(factory, "127.0.0.1", job.port)
        clients.append(client)
    started_at = time.perf_counter()
    for client in clients:
        client.go()
    await asyncio.gather(*(client.done for client in clients))
    seconds = time.perf_counter() - started_at
    for client in clients:
        client.transport.close()
    failure = next((c.failure for c in clients if c.failure is not None), None)
    return Outcome(seconds, [taken for c in clients for taken in c.latencies], failure)


def main() -> None:
    """Do jobs from stdin until it ends."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        while True:
            try:
                job: Job = pickle.load(sys.stdin.buffer)
            except (EOFError, KeyboardInterrupt):
                return
            pickle.dump(runner.run(do(job)), sys.stdout.buffer)
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
