"""Middleware around every REST request: request id, Host check, errors, log line, metrics.

Plain ASGI without the framework's request objects, because it runs on the hottest routes.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from random import getrandbits
from time import perf_counter

import structlog
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send
from structlog.contextvars import bind_contextvars

from recollect.api.rest.protocol import ENDLESS
from recollect.api.rest.request import ClientGone
from recollect.http.call import Headers, Reply
from recollect.http.errors import (
    error_body,
    http_headers,
    http_status,
    internal_body,
)
from recollect.kernel.errors import Forbidden, RecollectError, Unavailable
from recollect.kernel.strict_json import dump
from recollect.observability.metrics import Metrics
from recollect.observability.request_log import RequestLog
from recollect.observability.tracing import RequestSpan, Tracer

CLIENT_GONE = 499
_WITHOUT_BODY = (204, 304)

_CLOSED = "the handler is closed"
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:-]{1,128}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
log = structlog.get_logger("recollect.rest")


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """An HTTP request as it arrived. Of a repeated header the last value is in `headers`."""

    scope: Scope
    receive: Receive
    headers: Headers
    id: str


RequestHandler = Callable[[HttpRequest], Awaitable[Reply]]


class RestMiddleware:
    """Runs a handler for each request, sends its reply, and logs and measures it."""

    def __init__(self, metrics: Metrics, requests: RequestLog, *, local_mode: bool) -> None:
        self._metrics = metrics
        self._tracer = metrics.tracer
        self._requests = requests
        self._local_mode = local_mode

    async def run(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        route: str,
        answer: RequestHandler,
        strict: bool = False,
    ) -> None:
        """Answer one request. `route` is the path's template, for log and metrics; `strict` renders
        errors as the memory API does."""
        started_at = perf_counter()
        headers = dict(scope["headers"])
        request = HttpRequest(scope, receive, headers, _request_id(headers))
        status = CLIENT_GONE
        traced = None
        if self._tracer is not None:
            traced = _start_span(self._tracer, scope["method"], route, headers)
        # Not unbound at the end: the server runs each request in a context of its own.
        bind_contextvars(request_id=request.id)
        try:
            reply = await self._reply_to(request, answer, strict=strict)
            await _send_reply(reply, request, send)
            status = reply.status
        except (ClientGone, ClientDisconnect, OSError):
            pass
        except RuntimeError as error:
            # uvloop raises this for a connection that closed before uvicorn was told so.
            if _CLOSED not in str(error):
                raise
        finally:
            self._record_request(request, route, status, perf_counter() - started_at)
            if traced is not None:
                traced.end(status)

    async def _reply_to(
        self, request: HttpRequest, answer: RequestHandler, *, strict: bool
    ) -> Reply:
        try:
            if self._local_mode:
                _check_host(request.headers.get(b"host", b""))
            return await answer(request)
        except ClientGone:
            raise
        except asyncio.CancelledError:  # the server stops, and its grace period is over
            stopped = Unavailable("the server stopped before this was answered")
            return _error_reply(stopped, request, strict=strict)
        except RecollectError as error:
            return _error_reply(error, request, strict=strict)
        except Exception:  # the outermost frame: whatever it is, the caller gets an answer
            log.exception("request failed")
            return _to_reply(500, internal_body(request.id))

    def _record_request(
        self, request: HttpRequest, route: str, status: int, seconds: float
    ) -> None:
        sent = request.scope["method"]
        method = sent if sent in _METHODS else "OTHER"
        self._metrics.record_request(method, route, status, seconds)
        self._requests.write(request.id, method=method, route=route, status=status, seconds=seconds)


def _start_span(tracer: Tracer, method: str, route: str, headers: Headers) -> RequestSpan:
    """The span of a request, named after its operation."""
    method = method if method in _METHODS else "OTHER"
    return tracer.start_request(
        f"{method} {route}",
        {"http.request.method": method, "http.route": route},
        ((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers.items()),
    )


def _error_reply(error: RecollectError, request: HttpRequest, *, strict: bool) -> Reply:
    status = http_status(error, strict=strict)
    if status == 500:
        log.error("request failed", exc_info=error)
    body = error_body(error, request.id, strict=strict)
    return _to_reply(status, body, tuple(http_headers(error, strict=strict)))


def _to_reply(
    status: int, body: dict[str, object], headers: tuple[tuple[bytes, bytes], ...] = ()
) -> Reply:
    # The path may contain lone surrogates from the server's decoding, which UTF-8 can't encode.
    return Reply(status, dump(body).encode(errors="replace"), headers=headers)


async def _send_reply(reply: Reply, request: HttpRequest, send: Send) -> None:
    headers = [(b"x-request-id", request.id.encode()), *reply.headers]
    if not any(name == b"cache-control" for name, _ in reply.headers):
        headers.append((b"cache-control", b"no-store"))
    if reply.status not in _WITHOUT_BODY:
        headers.append((b"content-type", reply.media))
    # The hot path sends the two ASGI messages itself; only streams use the framework, which also
    # listens for the client's disconnect.
    if reply.stream is not None and request.scope["method"] != "HEAD":
        request.scope[ENDLESS] = reply.endless
        response = StreamingResponse(reply.stream, reply.status)
        response.raw_headers = headers
        await response(request.scope, request.receive, send)
        return
    if reply.status not in _WITHOUT_BODY and reply.stream is None:
        headers.append((b"content-length", b"%d" % len(reply.body)))
    body = b"" if request.scope["method"] == "HEAD" else reply.body
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _request_id(headers: Headers) -> str:
    sent = headers.get(b"x-request-id")
    if sent is not None and _REQUEST_ID.fullmatch(sent):
        return sent.decode()
    # Unique, not secret: no need to ask the kernel for it on every request.
    return f"{getrandbits(128):032x}"


def _check_host(host: bytes) -> None:
    if not _is_loopback(host):
        # A web page can make its own name point to 127.0.0.1 (DNS rebinding) and then talk to us
        # as if we were its server; the Host header still tells its name.
        raise Forbidden("in local mode the Host must be localhost or a loopback address")


@lru_cache(maxsize=64)
def _is_loopback(host: bytes) -> bool:
    text = host.decode("latin-1").lower()
    name = text[1:].partition("]")[0] if text.startswith("[") else text.partition(":")[0]
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
