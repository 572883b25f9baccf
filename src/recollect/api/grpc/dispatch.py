"""The order of checks over gRPC, the same as over REST: who calls, what the operation always
needs, syntax and limits, ids. What comes after is the services' business."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import Message

from recollect.api.grpc.frame import Context, Unreadable, readable
from recollect.api.grpc.generated.memory_service_pb2 import PageRequest
from recollect.api.grpc.status import Trailers
from recollect.api.operation import Envelope, Operation
from recollect.api.operations import OPERATIONS
from recollect.api.rest import wire
from recollect.api.rest.dispatch import Call
from recollect.api.rest.wire import PageAsked
from recollect.domain import jsontext
from recollect.errors import Unauthenticated
from recollect.policy.actions import Action
from recollect.policy.principals import Principal
from recollect.ports.identity import Authenticator
from recollect.services.bundle import Services

_CREDENTIALS = ("authorization", "x-api-key", "x-requester-id")
_OPERATION_OF = {operation.name: operation for operation in OPERATIONS}
_FIRST_PAGE = PageAsked(None, None, echo=False)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a message asks for, in the words of REST: ids of the path, parameters of the query, and
    the body as a JSON value. None and empty texts count as absent."""

    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    after: str = ""
    limit: int = 0

    @classmethod
    def page(
        cls,
        page: PageRequest,
        *,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> "Asked":
        """A page of a list; a size of 0 is the list's own."""
        return cls(path or {}, query or {}, after=page.page_token, limit=page.page_size)


@dataclass(frozen=True, slots=True)
class Told:
    """An answer with trailing metadata."""

    message: Message
    trailers: Trailers


Handle = Callable[[Call], Awaitable[Message | Told]]


@dataclass(frozen=True, slots=True)
class Method:
    """One method: the operation it is another way to, how its message is read, what answers it.
    `action` is needed over gRPC in any case, in place of the operation's own."""

    operation: Operation
    ask: Callable[[Any], Asked]
    handle: Handle
    action: Action | None = None


def method(
    name: str,
    ask: Callable[[Any], Asked],
    handle: Handle,
    action: Action | None = None,
) -> Method:
    """Another way to the operation of this name."""
    return Method(_OPERATION_OF[name], ask, handle, action)


class Dispatch:
    """Takes a message to the handler of its method, through the checks."""

    def __init__(self, services: Services, authenticator: Authenticator) -> None:
        self.services = services
        self._authenticator = authenticator

    async def answer(
        self, method: Method, message: Message | Unreadable, context: Context
    ) -> Message:
        """Check, call."""
        principal = await self.authenticate(context)
        await self._admit(method, principal)
        call = self._call(method, principal, method.ask(readable(message)))
        answered = await method.handle(call)
        if isinstance(answered, Message):
            return answered
        context.set_trailing_metadata(answered.trailers)
        return answered.message

    async def authenticate(self, context: Context) -> Principal:
        """Who calls. There is no Host to check as over REST: no web page can speak this protocol,
        so none can be tricked into calling a server on the loopback."""
        given: dict[str, str] = {}
        for name, value in context.invocation_metadata() or ():
            if name in _CREDENTIALS:
                if name in given:
                    raise Unauthenticated(f"{name} was sent more than once")
                given[name] = value if isinstance(value, str) else value.decode("utf-8", "replace")
        return await self._authenticator.authenticate(
            authorization=given.get("authorization"),
            api_key=given.get("x-api-key"),
            requester_id=given.get("x-requester-id"),
        )

    async def _admit(self, method: Method, principal: Principal) -> None:
        action = method.action or method.operation.action
        if action is not None:
            await self.services.gate.admit(
                principal, action, audit=None, conversation_id=None, justification=None
            )

    def _call(self, method: Method, principal: Principal, asked: Asked) -> Call:
        operation = method.operation
        body = _body(operation, asked)
        return Call(
            services=self.services,
            principal=principal,
            requester=None,
            headers={},
            path=asked.path,
            query=_query(operation, asked),
            page=_page(operation, asked, body),
            body=body,
            justification=None,
            envelope=Envelope.A,
        )


def _query(operation: Operation, asked: Asked) -> dict[str, Any]:
    given = {name: [text] for name, text in asked.query.items() if text}
    return wire.from_query(given, operation.query)


def _page(operation: Operation, asked: Asked, body: Any) -> PageAsked:
    if operation.paging is None:
        return _FIRST_PAGE
    if operation.paging.search:
        return wire.from_search_body(body, echo=False)
    given = {"limit": [str(asked.limit)]} if asked.limit else {}
    given |= {operation.paging.envelope.cursor_names[0]: [asked.after]} if asked.after else {}
    return wire.from_paging(given, operation.paging, echo=False)


def _body(operation: Operation, asked: Asked) -> Any:
    if operation.body is None:
        return None
    jsontext.check_value(asked.body, queries=operation.body.queries)
    return wire.from_value(asked.body, operation.body)
