"""What callers send, taken in when somebody asks for it.

gRPC would hold a whole message before anybody looked at who sends it. Not asked for, it stays with
its sender but for what fits into a stream's window. So every method is a stream of messages to
gRPC, also one of a single message: on the wire they are the same.
"""

import asyncio
from functools import partial
from typing import Any, Generic, TypeVar

import grpc
from google.protobuf.message import DecodeError, Message

from recollect.api.grpc.frame import Context
from recollect.api.inputs import BODY_BYTES_MAX
from recollect.errors import LimitExceeded, Unavailable, ValidationFailed

# Up to here a refusal is told in our words; what is larger is not even taken in.
MESSAGE_BYTES_MAX = BODY_BYTES_MAX + 64 * 1024
# What is larger takes its time, which no other call shall wait for: it is worked on in a thread.
LARGE_BYTES = 64 * 1024
STRANGERS_MAX = 16
_STRANGER_BYTES_MAX = 64 * 1024
_STRANGER_SECONDS = 30
_CUT_SECONDS = 10
M = TypeVar("M", bound=Message)


class Inbox(Generic[M]):
    """The messages of one call; is the last of them `large`?"""

    __slots__ = ("_context", "_kind", "large")

    def __init__(self, kind: type[M], context: Context) -> None:
        self.large = False
        self._kind = kind
        self._context = context

    async def one(self) -> M:
        """The message of a call that has one."""
        message = await self.following()
        if message is None:
            raise ValidationFailed.of("message", "must be sent: the call ended without one")
        return message

    async def following(self) -> M | None:
        """The next message; None if the caller ended the stream. What is wrong with it is told in
        our words."""
        raw = await self._context.read()
        if raw is grpc.aio.EOF:
            await self._confirm_end()
            return None
        self.large = len(raw) > LARGE_BYTES
        parse = partial(_parsed, self._kind, raw, BODY_BYTES_MAX)
        return await asyncio.to_thread(parse) if self.large else parse()

    async def _confirm_end(self) -> None:
        """gRPC tells of a broken call, and of a message that it refused, as of an end. But of such
        a call nothing can be sent any more, and whoever works on it is about to be stopped."""
        try:
            await self._context.send_initial_metadata(())
        except grpc.aio.InternalError:
            await asyncio.sleep(_CUT_SECONDS)
            raise Unavailable("the call was cut off") from None


class Strangers:
    """Takes messages of callers who need no credentials, a few at a time: an unfinished one of many
    megabytes costs its sender nothing. Who has been at it longest gives way to who comes."""

    def __init__(self) -> None:
        self._waiting: dict[asyncio.Timeout, None] = {}

    async def following(self, kind: type[M], context: Context) -> M | None:
        """The next message; None at the end of the stream."""
        try:
            async with asyncio.timeout(_STRANGER_SECONDS) as patience:
                raw = await self._read(context, patience)
        except TimeoutError:
            raise Unavailable("the message did not come in time") from None
        if raw is grpc.aio.EOF:
            return None
        return _parsed(kind, raw, _STRANGER_BYTES_MAX)

    def stop(self) -> None:
        """Wait for nobody: that would keep the server from stopping."""
        for patience in [*self._waiting]:
            self._send_away(patience)

    def _send_away(self, patience: asyncio.Timeout) -> None:
        del self._waiting[patience]
        patience.reschedule(asyncio.get_running_loop().time())

    async def _read(self, context: Context, patience: asyncio.Timeout) -> Any:
        if len(self._waiting) >= STRANGERS_MAX:
            self._send_away(next(iter(self._waiting)))
        self._waiting[patience] = None
        try:
            return await context.read()
        finally:
            self._waiting.pop(patience, None)


def _parsed(kind: type[M], raw: bytes, bytes_max: int) -> M:
    if len(raw) > bytes_max:
        raise LimitExceeded(f"the message must have at most {bytes_max} bytes")
    try:
        return kind.FromString(raw)
    except DecodeError:
        message = "must be of its type, and nest to 100 levels"
        raise ValidationFailed.of("message", message) from None
