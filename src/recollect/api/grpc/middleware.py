"""Middleware around every gRPC call: request id, errors to statuses, log line, metrics."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from random import getrandbits
from time import perf_counter
from typing import NoReturn, TypeVar

import grpc
import structlog
from google.protobuf.message import Message
from structlog.contextvars import bind_contextvars

from recollect.api.grpc.status import describe_error, grpc_status
from recollect.http.errors import http_status
from recollect.kernel.errors import Internal, RecollectError, Unavailable
from recollect.observability.metrics import Metrics
from recollect.observability.request_log import RequestLog
from recollect.observability.tracing import RequestSpan, Tracer
from recollect.rpc.context import GrpcContext
from recollect.rpc.method import Trailers

CLIENT_GONE = 499
METHOD = "GRPC"

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_OK = 200
M = TypeVar("M", bound=Message)
GrpcRefusal = tuple[grpc.StatusCode, str, Trailers]
log = structlog.get_logger("recollect.grpc")


class GrpcMiddleware:
    """Runs calls, turns errors into gRPC statuses, and logs and measures each call."""

    def __init__(self, metrics: Metrics, requests: RequestLog) -> None:
        self.stopping = False
        self._metrics = metrics
        self.tracer = metrics.tracer
        self._requests = requests

    async def run_unary(
        self,
        context: GrpcContext,
        route: str,
        answer: Callable[[], Awaitable[M]],
        *,
        strict: bool = False,
    ) -> M:
        """Run a call that returns one message."""
        record = _CallRecord(self, context, route, strict=strict)
        try:
            reply = await answer()
            record.status = _OK
            return reply
        except BaseException as error:
            refusal = record.build_refusal(error)
            if refusal is None:
                raise
        finally:
            record.close()
        return await _abort(context, refusal)

    async def run_stream(
        self, context: GrpcContext, route: str, answer: AsyncIterator[M], *, strict: bool = False
    ) -> AsyncIterator[M]:
        """Run a call that returns a stream of messages."""
        record = _CallRecord(self, context, route, strict=strict)
        try:
            async for message in answer:
                yield message
            record.status = _OK
            return
        except GeneratorExit:
            raise
        except BaseException as error:
            refusal = record.build_refusal(error)
            if refusal is None:
                raise
        finally:
            record.close()
        await _abort(context, refusal)

    def record_call(self, request_id: str, route: str, status: int, seconds: float) -> None:
        """Write the log line and the metrics of a call."""
        self._metrics.record_request(METHOD, route, status, seconds)
        self._requests.write(request_id, method=METHOD, route=route, status=status, seconds=seconds)


class _CallRecord:
    """A running call: its start, request id and final status, for log and metrics."""

    def __init__(
        self, frame: GrpcMiddleware, context: GrpcContext, route: str, *, strict: bool
    ) -> None:
        self.status = CLIENT_GONE
        self._frame = frame
        self._route = route
        self._strict = strict
        self._started_at = perf_counter()
        self._id = _request_id(context)
        bind_contextvars(request_id=self._id)
        self._span = None
        if frame.tracer is not None:
            self._span = _start_span(frame.tracer, route, context)

    def build_refusal(self, error: BaseException) -> "GrpcRefusal | None":
        """The status, text and trailers to abort the call with; None if the caller is gone."""
        refusal = self._caller_error(error)
        if refusal is None:
            return None
        self.status = http_status(refusal, strict=self._strict)
        if self.status == 500:
            log.error("call failed", exc_info=error)
        text, trailers = describe_error(refusal, self._id, strict=self._strict)
        return grpc_status(refusal, strict=self._strict), text, trailers

    def _caller_error(self, error: BaseException) -> RecollectError | None:
        if isinstance(error, RecollectError):
            return error
        if not isinstance(error, asyncio.CancelledError):
            return Internal("a fault of ours")
        # A cancellation has three causes. Something the handler awaits was cancelled, not the
        # call's own task: the server is stopping, and the caller can still be told. gRPC cancelled
        # the task because the server's grace period is over: gRPC tells the caller, and we record
        # 503. Or gRPC cancelled it because the caller hung up: status 499 stays.
        if not _is_call_ended():
            return Unavailable("the server stopped before this was answered")
        if self._frame.stopping:
            self.status = http_status(Unavailable("the server stops"))
        return None

    def close(self) -> None:
        """Record the call."""
        seconds = perf_counter() - self._started_at
        self._frame.record_call(self._id, self._route, self.status, seconds)
        if self._span is not None:
            self._span.end(self.status)


def _start_span(tracer: Tracer, route: str, context: GrpcContext) -> RequestSpan:
    sent = context.invocation_metadata() or ()
    return tracer.start_request(
        route.removeprefix("/"),
        {"rpc.system": "grpc", "rpc.method": route.removeprefix("/")},
        ((name, value) for name, value in sent if isinstance(value, str)),
    )


async def _abort(context: GrpcContext, refusal: GrpcRefusal) -> NoReturn:
    """Abort the call. Must be called outside of the `except` block of the error.

    `abort` raises. Inside the block its exception would get our error as `__context__`, and keep
    its frames and the message in them alive until the next full garbage collection.
    """
    status, text, trailers = refusal
    await context.abort(status, text, trailers)
    raise RuntimeError("gRPC went on after the end of a call")


def _is_call_ended() -> bool:
    """Has gRPC cancelled the current call's task? The context does not tell.

    It does so when the caller hung up, or when the server stops; then gRPC answers by itself.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _request_id(context: GrpcContext) -> str:
    for name, value in context.invocation_metadata() or ():
        if name == "x-request-id" and isinstance(value, str) and _REQUEST_ID.fullmatch(value):
            return value
    return f"{getrandbits(128):032x}"
