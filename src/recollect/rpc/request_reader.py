"""Reads the messages of gRPC calls, on demand.

For a unary method grpcio receives the whole message before it calls the handler, so anybody could
make the server hold megabytes before it knows who calls (sixty unfinished messages held 2 GB). A
message of a stream is received only when the handler reads it; until then it stays with the sender,
but for what fits into the flow-control window. So every method is declared to grpcio as a stream
of requests. On the wire a stream of one message and a unary request are the same.
"""

import asyncio
from functools import partial
from typing import Any, Generic, TypeVar

import grpc
from google.protobuf.message import DecodeError, Message

from recollect.http.validation import BODY_BYTES_MAX
from recollect.kernel.errors import LimitExceeded, Unavailable, ValidationFailed
from recollect.rpc.context import GrpcContext

# gRPC's own limit, a little above ours: messages between the two get our error, larger ones gRPC's.
MESSAGE_BYTES_MAX = BODY_BYTES_MAX + 64 * 1024
# Larger messages are parsed on a thread, so that other calls don't wait.
LARGE_BYTES = 64 * 1024
ANONYMOUS_READS_MAX = 16
_ANONYMOUS_BYTES_MAX = 64 * 1024
_ANONYMOUS_SECONDS = 30
_CANCEL_WAIT_SECONDS = 10
M = TypeVar("M", bound=Message)


class RequestReader(Generic[M]):
    """Reads the messages of one call. `large` tells whether the last one was large."""

    __slots__ = ("_context", "_kind", "large")

    def __init__(self, kind: type[M], context: GrpcContext) -> None:
        self.large = False
        self._kind = kind
        self._context = context

    async def read_one(self) -> M:
        """The message of a unary call. Raises ValidationFailed if the call ended without one."""
        message = await self.read_next()
        if message is None:
            raise ValidationFailed.for_field("message", "must be sent: the call ended without one")
        return message

    async def read_next(self) -> M | None:
        """The next message; None if the caller ended the stream.

        Raises LimitExceeded or ValidationFailed for a message that is too large or malformed.
        """
        raw = await self._context.read()
        if raw is grpc.aio.EOF:
            await self._confirm_end()
            return None
        self.large = len(raw) > LARGE_BYTES
        parse = partial(_parse, self._kind, raw, BODY_BYTES_MAX)
        return await asyncio.to_thread(parse) if self.large else parse()

    async def _confirm_end(self) -> None:
        """Tell a real end of the stream from a broken call.

        `read` returns EOF for both, and for a message that gRPC itself refused. On a broken call
        nothing can be sent any more, so sending the initial metadata fails. gRPC is then about to
        cancel this task: we wait for that, and raise only if it does not happen.
        """
        try:
            await self._context.send_initial_metadata(())
        except grpc.aio.InternalError:
            await asyncio.sleep(_CANCEL_WAIT_SECONDS)
            raise Unavailable("the call was interrupted") from None


class AnonymousReader:
    """Reads messages of callers without credentials, only a few at a time.

    An unfinished message of many megabytes costs its sender nothing but us the memory. When all
    places are taken, the read that has waited longest is timed out in favour of the new one: an
    honest probe's message is never unfinished for long.
    """

    def __init__(self) -> None:
        self._waiting: dict[asyncio.Timeout, None] = {}
        self._stopping = False

    async def read_next(self, kind: type[M], context: GrpcContext) -> M | None:
        """The next message; None at the end of the stream. Raises Unavailable when timed out."""
        # A call may have come in before the stop, and begin to read after it.
        if self._stopping:
            raise Unavailable("the server is stopping")
        try:
            async with asyncio.timeout(_ANONYMOUS_SECONDS) as deadline:
                raw = await self._read_in_turn(context, deadline)
        except TimeoutError:
            raise Unavailable("the message did not come in time") from None
        if raw is grpc.aio.EOF:
            return None
        return _parse(kind, raw, _ANONYMOUS_BYTES_MAX)

    def stop(self) -> None:
        """Time out every read, and refuse new ones: they would keep the server from stopping."""
        self._stopping = True
        for deadline in [*self._waiting]:
            self._time_out(deadline)

    def _time_out(self, deadline: asyncio.Timeout) -> None:
        del self._waiting[deadline]
        deadline.reschedule(asyncio.get_running_loop().time())

    async def _read_in_turn(self, context: GrpcContext, deadline: asyncio.Timeout) -> Any:
        # A dict keeps the order of insertion, so its first key is the longest wait.
        if len(self._waiting) >= ANONYMOUS_READS_MAX:
            self._time_out(next(iter(self._waiting)))
        self._waiting[deadline] = None
        try:
            return await context.read()
        finally:
            self._waiting.pop(deadline, None)


def _parse(kind: type[M], raw: bytes, bytes_max: int) -> M:
    if len(raw) > bytes_max:
        raise LimitExceeded(f"the message must have at most {bytes_max} bytes")
    try:
        return kind.FromString(raw)
    except DecodeError:
        message = "must be of its type, and nest to 100 levels"
        raise ValidationFailed.for_field("message", message) from None
