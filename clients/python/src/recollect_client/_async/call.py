"""Sends requests: credentials, keys for repeats, retries, errors, pages."""

import json
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from recollect_client._async.waiting import asleep
from recollect_client.errors import (
    NOT_CONNECTED,
    NotFound,
    RecollectError,
    ServerUnreachable,
    error_from,
)
from recollect_client.retries import RetryPolicy, is_safe_to_repeat, is_worth_another_try
from recollect_client.values import (
    JSON_MEDIA,
    Operation,
    Request,
    Response,
    check_names,
    encode_query,
    fill_path,
    json_body,
)

_CURSORS = ("next_cursor", "nextCursor", "cursor")


class AsyncStream(Protocol):
    """An answer that comes in pieces."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    def pieces(self) -> AsyncIterator[bytes]:
        """The bytes, as they come."""
        ...


class AsyncTransport(Protocol):
    """The way to a server, or to a system in this process."""

    async def send(self, request: Request) -> Response:
        """The whole answer. ServerUnreachable if there is none."""
        ...

    def stream(
        self, request: Request, body: AsyncIterator[bytes] | None = None
    ) -> AbstractAsyncContextManager[AsyncStream]:
        """The answer piece by piece; the body may come in pieces too."""
        ...

    async def aclose(self) -> None:
        """Close connections. A second call does nothing."""
        ...


@dataclass(frozen=True, slots=True)
class AsyncCaller:
    """Calls operations as one requester; None leaves it to the credential who that is."""

    transport: AsyncTransport
    headers: Mapping[str, str]
    retries: RetryPolicy
    requester: str | None = None

    def acting_as(self, requester: str | None) -> "AsyncCaller":
        """The same way to the server, for another requester."""
        return replace(self, requester=requester)

    async def call(
        self, operation: Operation, ids: Mapping[str, str], arguments: Mapping[str, Any]
    ) -> Any:
        """Call an operation, as often as that is safe, and read its answer."""
        request = self.request(operation, ids, arguments)
        response = await self.send_until_answered(operation, request)
        if operation.response is None or not response.body:
            return None
        return operation.response.model_validate(json.loads(response.body))

    async def iterate(
        self, operation: Operation, ids: Mapping[str, str], arguments: Mapping[str, Any]
    ) -> AsyncIterator[Any]:
        """The items of all pages of a list. A page is asked for when it is needed."""
        asked = dict(arguments)
        while True:
            page = await self.call(operation, ids, asked)
            for item in page.data:
                yield item
            cursor = next_cursor(page)
            if cursor is None:
                return
            asked["after" if "after" in operation.argument_names else "cursor"] = cursor

    def request(
        self,
        operation: Operation,
        ids: Mapping[str, str],
        arguments: Mapping[str, Any],
        *,
        body: bytes | None = None,
        media: str = JSON_MEDIA,
    ) -> Request:
        """The request of an operation, with credentials and a key under which it can be repeated.
        A `body` is sent as it is."""
        check_names(operation, arguments)
        headers = dict(self.headers)
        if self.requester is not None:
            headers["x-requester-id"] = self.requester
        if operation.takes_key:
            headers["idempotency-key"] = str(uuid.uuid4())
        raw = body if body is not None else json_body(operation, arguments)
        if raw:
            headers["content-type"] = media
        query = {
            wire: arguments[name] for name, wire in operation.query.items() if name in arguments
        }
        path = fill_path(operation.path, ids)
        return Request(operation.method, path, encode_query(query), headers, raw)

    async def send_until_answered(self, operation: Operation, request: Request) -> Response:
        unsure = False
        for pause in [*self.retries.pauses(), None]:
            try:
                response = await self.transport.send(request)
            except ServerUnreachable as error:
                if pause is None or not is_safe_to_repeat(operation, error):
                    raise
                unsure = unsure or error.code != NOT_CONNECTED
                await asleep(pause)
                continue
            if response.is_success:
                return response
            refusal = error_from(response)
            if unsure and operation.method == "DELETE" and isinstance(refusal, NotFound):
                # The attempt whose answer was lost has deleted it.
                return Response(204, {}, b"")
            if pause is None or not is_worth_another_try(operation, response):
                raise refusal
            unsure = unsure or response.status in (502, 504)
            await asleep(max(pause, refusal.retry_after_seconds or 0))
        raise AssertionError("the last attempt returns or raises")


def next_cursor(page: Any) -> str | None:
    """The cursor of the next page, under whichever name this list has it."""
    for name in _CURSORS:
        value = getattr(page, name, None)
        if value is not None:
            return str(value)
    return None


def refuse_stream(status: int, headers: Mapping[str, str], body: bytes) -> RecollectError:
    """The error of a stream that did not begin."""
    return error_from(Response(status, headers, body))
