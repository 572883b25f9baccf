"""A parsed API call, as REST and gRPC pass it to a handler, and the reply of a handler."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from recollect.http.operation import Envelope, Operation
from recollect.http.pages import RequestedPage, render_list
from recollect.http.services import Services
from recollect.idempotency.ports import KEY_SEPARATOR
from recollect.idempotency.service import IdempotencyService, RecordedAnswer
from recollect.identity.model import Principal
from recollect.identity.requester import Requester
from recollect.kernel.pages import Page

T = TypeVar("T")
Headers = Mapping[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Call:
    """A request that passed every check the API layer makes: identity, syntax, limits, ids.

    A request with an idempotency key has a `reserved_id`. What it creates gets this id. If that
    exists already, an earlier attempt of the same request created it before it was cut off.
    """

    services: Services
    principal: Principal
    requester: Requester | None
    headers: Headers
    path: Mapping[str, str]
    query: Mapping[str, Any]
    page: RequestedPage
    body: Any
    justification: str | None
    envelope: Envelope
    reserved_id: str | None = None

    @property
    def required_requester(self) -> Requester:
        """The requester, which every operation of the memory API has. TypeError elsewhere."""
        if self.requester is None:
            raise TypeError("only operations of the memory family have a requester")
        return self.requester

    @property
    def justified_body(self) -> Any:
        """The body with the justification of the call, which may have come in the query."""
        return self.body.model_copy(update={"justification": self.justification})

    def render_page(
        self, items: Iterable[str], next_cursor: str | None, *, degraded: Sequence[str] = ()
    ) -> bytes:
        """The response body of a list: rendered items in the operation's envelope."""
        echo = self.page.echo
        return render_list(items, next_cursor, envelope=self.envelope, echo=echo, degraded=degraded)


@dataclass(frozen=True, slots=True)
class Reply:
    """A response: a body, or a stream of it. An `endless` stream ends when the server stops."""

    status: int
    body: bytes = b""
    media: bytes = b"application/json"
    headers: tuple[tuple[bytes, bytes], ...] = ()
    stream: AsyncIterator[bytes] | None = None
    endless: bool = False


Handler = Callable[[Call], Awaitable[str | bytes | Reply | None]]


def respond_with(request: Callable[[Call], Awaitable[T]], render: Callable[[T], str]) -> Handler:
    """A handler that makes the request of the service and renders the object that it returns."""

    async def handle(call: Call) -> str:
        return render(await request(call))

    return handle


def respond_with_page(
    request: Callable[[Call], Awaitable[Page[T]]], render: Callable[[T], str]
) -> Handler:
    """A handler that makes the request of the service and renders the page that it returns."""

    async def handle(call: Call) -> bytes:
        page = await request(call)
        return call.render_page(map(render, page.items), page.next_cursor)

    return handle


async def run_idempotent(
    operation: Operation, handler: Handler, call: Call, named: tuple[str, str]
) -> Reply:
    """Run a call under an idempotency key, or return the answer recorded for its first run.

    `named` is the key and the request's fingerprint, by which another request under the same key
    is refused. An operation that only reads is run each time: only its key is claimed.
    """

    async def handle(reserved_id: str) -> RecordedAnswer:
        reply = await run_handler(operation, handler, replace(call, reserved_id=reserved_id))
        return RecordedAnswer(reply.status, reply.body)

    if operation.only_reads:
        async with hold_key(operation, call, named):
            return await run_handler(operation, handler, call)
    answer = await run_once(operation, call, named, handle)
    return Reply(answer.status, answer.body)


def hold_key(
    operation: Operation, call: Call, named: tuple[str, str]
) -> AbstractAsyncContextManager[None]:
    """Claim the key around a call that only reads."""
    key, fingerprint = named
    who, claimed = call.principal.identity, _claimed_key(operation, call.principal, key)
    return call.services[IdempotencyService].hold_key(who, claimed, fingerprint=fingerprint)


def run_once(
    operation: Operation,
    call: Call,
    named: tuple[str, str],
    handle: Callable[[str], Awaitable[RecordedAnswer]],
) -> Awaitable[RecordedAnswer]:
    """Run `handle` with the reserved id, or get the answer recorded for its first run."""
    key, fingerprint = named
    who, claimed = call.principal.identity, _claimed_key(operation, call.principal, key)
    return call.services[IdempotencyService].run_once(
        who, claimed, fingerprint=fingerprint, handle=handle
    )


def _claimed_key(operation: Operation, principal: Principal, key: str) -> str:
    """The key as it is claimed. In the memory API it is the caller's for all operations. In the
    conversation API it is that of one client and operation: the clients of a user don't know of
    each other's keys."""
    if operation.is_strict:
        return key
    return KEY_SEPARATOR.join((operation.name, principal.client_id or "", key))


async def run_handler(operation: Operation, handler: Handler, call: Call) -> Reply:
    """Run a handler. It returns the body of a success, or a complete reply."""
    answered = await handler(call)
    if isinstance(answered, Reply):
        return answered
    body = answered.encode() if isinstance(answered, str) else answered or b""
    return Reply(operation.success, body)
