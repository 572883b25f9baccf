"""The clients' process: it shares the cores with the server, so it does next to nothing.

It writes prebuilt requests on keep-alive connections and reads of each answer only the status and
the length.
"""

import asyncio
import itertools
import pickle
import re
import sys
import time
from functools import partial
from typing import cast

import uvloop

from bench.harness import http2
from bench.harness.load import Job, Lane, Outcome

_CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Client(asyncio.Protocol):
    """One connection with one request under way; what is sent and read is the protocol's."""

    def __init__(self, lane: Lane, first: int, count: int) -> None:
        self._lane = lane
        self._next = first
        self._end = first + count
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
        self.send(self._lane[self._next % len(self._lane)])
        self._next += 1

    def send(self, request: bytes) -> None:
        """Write a request."""
        raise NotImplementedError

    def answered(self, failure: bytes | None) -> None:
        """The answer is there; one that is no success ends it."""
        if failure is not None:
            self._finish(failure)
            return
        self.latencies.append(time.perf_counter() - self._sent_at)
        self.go()

    def connection_lost(self, error: Exception | None) -> None:
        """See asyncio."""
        self._finish(b"nothing: the connection was lost")

    def _finish(self, failure: bytes | None) -> None:
        if not self.done.done():
            self.failure = failure
            self.done.set_result(None)


class RestClient(Client):
    """HTTP/1.1."""

    _seen = b""

    def send(self, request: bytes) -> None:
        """See above."""
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        self._seen += data
        head = self._seen.find(b"\r\n\r\n")
        if head < 0:
            return
        if not self._is_complete(head):
            return
        answer, self._seen = self._seen, b""
        self.answered(None if answer[9:10] == b"2" else answer)

    def _is_complete(self, head: int) -> bool:
        """An answer comes with its length, or in chunks of which the last one is empty."""
        if _CHUNKED.search(self._seen, 0, head):
            return self._seen.endswith(b"\r\n0\r\n\r\n")
        length = _LENGTH.search(self._seen, 0, head)
        return len(self._seen) >= head + 4 + (int(length[1]) if length else 0)


class GrpcClient(Client):
    """HTTP/2, as much of it as gRPC needs."""

    _stream = -1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio."""
        super().connection_made(transport)
        self._answers = http2.Answers()
        self.transport.write(http2.opening())

    def send(self, request: bytes) -> None:
        """See above."""
        self._stream += 2
        self.transport.write(http2.on_stream(request, self._stream))

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        for success in self._answers.feed(data):
            self.answered(None if success else b"a refusal: " + data)
        if self._answers.replies:
            self.transport.write(self._answers.replies)
            self._answers.replies = b""


async def do(job: Job) -> Outcome:
    """Connect every client, then let them all go at once."""
    loop = asyncio.get_running_loop()
    clients: list[Client] = []
    kind = GrpcClient if job.grpc else RestClient
    for lane, port in zip(job.lanes, itertools.cycle(job.ports)):
        factory = partial(kind, lane, job.first, job.each)
        _, client = await loop.create_connection(factory, "127.0.0.1", port)
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
