"""The operations of a running server without a wire: calls are made here and handed to handlers.

So the services are asked with the same commands as over REST and gRPC, and neither dispatch takes
part: what a test of behaviour proves here is no rule of a protocol.
"""

import asyncio
import json
import re
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

import httpx2

from recollect.api.registry import CONVERSATION_OPERATIONS, HANDLERS
from recollect.app.application import App
from recollect.audit.event_recorder import AuditName
from recollect.audit.gate import GateService
from recollect.audit.model import EventKind
from recollect.http import pages, paths, validation
from recollect.http.call import Call, run_handler
from recollect.http.errors import error_body, http_headers, http_status
from recollect.http.operation import Envelope, Operation, OperationFamily
from recollect.http.pages import RequestedPage
from recollect.http.validation import Parameters
from recollect.identity.actions import Action
from recollect.identity.model import Principal
from recollect.kernel import strict_json
from recollect.kernel.errors import RecollectError, ValidationFailed
from recollect.kernel.ids import parse_uuid
from tests.support.api import ROUTES, Credentials, Reply, RestApi, headers_of

TIMEOUT_SECONDS = 60
_KINDS = {Action.ADMIN_READ: EventKind.ADMIN_READ, Action.ADMIN_WRITE: EventKind.ADMIN_WRITE}
_ROWS = {(row.method, re.sub(r"{\w+}", "{}", row.path)): row for row in CONVERSATION_OPERATIONS}
ROW_OF: dict[str, Operation] = {
    name: _ROWS[method, f"/v1{path}"] for name, (method, path) in ROUTES.items()
}
SERVED = frozenset(
    row.name
    for row in CONVERSATION_OPERATIONS
    if row.family is not OperationFamily.SYSTEM and row.takes == row.media == "application/json"
)
"""The operations that are called here: not those of the system, and no streams."""

T = TypeVar("T")


class ServiceApi(RestApi):
    """The handlers, called on the server's event loop. REST itself is called for `health`, and for
    an eviction as a stream."""

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
        """Call one operation by its handler."""
        row = ROW_OF[operation]
        if row.name not in SERVED or (query or {}).get("async"):
            return super().call(operation, credentials, ids, query=query, body=body)
        path = dict(zip(re.findall(r"{(\w+)}", row.path), ids, strict=True))
        sent = httpx2.QueryParams(dict(query or {}))
        parameters = {name: sent.get_list(name) for name in sent}
        try:
            return self._run(self._answer(row, credentials, path, parameters, body))
        except RecollectError as error:
            headers = {name.decode(): value.decode() for name, value in http_headers(error)}
            return Reply(http_status(error), error_body(error, "none"), headers)

    async def _answer(
        self,
        row: Operation,
        credentials: Credentials,
        path: Mapping[str, str],
        parameters: Parameters,
        body: Any,
    ) -> Reply:
        """Who calls, what the call always needs, what it asks for: nothing is stored before."""
        headers = headers_of(credentials)
        principal = await self._app.authenticator.authenticate(
            authorization=headers.get("Authorization"),
            api_key=headers.get("X-API-Key"),
            requester_id=headers.get("X-Requester-Id"),
        )
        if row.action is not None:
            sent = body if isinstance(body, dict) else {}
            await self._app.services[GateService].admit(
                principal,
                row.action,
                audit=AuditName(_KINDS[row.action], row.audit) if row.audit else None,
                conversation_id=parse_uuid(path.get("id", "")),
                justification=[*parameters.get("justification", ()), sent.get("justification")][0],
            )
        reply = await run_handler(
            row, HANDLERS[row.name], self._call(row, principal, path, parameters, body)
        )
        return Reply(reply.status, json.loads(reply.body) if reply.body else None, {})

    def _call(
        self,
        row: Operation,
        principal: Principal,
        path: Mapping[str, str],
        parameters: Parameters,
        body: Any,
    ) -> Call:
        parsed = _parse_body(row, body)
        page = RequestedPage(None, None, echo=False)
        if row.paging is not None and row.paging.search:
            page = pages.parse_search_page(parsed, echo=False)
        elif row.paging is not None:
            page = pages.parse_page(parameters, row.paging, echo=False)
        paths.check_user(path)
        given = {*parameters.get("justification", ()), getattr(parsed, "justification", None)}
        return Call(
            services=self._app.services,
            principal=principal,
            requester=None,
            headers={},
            path=paths.parse_path_ids(path),
            query=validation.read_parameters(parameters, row.query),
            page=page,
            body=parsed,
            justification=next(iter(given - {None, ""}), None),
            envelope=row.paging.envelope if row.paging else Envelope.A,
        )

    def _run(self, answer: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(answer, self._loop).result(TIMEOUT_SECONDS)


def _parse_body(row: Operation, body: Any) -> Any:
    """The body as its model. It goes through JSON, so that the server has a value of its own."""
    if row.body is None:
        return None
    if body is None and row.body.optional:
        return validation.validate_body({}, row.body)
    if body is None:
        raise ValidationFailed.for_field("body", "a JSON body is required")
    value = strict_json.parse(json.dumps(body).encode(), queries=row.body.queries)
    return validation.validate_body(value, row.body)
