"""A tree with something of everything in it, and calls whose bytes are ours to choose."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import httpx2

from recollect.api.registry import CONVERSATION_OPERATIONS
from recollect.http.operation import Operation
from recollect.identity.actions import NEEDS_ROLE
from tests.support.api import headers_of
from tests.support.world import User, World

MARKER = "zanzibarquux"
"""A word that no answer, event or log line may repeat when it comes as content."""


@dataclass(frozen=True, slots=True)
class SampleTree:
    """The owner calls through k1 and has offered the tree to the manager.

    `ids` holds an existing id for each path parameter.
    """

    world: World
    owner: User
    manager: User
    writer: User
    ids: Mapping[str, str]
    memory_id: str
    fork_id: str

    def caller(self, operation: Operation) -> User:
        """Who passes the gate of the operation."""
        if operation.action in NEEDS_ROLE:
            return self.world.admin
        return self.world.nobody if operation.open else self.owner

    def path(self, operation: Operation, ids: Mapping[str, str] | None = None) -> str:
        """The path with existing ids, or those given (already escaped)."""
        return operation.path.format(**{**self.ids, **(ids or {})})

    def send(
        self,
        operation: Operation,
        content: bytes | str | Iterable[bytes] | None = None,
        *,
        query: str = "",
        by: User | None = None,
        headers: Mapping[str, str | bytes] | None = None,
        ids: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        """Call the operation with exactly this body and query string."""
        known: dict[str, str | bytes] = dict(headers_of((by or self.caller(operation)).credentials))
        if content is not None:
            known["Content-Type"] = "application/json"
        path = self.path(operation, ids) + (f"?{query}" if query else "")
        return self.request(operation.method, path, content, known | dict(headers or {}))

    def request(
        self,
        method: str,
        path: str,
        content: bytes | str | Iterable[bytes] | None = None,
        headers: Mapping[str, str | bytes] | None = None,
    ) -> httpx2.Response:
        """Call any path with any method."""
        http = self.world.api.http
        url = f"http://{http.base_url.host}:{http.base_url.port}{path}"
        encoded = {
            name.encode(): text.encode() if isinstance(text, str) else text
            for name, text in (headers or {}).items()
        }
        return http.request(method, url, content=content, headers=encoded)


def a_sample_tree(world: World) -> SampleTree:
    """A root of three entries with a fork, both channels, members and a pending transfer."""
    owner = world.user("ann").with_key("k1")
    root = owner.starts(f"title {MARKER}", {"note": MARKER})
    owner.says(root, f"A {MARKER}")
    second = owner.says(root, "B")
    memory = owner.notes(root, f"memory {MARKER}")
    owner.says(root, "C")
    fork = owner.forks(root, second)
    manager, writer = world.members(root, owner, "manager", "writer")
    transfer = owner.offers(root, manager)
    key = world.admin.call("create_api_key", body={"clientId": "k9"}).expect(201)
    ids = {
        "id": root["id"],
        "entryId": second["id"],
        "userId": writer.name,
        "transferId": transfer["id"],
        "keyId": key["id"],
        "asset": "style.css",
    }
    return SampleTree(world, owner, manager, writer, ids, memory["id"], fork["id"])


def operation(name: str) -> Operation:
    """The row of the table with this name."""
    return next(row for row in CONVERSATION_OPERATIONS if row.name == name)
