"""Sends requests: credentials, keys for repeats, retries, errors, pages."""

import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Protocol

from recollect_client._async.waiting import asleep
from recollect_client.errors import (
    NOT_CONNECTED,
    NotFound,
    RecollectError,
    ServerUnreachable,
    error_from,
    read_answer,
)
from recollect_client.retries import RetryPolicy, is_safe_to_repeat, is_worth_another_try
from recollect_client.values import (
    JSON_MEDIA,
    KEY_HEADER,
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

    @property
    def may_lose_answers(self) -> bool:
        """Can a request be carried out, and its answer never arrive?"""
        ...

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
        return read_answer(response, operation.response)

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
        if operation.takes_key and self.transport.may_lose_answers:
            headers[KEY_HEADER] = str(uuid.uuid4())
        raw = body if body is not None else json_body(operation, arguments)
        if raw:
            headers["content-type"] = media
        query = {
            wire: arguments[name] for name, wire in operation.query.items() if name in arguments
        }
        path = fill_path(operation.path, ids)
        return Request(operation.method, path, encode_query(query), headers, raw)

    async def send_until_answered(self, operation: Operation, request: Request) -> Response:
        """The answer of the first attempt that has one."""
        unsure = False
        for pause in chain(self.retries.pauses(), [None]):
            try:
                response = await self.transport.send(request)
            except ServerUnreachable as error:
                if pause is None or not is_safe_to_repeat(operation, request, error):
                    raise
                unsure = unsure or error.code != NOT_CONNECTED
                await asleep(pause)
                continue
            if response.is_success:
                return response
            refusal = error_from(response)
            if unsure and operation.method == "DELETE" and is_gone(refusal):
                # The attempt whose answer was lost has deleted it.
                return Response(204, {}, b"")
            may_be_done = self.transport.may_lose_answers
            passes = is_worth_another_try(operation, request, response, may_be_done=may_be_done)
            asked_for = refusal.retry_after_seconds or 0
            if pause is None or not passes or asked_for > self.retries.retry_after_seconds_max:
                raise refusal
            unsure = unsure or response.status in (502, 503, 504)
            await asleep(max(pause, asked_for))
        raise AssertionError("the last attempt returns or raises")


def is_gone(refusal: RecollectError) -> bool:
    """Does Recollect say that there is no such thing, and not something else in between?"""
    return isinstance(refusal, NotFound) and bool(refusal.code)


def next_cursor(page: Any) -> str | None:
    """The cursor of the next page, under whichever name this list has it."""
    for name in _CURSORS:
        value = getattr(page, name, None)
        if value is not None:
            return str(value)
    return None
