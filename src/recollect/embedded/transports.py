"""The ways from the two faces of the client to a system in this process.

The system has an event loop on a thread of its own. `EmbeddedTransport` blocks the caller's thread
until an answer is there; `AsyncEmbeddedTransport` lets the caller's own event loop go on.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from recollect.embedded.asgi import AsgiCaller, StreamedAnswer
from recollect_client import ServerUnreachable
from recollect_client.errors import CLIENT_CLOSED, CLOSED, NO_ANSWER
from recollect_client.values import Request, Response

T = TypeVar("T")


class System(Protocol):
    """What a transport needs of the running system."""

    caller: AsgiCaller
    may_lose_answers: bool

    def start(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Start a coroutine on the loop of the system."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


@dataclass(frozen=True, slots=True)
class _PiecesOnLoop:
    """A streamed answer, read from another thread."""

    answer: StreamedAnswer
    system: System

    @property
    def status(self) -> int:
        return self.answer.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self.answer.headers

    def pieces(self) -> Iterator[bytes]:
        """The bytes, as they come."""
        while (piece := _wait(self.system.start(self.answer.queue.get()))) is not None:
            yield piece
        _check_end(self.answer)


@dataclass(frozen=True, slots=True)
class _AsyncPiecesOnLoop(_PiecesOnLoop):
    """A streamed answer, read on another event loop."""

    async def pieces(self) -> AsyncIterator[bytes]:  # type: ignore[override]
        """The bytes, as they come."""
        while (piece := await _await(self.system.start(self.answer.queue.get()))) is not None:
            yield piece
        _check_end(self.answer)


class EmbeddedTransport:
    """The way for `Recollect`."""

    def __init__(self, system: System) -> None:
        self._system = system

    @property
    def may_lose_answers(self) -> bool:
        """Can a request be carried out, and its answer never arrive?"""
        return self._system.may_lose_answers

    def send(self, request: Request) -> Response:
        """The whole answer."""
        return _wait(self._system.start(self._system.caller.send(request)))

    @contextmanager
    def stream(
        self, request: Request, body: Iterator[bytes] | None = None
    ) -> Iterator[_PiecesOnLoop]:
        """The answer piece by piece. To leave the block hangs up."""
        system = self._system
        answer = _wait(system.start(_new_answer()))
        pieces = None if body is None else _pull_on_thread(body)
        running = system.start(system.caller.stream(request, answer, pieces))
        try:
            _wait(system.start(answer.begun.wait()))
            if answer.failure is not None:
                raise answer.failure
            yield _PiecesOnLoop(answer, system)
        finally:
            running.cancel()

    def close(self) -> None:
        """Close the system. A second call does nothing."""
        self._system.close()


class AsyncEmbeddedTransport:
    """The way for `AsyncRecollect`."""

    def __init__(self, system: System) -> None:
        self._system = system

    @property
    def may_lose_answers(self) -> bool:
        """Can a request be carried out, and its answer never arrive?"""
        return self._system.may_lose_answers

    async def send(self, request: Request) -> Response:
        """The whole answer."""
        return await _await(self._system.start(self._system.caller.send(request)))

    @asynccontextmanager
    async def stream(
        self, request: Request, body: AsyncIterator[bytes] | None = None
    ) -> AsyncIterator[_AsyncPiecesOnLoop]:
        """The answer piece by piece. To leave the block hangs up."""
        system = self._system
        answer = await _await(system.start(_new_answer()))
        pieces = None if body is None else _pull_on_loop(body, asyncio.get_running_loop())
        running = system.start(system.caller.stream(request, answer, pieces))
        try:
            await _await(system.start(answer.begun.wait()))
            if answer.failure is not None:
                raise answer.failure
            yield _AsyncPiecesOnLoop(answer, system)
        finally:
            running.cancel()

    async def aclose(self) -> None:
        """Close the system. A second call does nothing."""
        await asyncio.to_thread(self._system.close)


def _wait(future: "Future[T]") -> T:
    """The result. Whoever is interrupted meanwhile (Ctrl-C) has hung up."""
    try:
        return future.result()
    except CancelledError:
        raise ServerUnreachable(CLIENT_CLOSED, code=CLOSED) from None
    except BaseException:
        future.cancel()
        raise


async def _await(future: "Future[T]") -> T:
    """The same on the caller's event loop, where a cancellation is the caller's own."""
    return await asyncio.wrap_future(future)


def _check_end(answer: StreamedAnswer) -> None:
    if not answer.complete:
        raise ServerUnreachable("the answer broke off before its end", code=NO_ANSWER)


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
