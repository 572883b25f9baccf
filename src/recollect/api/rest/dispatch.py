"""Runs the checks of a REST request in one order for all operations, then its handler.

The order: authentication, the action that the operation always needs, syntax and limits, ids in
the path. Everything else is checked by the services.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from recollect.agents.requesters import RequesterLookup
from recollect.api.rest import jsonl_body
from recollect.api.rest import request as wire
from recollect.api.rest.middleware import HttpRequest
from recollect.audit.event_recorder import AuditName
from recollect.audit.gate import GateService
from recollect.audit.model import JUSTIFICATION_CHARS_MAX, EventKind, none_if_blank
from recollect.http import pages, paths, validation
from recollect.http.call import Call, Handler, Reply, run_handler, run_idempotent
from recollect.http.operation import PLAIN_TEXT, Envelope, Operation
from recollect.http.pages import RequestedPage
from recollect.http.services import Services
from recollect.idempotency.service import request_fingerprint
from recollect.identity.actions import Action
from recollect.identity.model import Principal
from recollect.identity.ports import Authenticator
from recollect.kernel.errors import RecollectError, ValidationFailed
from recollect.kernel.ids import parse_uuid
from recollect.kernel.strict_json import canonical_bytes, check_text, dump

T = TypeVar("T")
_LARGE_BODY_BYTES = 64 * 1024
_FIRST_PAGE = RequestedPage(None, None, echo=False)
_EVENT_KINDS = {Action.ADMIN_READ: EventKind.ADMIN_READ, Action.ADMIN_WRITE: EventKind.ADMIN_WRITE}


class RestDispatch:
    """Takes a request through the checks to its operation's handler."""

    def __init__(
        self, services: Services, authenticator: Authenticator, *, emit_after_cursor: bool
    ) -> None:
        self._services = services
        self._authenticator = authenticator
        self._emit_after_cursor = emit_after_cursor

    async def handle(self, operation: Operation, handler: Handler, request: HttpRequest) -> Reply:
        """Run an operation. The order of the steps decides which error a bad request gets."""
        # Each step may rely on those before it, and a request with several faults gets the error of
        # the first. The caller comes first, from headers alone: an unknown one must not make us
        # read a body. Rights come before syntax: who may not call the operation gets 403, whatever
        # the body is. `_build_call` reads the ids of the path last, so a bad body is 400 although
        # the id in the path is none. Whether the thing exists and the caller may touch it is asked
        # of the database, in the service's transaction: an answer from before it could be outdated.
        # The requester is looked up last, because that may write: it stores an unknown user. An
        # idempotency key is claimed only for a request that passed all of this, so that one with
        # bad syntax does not use it up.
        principal = await self._authenticate(request)
        parameters = wire.parse_query_string(request.scope["query_string"])
        raw = await self._admit_and_read(operation, principal, request, parameters)
        body = await _parse_body(operation, request, raw)
        call = self._build_call(operation, principal, request, parameters, body)
        if operation.is_strict:
            requester = await self._services[RequesterLookup].resolve(
                principal, introduce=operation.introduces
            )
            call = replace(call, requester=requester)
        if operation.takes_idempotency_key and b"idempotency-key" in request.headers:
            key = wire.read_idempotency_key(request.scope["headers"])
            fingerprint = await _fingerprint(operation, request, raw)
            return await run_idempotent(operation, handler, call, (key, fingerprint))
        return await run_handler(operation, handler, call)

    async def _authenticate(self, request: HttpRequest) -> Principal:
        headers = request.headers
        # Headers came as a list and were made a dict: fewer items mean that a name came twice.
        if len(headers) != len(request.scope["headers"]):
            wire.refuse_doubled_credentials(request.scope["headers"])
        return await self._authenticator.authenticate(
            authorization=wire.read_credential(headers, b"authorization"),
            api_key=wire.read_credential(headers, b"x-api-key"),
            requester_id=wire.read_credential(headers, b"x-requester-id"),
            address=(request.scope.get("client") or (None,))[0],
        )

    async def _admit_and_read(
        self,
        operation: Operation,
        principal: Principal,
        request: HttpRequest,
        parameters: validation.Parameters,
    ) -> bytes:
        """Check the operation's action, and read the raw body.

        The refusal of an admin call is written to the audit log with its justification, and that
        may be in the body. So for those calls the body is read first, and an error of reading it
        (too large, wrong media type) is raised only after the check.
        """
        if not operation.takes_justification:
            await self._pass_gate(operation, principal, request, None)
            return await _read_raw_body(operation, request)
        raw: bytes | RecollectError
        try:
            raw = await _read_raw_body(operation, request)
        except RecollectError as error:
            raw = error
        peeked = await _off_loop_if_large(
            raw if isinstance(raw, bytes) else b"",
            partial(_peek_justification, operation, parameters),
        )
        await self._pass_gate(operation, principal, request, peeked)
        if isinstance(raw, RecollectError):
            raise raw
        return raw

    async def _pass_gate(
        self,
        operation: Operation,
        principal: Principal,
        request: HttpRequest,
        justification: str | None,
    ) -> None:
        if operation.action is None:
            return
        await self._services[GateService].admit(
            principal,
            operation.action,
            audit=_audit_name(operation),
            conversation_id=parse_uuid(request.scope["path_params"].get("id", "")),
            justification=justification,
        )

    def _build_call(
        self,
        operation: Operation,
        principal: Principal,
        request: HttpRequest,
        parameters: validation.Parameters,
        body: Any,
    ) -> Call:
        if operation.is_strict:
            validation.refuse_unknown_parameters(parameters, _known_parameters(operation))
        query = validation.read_parameters(parameters, operation.query) if operation.query else {}
        page = self._parse_page(operation, parameters, body)
        justification = (
            _read_justification(parameters, body) if operation.takes_justification else None
        )
        path = request.scope["path_params"]
        if operation.is_strict:
            paths.check_path(path, new=operation.new_id_param)
        else:
            paths.check_user(path)
            path = paths.parse_path_ids(path)
        return Call(
            services=self._services,
            principal=principal,
            requester=None,
            headers=request.headers,
            path=path,
            query=query,
            page=page,
            body=body,
            justification=justification,
            envelope=operation.paging.envelope if operation.paging else Envelope.A,
        )

    def _parse_page(
        self, operation: Operation, parameters: validation.Parameters, body: Any
    ) -> RequestedPage:
        if operation.paging is None:
            return _FIRST_PAGE
        if operation.paging.search:
            return pages.parse_search_page(body, echo=self._emit_after_cursor)
        return pages.parse_page(parameters, operation.paging, echo=self._emit_after_cursor)


async def _fingerprint(operation: Operation, request: HttpRequest, raw: bytes) -> str:
    """A hash of the request. JSON bodies are compared by value, JSON lines byte by byte."""
    ids = dump(request.scope["path_params"]).encode(errors="replace")
    content = (
        raw
        if operation.takes == jsonl_body.NDJSON_MEDIA
        else await _off_loop_if_large(raw, canonical_bytes)
    )
    return request_fingerprint(operation.name.encode(), ids, request.scope["query_string"], content)


def _known_parameters(operation: Operation) -> list[str]:
    names = [param.name for param in operation.query]
    names += ["after", "limit"] if operation.paging and not operation.paging.search else []
    return [*names, "justification"] if operation.takes_justification else names


async def _read_raw_body(operation: Operation, request: HttpRequest) -> bytes:
    """The raw body. JSON lines are left to the handler, which reads them as they arrive; with an
    idempotency key the whole body is needed here, for the fingerprint."""
    if operation.takes == jsonl_body.NDJSON_MEDIA and b"idempotency-key" in request.headers:
        return await jsonl_body.read_whole(request.receive, request.headers)
    if operation.body is None:
        return b""
    return await wire.read_body(request.receive, request.headers)


async def _parse_body(operation: Operation, request: HttpRequest, raw: bytes) -> Any:
    if operation.takes == PLAIN_TEXT:
        return jsonl_body.read_text_chunks(request.receive, request.headers)
    if operation.takes == jsonl_body.NDJSON_MEDIA:
        return (
            jsonl_body.split_lines(raw)
            if raw
            else jsonl_body.read_lines(request.receive, request.headers)
        )
    if operation.body is None:
        return None
    return await _off_loop_if_large(raw, partial(wire.parse_body, model=operation.body))


async def _off_loop_if_large(raw: bytes, read: Callable[[bytes], T]) -> T:
    """Parse a large body on a thread: it may take seconds, and other requests would wait."""
    if len(raw) > _LARGE_BODY_BYTES:
        return await asyncio.to_thread(read, raw)
    return read(raw)


def _audit_name(operation: Operation) -> AuditName | None:
    if operation.audit is None or operation.action is None:
        return None
    return AuditName(_EVENT_KINDS[operation.action], operation.audit)


def _peek_justification(
    operation: Operation, parameters: validation.Parameters, raw: bytes
) -> str | None:
    """The justification for the audit log, from a body that is not validated yet.

    NUL is removed and the text is cut, so that it can be stored whatever was sent.
    """
    given = [*parameters.get("justification", ())]
    if operation.body is not None:
        given.append(wire.peek_field(raw, "justification", operation.body) or "")
    text = next((text for text in given if none_if_blank(text)), "")
    return none_if_blank(text.replace("\x00", "")[:JUSTIFICATION_CHARS_MAX])


def _read_justification(parameters: validation.Parameters, body: Any) -> str | None:
    sent = {*parameters.get("justification", ()), body.justification or ""}
    given = {text for text in sent if none_if_blank(text)}
    if len(given) > 1:
        raise ValidationFailed.for_field(
            "justification", "must not be given twice with different values"
        )
    text = "".join(given)
    if len(text) > JUSTIFICATION_CHARS_MAX:
        message = f"must have at most {JUSTIFICATION_CHARS_MAX} characters"
        raise ValidationFailed.for_field("justification", message)
    check_text(text, "justification")
    return text or None
