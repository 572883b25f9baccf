"""One way to call every operation, whatever the surface: a name, ids, a query, a body, a reply."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote

import httpx2

ROUTES: dict[str, tuple[str, str]] = {
    "health": ("GET", "/health"),
    "list_conversations": ("GET", "/conversations"),
    "create_conversation": ("POST", "/conversations"),
    "get_conversation": ("GET", "/conversations/{}"),
    "update_conversation": ("PATCH", "/conversations/{}"),
    "delete_conversation": ("DELETE", "/conversations/{}"),
    "list_entries": ("GET", "/conversations/{}/entries"),
    "append": ("POST", "/conversations/{}/entries"),
    "sync": ("POST", "/conversations/{}/entries/sync"),
    "delete_entry": ("DELETE", "/conversations/{}/entries/{}"),
    "fork": ("POST", "/conversations/{}/entries/{}/fork"),
    "list_forks": ("GET", "/conversations/{}/forks"),
    "search": ("POST", "/conversations/search"),
    "index": ("POST", "/conversations/index"),
    "unindexed": ("GET", "/conversations/unindexed"),
    "list_memberships": ("GET", "/conversations/{}/memberships"),
    "share": ("POST", "/conversations/{}/memberships"),
    "change_membership": ("PATCH", "/conversations/{}/memberships/{}"),
    "remove_membership": ("DELETE", "/conversations/{}/memberships/{}"),
    "list_transfers": ("GET", "/ownership-transfers"),
    "create_transfer": ("POST", "/ownership-transfers"),
    "get_transfer": ("GET", "/ownership-transfers/{}"),
    "accept_transfer": ("POST", "/ownership-transfers/{}/accept"),
    "delete_transfer": ("DELETE", "/ownership-transfers/{}"),
    "admin_list_conversations": ("GET", "/admin/conversations"),
    "admin_search": ("POST", "/admin/conversations/search"),
    "admin_get_conversation": ("GET", "/admin/conversations/{}"),
    "admin_delete_conversation": ("DELETE", "/admin/conversations/{}"),
    "admin_restore_conversation": ("POST", "/admin/conversations/{}/restore"),
    "admin_list_entries": ("GET", "/admin/conversations/{}/entries"),
    "admin_list_memberships": ("GET", "/admin/conversations/{}/memberships"),
    "admin_list_forks": ("GET", "/admin/conversations/{}/forks"),
    "admin_list_events": ("GET", "/admin/events"),
    "evict": ("POST", "/admin/evict"),
    "admin_health": ("GET", "/admin/health"),
    "create_api_key": ("POST", "/admin/api-keys"),
    "list_api_keys": ("GET", "/admin/api-keys"),
    "revoke_api_key": ("DELETE", "/admin/api-keys/{}"),
}


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a request says of its caller, and the key under which it may be repeated."""

    token: str | None = None
    api_key: str | None = None
    requester_id: str | None = None
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, whatever the surface: REST's status, the parsed body, the headers."""

    status: int
    body: Any
    headers: Mapping[str, str]

    def expect(self, status: int) -> Any:
        """The body, if the status is the expected one."""
        assert self.status == status, f"expected {status}, got {self.status}: {self.body}"
        return self.body

    def refused(self, status: int, code: str) -> dict[str, Any]:
        """The `details` of a refusal with this status and code."""
        body = self.expect(status)
        assert body["code"] == code, body
        assert isinstance(body["error"], str)
        details: dict[str, Any] = body.get("details", {})
        return details


class Api(Protocol):
    """A surface of the server."""

    def call(
        self,
        operation: str,
        credentials: Credentials,
        ids: tuple[str, ...] = (),
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
    ) -> Reply:
        """Call one operation; never raises for a refusal."""
        ...


class RestApi:
    """The REST surface, over real HTTP."""

    def __init__(self, url: str, transport: httpx2.BaseTransport | None = None) -> None:
        limits = httpx2.Limits(max_connections=64, max_keepalive_connections=64)
        # Nothing is encrypted here: to load what would check it takes as long as to start a server.
        self.http = httpx2.Client(
            base_url=f"{url}/v1",
            timeout=60,
            limits=limits,
            trust_env=False,
            verify=False,
            transport=transport,
        )

    def call(
        self,
        operation: str,
        credentials: Credentials,
        ids: tuple[str, ...] = (),
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
    ) -> Reply:
        """Call one operation by its route."""
        method, route = ROUTES[operation]
        path = route.format(*(quote(i, safe="") for i in ids))
        response = self.http.request(
            method, path, params=dict(query or {}), json=body, headers=headers_of(credentials)
        )
        return reply_of(response)

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
        """Call a path of the memory family; `{}` in it takes an id, escaped."""
        response = self.http.request(
            method,
            path.format(*(quote(i, safe="") for i in ids)),
            params=query,
            json=body,
            headers={**headers_of(credentials), **(headers or {})},
        )
        return reply_of(response)

    def close(self) -> None:
        """Close all connections."""
        self.http.close()


def headers_of(credentials: Credentials) -> dict[str, str]:
    """The headers that carry the credentials."""
    named = {
        "Authorization": credentials.token and f"Bearer {credentials.token}",
        "X-API-Key": credentials.api_key,
        "X-Requester-Id": credentials.requester_id,
        "Idempotency-Key": credentials.idempotency_key,
    }
    return {name: value for name, value in named.items() if value is not None}


def reply_of(response: httpx2.Response) -> Reply:
    """A response with its body parsed, if it has one in JSON."""
    is_json = response.headers.get("content-type", "").startswith("application/json")
    body = response.json() if is_json and response.content else response.text or None
    return Reply(response.status_code, body, response.headers)
