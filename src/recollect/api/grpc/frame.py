"""The outermost frame of every call: its id, errors made into statuses, one log line and one
measurement."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from random import getrandbits
from time import perf_counter
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import grpc
import structlog
from google.protobuf.message import Message
from structlog.contextvars import bind_contextvars

from recollect.api.errors import http_status
from recollect.api.grpc.status import Trailers, status_of, told
from recollect.errors import Internal, RecollectError, Unavailable
from recollect.ports.metrics import Metrics
from recollect.ports.requests import RequestLog

CLIENT_GONE = 499
METHOD = "GRPC"

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_OK = 200
M = TypeVar("M", bound=Message)
if TYPE_CHECKING:
    Context = grpc.aio.ServicerContext[Any, Any]
else:
    Context = grpc.aio.ServicerContext
Refusal = tuple[grpc.StatusCode, str, Trailers]
log = structlog.get_logger("recollect.grpc")


class Frame:
    """Runs an answer for a call and tells what comes of it."""

    def __init__(self, metrics: Metrics, requests: RequestLog) -> None:
        self.stopping = False
        self._metrics = metrics
        self._requests = requests

    async def run(
        self,
        context: Context,
        route: str,
        answer: Callable[[], Awaitable[M]],
        *,
        strict: bool = False,
    ) -> M:
        """One message for one call."""
        record = _Record(self, context, route, strict=strict)
        try:
            reply = await answer()
            record.status = _OK
            return reply
        except BaseException as error:
            refusal = record.refusal(error)
            if refusal is None:
                raise
        finally:
            record.close()
        return await _abort(context, refusal)

    async def stream(
        self, context: Context, route: str, answer: AsyncIterator[M], *, strict: bool = False
    ) -> AsyncIterator[M]:
        """Messages for one call, until there are no more."""
        record = _Record(self, context, route, strict=strict)
        try:
            async for message in answer:
                yield message
            record.status = _OK
            return
        except GeneratorExit:
            raise
        except BaseException as error:
            refusal = record.refusal(error)
            if refusal is None:
                raise
        finally:
            record.close()
        await _abort(context, refusal)

    def record(self, request_id: str, route: str, status: int, seconds: float) -> None:
        """One line, one measurement."""
        self._metrics.request(METHOD, route, status, seconds)
        self._requests.write(request_id, method=METHOD, route=route, status=status, seconds=seconds)


class _Record:
    """One call under way."""

    def __init__(self, frame: Frame, context: Context, route: str, *, strict: bool) -> None:
        self.status = CLIENT_GONE
        self._frame = frame
        self._context = context
        self._route = route
        self._strict = strict
        self._started_at = perf_counter()
        self._id = _request_id(context)
        bind_contextvars(request_id=self._id)

    def refusal(self, error: BaseException) -> "Refusal | None":
        """What to end the call with; a caller that is gone is told nothing."""
        told_error = self._told(error)
        if told_error is None:
            return None
        self.status = http_status(told_error, strict=self._strict)
        if self.status == 500:
            log.error("call failed", exc_info=error)
        text, trailers = told(told_error, self._id, strict=self._strict)
        return status_of(told_error, strict=self._strict), text, trailers

    def _told(self, error: BaseException) -> RecollectError | None:
        if isinstance(error, RecollectError):
            return error
        if not isinstance(error, asyncio.CancelledError):
            return Internal("a fault of ours")
        if not _is_ended():
            return Unavailable("the server stopped before this was answered")
        if self._frame.stopping:
            self.status = http_status(Unavailable("the server stops"))
        return None

    def close(self) -> None:
        """Write it down."""
        seconds = perf_counter() - self._started_at
        self._frame.record(self._id, self._route, self.status, seconds)


async def _abort(context: Context, refusal: Refusal) -> NoReturn:
    """Outside of the handling of the error: what gRPC raises would otherwise keep that error alive,
    with its frames and the message in them, until the next full collection of garbage."""
    status, text, trailers = refusal
    await context.abort(status, text, trailers)
    raise RuntimeError("gRPC went on after the end of a call")


def _is_ended() -> bool:
    """Has gRPC ended the call under way? The context does not tell. It is the caller who ended it,
    or the server that stops, and then gRPC itself says so."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _request_id(context: Context) -> str:
    for name, value in context.invocation_metadata() or ():
        if name == "x-request-id" and isinstance(value, str) and _REQUEST_ID.fullmatch(value):
            return value
    return f"{getrandbits(128):032x}"
