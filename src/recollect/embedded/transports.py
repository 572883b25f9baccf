"""The ways from the two faces of the client to a system in this process.

The system has an event loop on a thread of its own. `EmbeddedTransport` blocks the caller's thread
until an answer is there; `AsyncEmbeddedTransport` lets the caller's own event loop go on.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from recollect.app.loop_thread import LoopThread
from recollect.embedded.asgi import AsgiCaller, StreamedAnswer
from recollect_client import ServerUnreachable
from recollect_client.errors import CLIENT_CLOSED, CLOSED
from recollect_client.values import Request, Response

T = TypeVar("T")


class _LoopCalls:
    """Starts coroutines on the loop of the system."""

    def __init__(self, thread: LoopThread, caller: AsgiCaller, close: Callable[[], None]) -> None:
        self._thread = thread
        self._caller = caller
        self._close = close

    def _start(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        try:
            return self._thread.submit(work)
        except RuntimeError as error:
            raise ServerUnreachable(CLIENT_CLOSED, code=CLOSED) from error


@dataclass(frozen=True, slots=True)
class _PiecesOnLoop:
    """A streamed answer, read from another thread."""

    answer: StreamedAnswer
    start: Callable[[Coroutine[Any, Any, Any]], "Future[Any]"]

    @property
    def status(self) -> int:
        return self.answer.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self.answer.headers

    def pieces(self) -> Iterator[bytes]:
        """The bytes, as they come."""
        while (piece := self.start(self.answer.queue.get()).result()) is not None:
            yield piece


@dataclass(frozen=True, slots=True)
class _AsyncPiecesOnLoop(_PiecesOnLoop):
    """A streamed answer, read on another event loop."""

    async def pieces(self) -> AsyncIterator[bytes]:  # type: ignore[override]
        """The bytes, as they come."""
        while (piece := await asyncio.wrap_future(self.start(self.answer.queue.get()))) is not None:
            yield piece


class EmbeddedTransport(_LoopCalls):
    """The way for `Recollect`."""

    def send(self, request: Request) -> Response:
        """The whole answer."""
        return self._start(self._caller.send(request)).result()

    @contextmanager
    def stream(
        self, request: Request, body: Iterator[bytes] | None = None
    ) -> Iterator[_PiecesOnLoop]:
        """The answer piece by piece. To leave the block hangs up."""
        answer = self._start(_new_answer()).result()
        pieces = None if body is None else _pull_on_thread(body)
        running = self._start(self._caller.stream(request, answer, pieces))
        try:
            self._start(answer.begun.wait()).result()
            if answer.failure is not None:
                raise answer.failure
            yield _PiecesOnLoop(answer, self._start)
        finally:
            running.cancel()

    def close(self) -> None:
        """Close the system. A second call does nothing."""
        self._close()


class AsyncEmbeddedTransport(_LoopCalls):
    """The way for `AsyncRecollect`."""

    async def send(self, request: Request) -> Response:
        """The whole answer."""
        return await asyncio.wrap_future(self._start(self._caller.send(request)))

    @asynccontextmanager
    async def stream(
        self, request: Request, body: AsyncIterator[bytes] | None = None
    ) -> AsyncIterator[_AsyncPiecesOnLoop]:
        """The answer piece by piece. To leave the block hangs up."""
        answer = await asyncio.wrap_future(self._start(_new_answer()))
        pieces = None if body is None else _pull_on_loop(body, asyncio.get_running_loop())
        running = self._start(self._caller.stream(request, answer, pieces))
        try:
            await asyncio.wrap_future(self._start(answer.begun.wait()))
            if answer.failure is not None:
                raise answer.failure
            yield _AsyncPiecesOnLoop(answer, self._start)
        finally:
            running.cancel()

    async def aclose(self) -> None:
        """Close the system. A second call does nothing."""
        await asyncio.to_thread(self._close)


async def _new_answer() -> StreamedAnswer:
    return StreamedAnswer()


async def _pull_on_thread(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """The pieces of a caller that blocks: each is asked for on a worker thread."""
    done = object()
    while (piece := await asyncio.to_thread(next, pieces, done)) is not done:
        yield piece  # type: ignore[misc]


async def _pull_on_loop(
    pieces: AsyncIterator[bytes], loop: asyncio.AbstractEventLoop
) -> AsyncIterator[bytes]:
    """The pieces of a caller with an event loop: each is asked for there."""

    async def next_piece() -> bytes | None:
        return await anext(pieces, None)

    while (
        piece := await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(next_piece(), loop))
    ) is not None:
        yield piece
