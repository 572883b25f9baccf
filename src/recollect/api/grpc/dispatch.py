"""Runs the checks of a gRPC call in the same order as REST does, then its handler.

The order: authentication, the action that the operation always needs, syntax and limits, ids.
Everything else is checked by the services.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from google.protobuf.message import Message

from recollect.agents.requesters import RequesterLookup
from recollect.api.grpc.peers import caller_address
from recollect.api.registry import HANDLERS, OPERATIONS
from recollect.audit.gate import GateService
from recollect.http import pages, paths, validation
from recollect.http.call import (
    Call,
    Reply,
    hold_key,
    run_handler,
    run_idempotent,
    run_once,
)
from recollect.http.operation import Envelope, Operation
from recollect.http.pages import RequestedPage
from recollect.http.services import Services
from recollect.idempotency.service import RecordedAnswer, check_key, request_fingerprint
from recollect.identity.actions import Action
from recollect.identity.model import Principal
from recollect.identity.ports import Authenticator
from recollect.kernel import strict_json
from recollect.kernel.errors import Unauthenticated, ValidationFailed
from recollect.rpc.context import GrpcContext
from recollect.rpc.encoding import EncodedMessage
from recollect.rpc.json_messages import refuse_unknown_fields
from recollect.rpc.method import (
    DeferredReply,
    GrpcMethod,
    GrpcRequest,
    MemoryGrpcMethod,
)
from recollect.rpc.recorded_message import record_message, replay_message
from recollect.rpc.request_reader import LARGE_BYTES, RequestReader

T = TypeVar("T")
_CREDENTIALS = ("authorization", "x-api-key", "x-requester-id")
_OPERATIONS_BY_NAME = {operation.name: operation for operation in OPERATIONS}
_FIRST_PAGE = RequestedPage(None, None, echo=False)


class GrpcDispatch:
    """Takes a call through the checks to its method's handler."""

    def __init__(self, services: Services, authenticator: Authenticator) -> None:
        self.services = services
        self._authenticator = authenticator

    async def handle(
        self,
        method: GrpcMethod,
        inbox: RequestReader[Any],
        context: GrpcContext,
        *,
        reply_class: type[Message],
    ) -> Message:
        """Run a method of the conversation API, which replies with a message of this class."""
        # The message is read only after the caller is known and may call the method at all: an
        # unknown caller must not make us hold megabytes (see `rpc/request_reader.py`).
        operation = _OPERATIONS_BY_NAME[method.operation]
        principal = await self.authenticate(context)
        await self._check_action(method.action or operation.action, principal)
        sent = await inbox.read_one()
        call = await self._read_call(method, principal, sent, large=inbox.large)
        key = _idempotency_key(context) if operation.takes_idempotency_key else None
        if key is None:
            return await _run_method(method, call, context)
        work = partial(_fingerprint, operation, sent)
        named = (key, await _run_off_loop_if(inbox.large, work))
        if operation.only_reads:
            async with hold_key(operation, call, named):
                return await _run_method(method, call, context)

        async def handle(reserved_id: str) -> RecordedAnswer:
            reserved = replace(call, reserved_id=reserved_id)
            return record_message(await _run_method(method, reserved, context), reply_class)

        return replay_message(await run_once(operation, call, named, handle))

    async def handle_memory(
        self, method: MemoryGrpcMethod, inbox: RequestReader[Any], context: GrpcContext
    ) -> Message:
        """Run a method of the memory API, by its strict rules and with idempotency keys."""
        operation = _OPERATIONS_BY_NAME[method.operation]
        principal = await self.authenticate(context)
        await self._check_action(operation.action, principal)
        sent = await inbox.read_one()
        call = await self._read_call(method, principal, sent, large=inbox.large)
        paths.check_path(call.path, new=None)
        requester = await self.services[RequesterLookup].resolve(
            principal, introduce=operation.introduces
        )
        fingerprint = partial(_fingerprint, operation, sent)
        reply = await _run_operation(
            operation,
            replace(call, requester=requester),
            key=_idempotency_key(context) if operation.takes_idempotency_key else None,
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
            address=caller_address(context.peer()),
        )

    async def _check_action(self, action: Action | None, principal: Principal) -> None:
        if action is not None:
            await self.services[GateService].admit(
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
        return self._build_call(
            _OPERATIONS_BY_NAME[method.operation], principal, method.parse(sent)
        )

    def _build_call(self, operation: Operation, principal: Principal, request: GrpcRequest) -> Call:
        body = _parse_body(operation, request)
        return Call(
            services=self.services,
            principal=principal,
            requester=None,
            headers={},
            path=request.path,
            query=_parse_query(operation, request),
            page=_parse_page(operation, request, body),
            body=body,
            justification=None,
            envelope=operation.paging.envelope if operation.paging else Envelope.A,
        )


async def _run_off_loop_if(large: bool, work: Callable[[], T]) -> T:
    """Run slow work on a thread if its input is large, so that other calls need not wait."""
    return await asyncio.to_thread(work) if large else work()


async def _run_method(method: GrpcMethod, call: Call, context: GrpcContext) -> Message:
    reply = await method.handle(call)
    if isinstance(reply, Message):
        return reply
    if reply.trailers:
        context.set_trailing_metadata(reply.trailers)
    return await _build_reply(reply)


async def _build_reply(reply: DeferredReply) -> Message:
    """Build the reply. A large one is serialized on a thread: gRPC would do it on the loop."""
    if reply.size <= LARGE_BYTES:
        return reply.build()
    return await asyncio.to_thread(lambda: EncodedMessage(reply.build().SerializeToString()))


async def _run_operation(
    operation: Operation,
    call: Call,
    *,
    key: str | None,
    fingerprint: Callable[[], Awaitable[str]],
) -> Reply:
    """Run the handler, under the idempotency key if there is one."""
    handler = HANDLERS[operation.name]
    if key is None:
        return await run_handler(operation, handler, call)
    named = (key, await fingerprint())
    return await run_idempotent(operation, handler, call, named)


def _fingerprint(operation: Operation, sent: Message) -> str:
    """A hash of the request, by which another request under the same key is recognized."""
    raw = sent.SerializeToString(deterministic=True)
    return request_fingerprint(operation.name.encode(), b"grpc", raw)


def _reply_message(method: MemoryGrpcMethod, body: bytes) -> Message:
    return method.render(strict_json.load(body.decode()) if body else {})


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


def _parse_query(operation: Operation, request: GrpcRequest) -> dict[str, Any]:
    given = {
        name: [sent] if isinstance(sent, str) else sent
        for name, sent in request.query.items()
        if sent
    }
    return validation.read_parameters(given, operation.query)


def _parse_page(operation: Operation, request: GrpcRequest, body: Any) -> RequestedPage:
    if operation.paging is None:
        return _FIRST_PAGE
    if operation.paging.search:
        return pages.parse_search_page(body, echo=False)
    given = {} if request.limit is None else {"limit": [str(request.limit)]}
    given |= {operation.paging.envelope.cursor_names[0]: [request.after]} if request.after else {}
    return pages.parse_page(given, operation.paging, echo=False)


def _parse_body(operation: Operation, request: GrpcRequest) -> Any:
    if operation.body is None:
        return None
    strict_json.check_value(request.body, queries=operation.body.queries)
    return validation.validate_body(request.body, operation.body)
