"""The services of a running server behind the same calls as REST: no wire, and no adapter's code
between a call and the service."""

import asyncio
import json
import re
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from recollect.app.application import App
from recollect.audit.event_recorder import AuditName
from recollect.audit.gate import GateService
from recollect.audit.model import EventKind
from recollect.conversations.operations import OPERATIONS
from recollect.http.errors import error_body, http_headers, http_status
from recollect.http.operation import Operation
from recollect.identity.actions import Action
from recollect.identity.model import Principal
from recollect.kernel.errors import RecollectError
from recollect.kernel.ids import parse_uuid
from tests.support.api import ROUTES, Credentials, Reply, RestApi, headers_of
from tests.support.services.admin_calls import ADMIN_CALLS
from tests.support.services.arguments import CallArguments, Inexpressible, SentFields, as_value
from tests.support.services.calls import USER_CALLS, ServiceCall

TIMEOUT_SECONDS = 60
SERVICE_CALLS: dict[str, ServiceCall] = USER_CALLS | ADMIN_CALLS
_KINDS = {Action.ADMIN_READ: EventKind.ADMIN_READ, Action.ADMIN_WRITE: EventKind.ADMIN_WRITE}
_ROWS = {(row.method, re.sub(r"{\w+}", "{}", row.path)): row for row in OPERATIONS}
ROW_OF: dict[str, Operation] = {
    name: _ROWS[method, f"/v1{path}"] for name, (method, path) in ROUTES.items()
}

T = TypeVar("T")


class ServiceApi(RestApi):
    """The services, called on the server's event loop. REST itself is called for what is no
    service's business: `health`, whose answer is the adapter's own; members and parameters that
    nobody knows or that have another name; whatever no argument can hold (other types, too long or
    too many, words in another letter case, ids that are none); an eviction as a stream."""

    def __init__(self, url: str, app: App, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(url)
        self._app = app
        self._loop = loop

    def call(
        self,
        operation: str,
        credentials: Credentials,
        ids: tuple[str, ...] = (),
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
    ) -> Reply:
        """Call one operation by its service."""
        row = ROW_OF[operation]
        try:
            return self._run(self._answer(row, credentials, ids, query=query or {}, body=body))
        except Inexpressible:
            return super().call(operation, credentials, ids, query=query, body=body)
        except RecollectError as error:
            return refusal_of(error)

    async def _answer(
        self,
        row: Operation,
        credentials: Credentials,
        ids: tuple[str, ...],
        *,
        query: Mapping[str, Any],
        body: Any,
    ) -> Reply:
        """Who calls, what the call always needs, what it asks for: nothing is stored before."""
        call = call_of(row, query, body)
        asked = self._asked(row, await self._principal(credentials), ids, query=query, body=body)
        await self._pass_gate(asked)
        rendered = await call(asked)
        return Reply(row.success, None if rendered is None else json.loads(rendered), {})

    async def _principal(self, credentials: Credentials) -> Principal:
        headers = headers_of(credentials)
        return await self._app.authenticator.authenticate(
            authorization=headers.get("Authorization"),
            api_key=headers.get("X-API-Key"),
            requester_id=headers.get("X-Requester-Id"),
        )

    def _asked(
        self,
        row: Operation,
        principal: Principal,
        ids: tuple[str, ...],
        *,
        query: Mapping[str, Any],
        body: Any,
    ) -> CallArguments:
        value = as_value(body)
        return CallArguments(
            operation=row,
            services=self._app.services,
            principal=principal,
            ids=dict(zip(re.findall(r"{(\w+)}", row.path), ids, strict=True)),
            query=SentFields(query),
            listed=value if isinstance(value, list) else [],
            body=SentFields(value if isinstance(value, dict) else {}),
        )

    async def _pass_gate(self, asked: CallArguments) -> None:
        row = asked.operation
        if row.action is None:
            return
        await self._app.services[GateService].admit(
            asked.principal,
            row.action,
            audit=AuditName(_KINDS[row.action], row.audit) if row.audit else None,
            conversation_id=parse_uuid(asked.ids.get("id", "")),
            justification=asked.justification,
        )

    def _run(self, answer: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(answer, self._loop).result(TIMEOUT_SECONDS)


def call_of(row: Operation, query: Mapping[str, Any], body: Any) -> ServiceCall:
    """The service's side of an operation, if all that was sent is known there."""
    call = SERVICE_CALLS.get(row.name)
    if call is None or set(query) - _parameters(row) or None in query.values():
        raise Inexpressible
    if row.body is None or (body is None and row.body.optional):
        return call
    if not isinstance(body, list if row.body.listed else dict):
        raise Inexpressible
    if isinstance(body, dict) and set(body) - _members(row):
        raise Inexpressible
    return call


def refusal_of(error: RecollectError) -> Reply:
    """An error as REST shows it."""
    headers = {name.decode(): value.decode() for name, value in http_headers(error)}
    return Reply(http_status(error), error_body(error, "none"), headers)


def _parameters(row: Operation) -> set[str]:
    names = {param.name for param in row.query}
    names |= {"justification"} if row.takes_justification else set()
    if row.paging is None or row.paging.search:
        return names
    return names | {"limit", row.paging.envelope.cursor_names[0]}


def _members(row: Operation) -> set[str]:
    """The proper names of a body's members: `afterCursor` is another one of `after`."""
    fields = row.body.model_fields.values() if row.body else ()
    return {str(field.alias) for field in fields} - {"afterCursor"}
