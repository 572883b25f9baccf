"""Runs the checks of a gRPC call in the same order as REST does, then its handler.

The order: authentication, the action that the operation always needs, syntax and limits, ids.
Everything else is checked by the services.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from google.protobuf.message import Message

from recollect.api import inputs, pages, paths
from recollect.api.calls import Call, Handler, Reply, run_handler, run_idempotent
from recollect.api.grpc.encoding import EncodedMessage
from recollect.api.grpc.frame import GrpcContext
from recollect.api.grpc.generated.memory_service_pb2 import PageRequest
from recollect.api.grpc.inbox import LARGE_BYTES, RequestReader
from recollect.api.grpc.json_messages import refuse_unknown_fields
from recollect.api.grpc.status import Trailers
from recollect.api.operation import Envelope, Operation
from recollect.api.operations import OPERATIONS
from recollect.api.pages import RequestedPage
from recollect.domain import jsontext
from recollect.errors import Unauthenticated, ValidationFailed
from recollect.policy.actions import Action
from recollect.policy.principals import Principal
from recollect.ports.identity import Authenticator
from recollect.services.bundle import Services
from recollect.services.idempotency import check_key, request_fingerprint

T = TypeVar("T")
_CREDENTIALS = ("authorization", "x-api-key", "x-requester-id")
_OPERATIONS_BY_NAME = {operation.name: operation for operation in OPERATIONS}
_FIRST_PAGE = RequestedPage(None, None, echo=False)


@dataclass(frozen=True, slots=True)
class GrpcRequest:
    """A gRPC message translated to REST's terms: path ids, query parameters and a JSON body.

    Empty query texts count as absent. A limit of None means the list's default; so does 0 in the
    conversation API.
    """

    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str | list[str]] = field(default_factory=dict)
    body: Any = None
    after: str = ""
    limit: int | None = None

    @classmethod
    def for_page(
        cls,
        page: PageRequest,
        *,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, str | list[str]] | None = None,
    ) -> "GrpcRequest":
        """The request for a page of a list."""
        return cls(path or {}, query or {}, after=page.page_token, limit=page.page_size or None)


@dataclass(frozen=True, slots=True)
class MemoryGrpcMethod:
    """A gRPC method of the memory API. It shares REST's handler.

    `ask` translates the message to REST's terms, `tell` the handler's JSON to a message.
    """

    operation: Operation
    handler: Handler
    ask: Callable[[Any], GrpcRequest]
    tell: Callable[[Any], Message]


@dataclass(frozen=True, slots=True)
class DeferredReply:
    """A reply that is built later by `tell`, because a large one must be built on a thread.

    `size` is about its size in bytes, `trailers` its trailing metadata.
    """

    tell: Callable[[], Message]
    size: int
    trailers: Trailers = ()


GrpcHandler = Callable[[Call], Awaitable[Message | DeferredReply]]


@dataclass(frozen=True, slots=True)
class GrpcMethod:
    """A gRPC method of the conversation API: its REST operation, how its message is translated, and
    its handler. `action` replaces the operation's own required action over gRPC."""

    operation: Operation
    ask: Callable[[Any], GrpcRequest]
    handle: GrpcHandler
    action: Action | None = None


def grpc_method(
    name: str,
    ask: Callable[[Any], GrpcRequest],
    handle: GrpcHandler,
    action: Action | None = None,
) -> GrpcMethod:
    """The gRPC method for the REST operation of this name."""
    return GrpcMethod(_OPERATIONS_BY_NAME[name], ask, handle, action)


class GrpcDispatch:
    """Takes a call through the checks to its method's handler."""

    def __init__(self, services: Services, authenticator: Authenticator) -> None:
        self.services = services
        self._authenticator = authenticator

    async def handle(
        self, method: GrpcMethod, inbox: RequestReader[Any], context: GrpcContext
    ) -> Message:
        """Run a method of the conversation API."""
        # The message is read only after the caller is known and may call the method at all: an
        # unknown caller must not make us hold megabytes (see `request_reader.py`).
        principal = await self.authenticate(context)
        await self._check_action(method.action or method.operation.action, principal)
        sent = await inbox.read_one()
        call = await self._read_call(method, principal, sent, large=inbox.large)
        answered = await method.handle(call)
        if isinstance(answered, Message):
            return answered
        if answered.trailers:
            context.set_trailing_metadata(answered.trailers)
        return await _build_reply(answered)

    async def handle_memory(
        self, method: MemoryGrpcMethod, inbox: RequestReader[Any], context: GrpcContext
    ) -> Message:
        """Run a method of the memory API, by its strict rules and with idempotency keys."""
        principal = await self.authenticate(context)
        await self._check_action(method.operation.action, principal)
        sent = await inbox.read_one()
        call = await self._read_call(method, principal, sent, large=inbox.large)
        paths.check_path(call.path, new=None)
        requester = await self.services.requesters.resolve(
            principal, introduce=method.operation.introduces
        )
        fingerprint = partial(_fingerprint, method.operation, sent)
        reply = await _run_method(
            method,
            replace(call, requester=requester),
            key=_idempotency_key(context) if method.operation.method == "POST" else None,
            fingerprint=partial(_run_off_loop_if, inbox.large, fingerprint),
        )
        return await _build_reply(
            DeferredReply(partial(_reply_message, method, reply.body), len(reply.body))
        )

    async def authenticate(self, context: GrpcContext) -> Principal:
        """The caller. Raises Unauthenticated.

        Unlike REST there is no Host check: a web page can't open an HTTP/2 connection in the
        clear, so DNS rebinding can't reach this server.
        """
        given: dict[str, str] = {}
        for name, value in context.invocation_metadata() or ():
            if name in _CREDENTIALS:
                if name in given:
                    raise Unauthenticated(f"{name} was sent more than once")
                given[name] = _metadata_text(value)
        return await self._authenticator.authenticate(
            authorization=given.get("authorization"),
            api_key=given.get("x-api-key"),
            requester_id=given.get("x-requester-id"),
        )

    async def _check_action(self, action: Action | None, principal: Principal) -> None:
        if action is not None:
            await self.services.gate.admit(
                principal, action, audit=None, conversation_id=None, justification=None
            )

    async def _read_call(
        self,
        method: GrpcMethod | MemoryGrpcMethod,
        principal: Principal,
        sent: Message,
        *,
        large: bool,
    ) -> Call:
        return await _run_off_loop_if(large, partial(self._parse_call, method, principal, sent))

    def _parse_call(
        self, method: GrpcMethod | MemoryGrpcMethod, principal: Principal, sent: Message
    ) -> Call:
        if isinstance(method, MemoryGrpcMethod):
            refuse_unknown_fields(sent)
        return self._build_call(method.operation, principal, method.ask(sent))

    def _build_call(self, operation: Operation, principal: Principal, asked: GrpcRequest) -> Call:
        body = _parse_body(operation, asked)
        return Call(
            services=self.services,
            principal=principal,
            requester=None,
            headers={},
            path=asked.path,
            query=_parse_query(operation, asked),
            page=_parse_page(operation, asked, body),
            body=body,
            justification=None,
            envelope=operation.paging.envelope if operation.paging else Envelope.A,
        )


async def _run_off_loop_if(large: bool, work: Callable[[], T]) -> T:
    """Run slow work on a thread if its input is large, so that other calls need not wait."""
    return await asyncio.to_thread(work) if large else work()


async def _build_reply(told: DeferredReply) -> Message:
    """Build the reply. A large one is serialized on a thread: gRPC would do it on the loop."""
    if told.size <= LARGE_BYTES:
        return told.tell()
    return await asyncio.to_thread(lambda: EncodedMessage(told.tell().SerializeToString()))


async def _run_method(
    method: MemoryGrpcMethod,
    call: Call,
    *,
    key: str | None,
    fingerprint: Callable[[], Awaitable[str]],
) -> Reply:
    """Run the handler, under the idempotency key if there is one."""
    if key is None:
        return await run_handler(method.operation, method.handler, call)
    named = (key, await fingerprint())
    return await run_idempotent(method.operation, method.handler, call, named)


def _fingerprint(operation: Operation, sent: Message) -> str:
    """A hash of the request, by which another request under the same key is recognized."""
    raw = sent.SerializeToString(deterministic=True)
    return request_fingerprint(operation.name.encode(), b"grpc", raw)


def _reply_message(method: MemoryGrpcMethod, body: bytes) -> Message:
    return method.tell(jsontext.load(body.decode()) if body else {})


def _idempotency_key(context: GrpcContext) -> str | None:
    metadata = context.invocation_metadata() or ()
    keys = {_metadata_text(value) for name, value in metadata if name == "idempotency-key"}
    if len(keys) > 1:
        raise ValidationFailed.for_field(
            "idempotency-key", "must not be sent twice with different values"
        )
    return check_key(keys.pop()) if keys else None


def _metadata_text(value: str | bytes) -> str:
    """A metadata value as text, without the blanks around it, as HTTP/1.1 treats headers."""
    text = value if isinstance(value, str) else value.decode("utf-8", "replace")
    return text.strip(" \t")


def _parse_query(operation: Operation, asked: GrpcRequest) -> dict[str, Any]:
    given = {
        name: [sent] if isinstance(sent, str) else sent
        for name, sent in asked.query.items()
        if sent
    }
    return inputs.read_parameters(given, operation.query)


def _parse_page(operation: Operation, asked: GrpcRequest, body: Any) -> RequestedPage:
    if operation.paging is None:
        return _FIRST_PAGE
    if operation.paging.search:
        return pages.parse_search_page(body, echo=False)
    given = {} if asked.limit is None else {"limit": [str(asked.limit)]}
    given |= {operation.paging.envelope.cursor_names[0]: [asked.after]} if asked.after else {}
    return pages.parse_page(given, operation.paging, echo=False)


def _parse_body(operation: Operation, asked: GrpcRequest) -> Any:
    if operation.body is None:
        return None
    jsontext.check_value(asked.body, queries=operation.body.queries)
    return inputs.validate_body(asked.body, operation.body)
