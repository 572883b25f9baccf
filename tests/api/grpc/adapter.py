"""The adapter over fakes: services that answer or refuse as prepared, behind a real server."""

import asyncio
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc

from recollect.api.grpc.server import GrpcServer
from tests.api.fakes import FakeAuthenticator, Rest
from tests.api.grpc.client import Client

ANN = (("x-requester-id", "ann"), ("x-api-key", "k1"))
ROOT = (("x-requester-id", "root"), ("x-api-key", "k1"))
SECONDS_MAX = 30


class Adapter:
    """A server on a socket file, on an event loop of its own."""

    def __init__(self, folder: Path) -> None:
        self.fakes = Rest()
        self._address = f"unix:{folder / 'grpc'}"
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self.run(self._start())
        unlimited = [("grpc.max_receive_message_length", -1)]
        self.channel = grpc.insecure_channel(self._address, options=unlimited)
        self.client = Client(self.channel)

    def run(self, coroutine: Any) -> Any:
        """Run on the server's loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(SECONDS_MAX)

    def hold(self, service: Any, method: str, answer: Any) -> "Held":
        """Make a method of a service wait before it answers."""
        held = Held(self._loop, answer)
        setattr(service, method, held.answer)
        return held

    def wait_until(self, true: Callable[[], bool]) -> None:
        """Let the server work until something has come true."""

        async def watch() -> None:
            while not true():
                await asyncio.sleep(0)

        self.run(watch())

    def measured(self, count: int) -> list[tuple[str, str, int]]:
        """What was measured, when it is so many calls: the last is after its answer."""
        self.wait_until(lambda: len(self.fakes.requests.lines) >= count)
        return self.fakes.metrics.requests

    def begin_stop(self, grace_seconds: float) -> "Future[None]":
        """Stop the server; when that has ended is told by the future."""
        stopping = self._server.stop(grace_seconds)
        return asyncio.run_coroutine_threadsafe(stopping, self._loop)

    def close(self) -> None:
        """Stop everything."""
        self.channel.close()
        self.begin_stop(0).result(SECONDS_MAX)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SECONDS_MAX)
        self._loop.close()

    async def _start(self) -> GrpcServer:
        fakes = self.fakes
        server = GrpcServer(
            fakes.services,
            FakeAuthenticator(),
            metrics=fakes.metrics,  # type: ignore[arg-type]
            requests=fakes.requests,
        )
        await server.start(self._address, connections_max=100)
        return server


class Held:
    """A call that has reached its service and waits there."""

    def __init__(self, loop: asyncio.AbstractEventLoop, answer: Any) -> None:
        self._loop = loop
        self._answer = answer
        self._begun = threading.Event()
        self._free = asyncio.Event()

    async def answer(self, *_: Any, **__: Any) -> Any:
        """In place of the service's method."""
        self._begun.set()
        await self._free.wait()
        return self._answer

    def wait(self) -> None:
        """Return when the call is there."""
        assert self._begun.wait(SECONDS_MAX)

    def let_go(self) -> None:
        """Let it answer."""
        self._loop.call_soon_threadsafe(self._free.set)


@contextmanager
def an_adapter() -> Iterator[Adapter]:
    """A server over fakes, stopped afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        adapter = Adapter(Path(folder))
        try:
            yield adapter
        finally:
            adapter.close()
