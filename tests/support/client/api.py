"""The Python client behind the same calls as REST: a request becomes a call of an operation with
its arguments, and the typed answer, or the error, becomes the JSON of REST."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx2
from pydantic import BaseModel

from recollect.api.registry import OPERATIONS as SERVER_OPERATIONS
from recollect_client import NO_RETRIES, Recollect, RecollectError
from recollect_client._sync.call import Caller, Transport
from recollect_client.table import OPERATIONS
from recollect_client.values import Operation, Request, to_instant
from tests.support.api import ROUTES, Credentials, Reply, RestApi, headers_of

_ROWS = {(row.method, re.sub(r"{\w+}", "{}", row.path)): row for row in OPERATIONS.values()}
_SUCCESS = {row.name: row.success for row in SERVER_OPERATIONS}
ROW_OF = {name: _ROWS[method, f"/v1{path}"] for name, (method, path) in ROUTES.items()}
# Codes whose details are not in a member of their own over REST.
BESIDE_THE_CODE = {"TRANSFER_ALREADY_PENDING", "search_type_unavailable"}

NewClient = Callable[[Credentials], Recollect]


class Inexpressible(Exception):
    """No call of the client says this."""


class ClientApi(RestApi):
    """Both families through the client. What no method of it says goes over bare REST: unknown
    arguments, ids that no URL can carry, bodies that are no objects, keys of the caller's own."""

    def __init__(
        self, url: str, new_client: NewClient, transport: httpx2.BaseTransport | None = None
    ) -> None:
        super().__init__(url, transport)
        self._new_client = new_client
        self._clients: dict[Credentials, Recollect] = {}

    def call(
        self,
        operation: str,
        credentials: Credentials,
        ids: tuple[str, ...] = (),
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
    ) -> Reply:
        """Call one operation of conversations."""
        method, path = ROUTES[operation]
        return self.request(method, path, credentials, ids, query=query or {}, body=body)

    def request(
        self,
        method: str,
        path: str,
        credentials: Credentials,
        ids: tuple[str, ...] = (),
        *,
        query: Mapping[str, Any],
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Call the operation of a path under /v1."""
        row = _ROWS.get((method, f"/v1{path}"))
        try:
            if row is None or headers or credentials.idempotency_key is not None:
                raise Inexpressible
            return self._ask(row, credentials, ids, _arguments(row, query, body=body))
        except Inexpressible:
            return super().request(
                method, path, credentials, ids, query=query, body=body, headers=headers
            )

    def close(self) -> None:
        """Close all clients."""
        for client in self._clients.values():
            client.close()
        super().close()

    def _ask(
        self, row: Operation, credentials: Credentials, ids: tuple[str, ...], arguments: Any
    ) -> Reply:
        call = getattr(self._client(credentials).operations, method_name(row.id), None)
        if call is None:  # a stream: its own suite has it
            raise Inexpressible
        try:
            answer = call(*ids, **arguments)
        except RecollectError as error:
            if error.status is None:
                raise
            return _refusal_of(error, row)
        except (TypeError, ValueError):  # refused before it was sent
            raise Inexpressible from None
        return Reply(_SUCCESS[row.id], _to_json(answer), {})

    def _client(self, credentials: Credentials) -> Recollect:
        if credentials not in self._clients:
            try:
                self._clients[credentials] = self._new_client(credentials)
            except (TypeError, ValueError):
                raise Inexpressible from None
        return self._clients[credentials]


def client_of_server(url: str) -> ClientApi:
    """The client of a server."""

    def connect(credentials: Credentials) -> Recollect:
        return Recollect.connect(
            url,
            token=credentials.token,
            api_key=credentials.api_key,
            user=credentials.requester_id,
            retries=NO_RETRIES,
        )

    return ClientApi(url, connect)


def client_in_process(transport: Transport) -> ClientApi:
    """The client of a system in this process."""

    def connect(credentials: Credentials) -> Recollect:
        named = {**headers_of(credentials), "host": "localhost"}
        headers = {name.lower(): value for name, value in named.items()}
        return Recollect(Caller(transport, headers, NO_RETRIES))

    return ClientApi("http://localhost", connect, _HttpInProcess(transport))


@dataclass(frozen=True, slots=True)
class _HttpInProcess(httpx2.BaseTransport):
    """Bare REST without a port."""

    transport: Transport

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send it to the system."""
        target = request.url.raw_path.decode()
        path, _, query = target.partition("?")
        sent = Request(request.method, path, query, dict(request.headers), request.read())
        answer = self.transport.send(sent)
        return httpx2.Response(answer.status, headers=answer.headers, content=answer.body)


def _arguments(row: Operation, query: Mapping[str, Any], *, body: Any) -> dict[str, Any]:
    """The arguments by their names in Python."""
    if row.body_is_list:
        if not isinstance(body, list):
            raise Inexpressible
        body = {"": body}
    if not isinstance(body, dict | None) or (row.body and body is None and row.method != "GET"):
        raise Inexpressible
    names = {wire: name for name, wire in {**row.query, **row.body}.items()}
    sent = {**query, **(body or {})}
    # None in a query is not sent, where the REST of the tests sends an empty text.
    if not sent.keys() <= names.keys() or None in query.values() or query.keys() & (body or {}):
        raise Inexpressible
    return {names[wire]: value for wire, value in sent.items()}


def _to_json(value: Any) -> Any:
    """A typed answer as REST shows it."""
    if isinstance(value, BaseModel):
        return _to_json(value.model_dump(by_alias=True, exclude_unset=True))
    if isinstance(value, dict):
        return {name: _to_json(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_to_json(part) for part in value]
    return to_instant(value) if isinstance(value, datetime) else value


def _refusal_of(error: RecollectError, row: Operation) -> Reply:
    """The refusal as REST shows it, with the field by its name there."""
    assert error.status is not None
    field = error.details.get("field")
    if isinstance(field, str):
        error.details["field"] = row.body.get(field, field)
    body: dict[str, Any] = {"error": error.message, "code": error.code}
    if error.code in BESIDE_THE_CODE:
        body |= error.details
    elif error.details:
        body["details"] = error.details
    if error.code == "search_type_unavailable":
        body = {"error": error.code, "message": error.message, **error.details}
    after = error.retry_after_seconds
    return Reply(error.status, body, {} if after is None else {"retry-after": f"{after:g}"})


def method_name(name: str) -> str:
    """The method of an operation."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
