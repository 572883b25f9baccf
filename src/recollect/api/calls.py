"""A call as every surface hands it to a handler, and the answer that comes of it."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recollect.api.operation import Envelope, Operation
from recollect.api.pages import PageAsked, to_list
from recollect.policy.principals import Principal
from recollect.policy.requesters import Requester
from recollect.services.bundle import Services
from recollect.services.idempotency import Answer

Headers = Mapping[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Call:
    """A request that passed every check an adapter can make.

    With `reserved_id` it may come a second time, after the first was cut off: what it makes gets
    this id, and if it is there already it was made by the first.
    """

    services: Services
    principal: Principal
    requester: Requester | None
    headers: Headers
    path: Mapping[str, str]
    query: Mapping[str, Any]
    page: PageAsked
    body: Any
    justification: str | None
    envelope: Envelope
    reserved_id: str | None = None

    @property
    def asker(self) -> Requester:
        """Who asks of the memory family; looked up before the handler runs."""
        if self.requester is None:
            raise TypeError("only operations of the memory family have a requester")
        return self.requester

    def to_page(
        self, items: Iterable[str], next_cursor: str | None, *, degraded: Sequence[str] = ()
    ) -> bytes:
        """Rendered items in the operation's envelope."""
        echo = self.page.echo
        return to_list(items, next_cursor, envelope=self.envelope, echo=echo, degraded=degraded)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: a body at once, or a stream of it. An `endless` one ends when the server stops."""

    status: int
    body: bytes = b""
    media: bytes = b"application/json"
    headers: tuple[tuple[bytes, bytes], ...] = ()
    stream: AsyncIterator[bytes] | None = None
    endless: bool = False


Handler = Callable[[Call], Awaitable[str | bytes | Reply | None]]


async def once(operation: Operation, handler: Handler, call: Call, named: tuple[str, str]) -> Reply:
    """The answer to a call that may come again under its key: made, or kept from the first time.
    `named` is the key, and what tells another request under it from the first."""

    async def handle(reserved_id: str) -> Answer:
        reply = await handled(operation, handler, replace(call, reserved_id=reserved_id))
        return Answer(reply.status, reply.body)

    key, fingerprint = named
    idempotency = call.services.idempotency
    if operation.only_reads:
        async with idempotency.bound(call.asker.who, key, fingerprint=fingerprint):
            return await handled(operation, handler, call)
    answer = await idempotency.once(call.asker.who, key, fingerprint=fingerprint, handle=handle)
    return Reply(answer.status, answer.body)


async def handled(operation: Operation, handler: Handler, call: Call) -> Reply:
    """The answer of a handler, which gives the body of the success or a whole reply."""
    answered = await handler(call)
    if isinstance(answered, Reply):
        return answered
    body = answered.encode() if isinstance(answered, str) else answered or b""
    return Reply(operation.success, body)
