"""How a client reaches the nodes: each call goes to one of them, over one of the surfaces."""

import json
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.api import Credentials, Reply, RestApi
from tests.support.world import User

READS = re.compile(r"list_|get_|search$|GET |POST /memories/search")
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")

Surfaces = Sequence[RestApi]
"""Ways into one node."""


class NodeClient:
    """Calls at the nodes. A read goes to another node than the call before it, so that whatever
    was written is asked for where it was not written."""

    def __init__(self, nodes: Sequence[Surfaces], *, prefix: str, turns: int) -> None:
        self._nodes = nodes
        self._prefix = prefix
        self._turns = random.Random(turns)
        self._node = 0
        self._labels: dict[str, str] = {}
        self.calls = 0
        self.answers: list[tuple[str, int, str]] = []

    def user(self, name: str) -> User:
        """Somebody of this run who calls this way; nodes in `local` mode believe the name."""
        full = f"{self._prefix}-{name}"
        return User(full, self, Credentials(requester_id=full))

    def call(
        self,
        operation: str,
        credentials: Credentials,
        ids: tuple[str, ...] = (),
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
    ) -> Reply:
        """Call one operation."""
        reply = self._next(operation).call(operation, credentials, ids, query=query, body=body)
        return self._kept(operation, reply)

    def request(
        self, method: str, path: str, user: User, *ids: str, body: Any = None, **query: Any
    ) -> Reply:
        """Call a path of the memory family."""
        name = f"{method} {path}"
        reply = self._next(name).request(
            method, path, user.credentials, ids, query=query, body=body
        )
        return self._kept(name, reply)

    def _next(self, name: str) -> RestApi:
        node, surface = self._turns.randrange(len(self._nodes)), self._turns.random()
        self._node = (self._node + 1) % len(self._nodes) if READS.match(name) else node
        surfaces = self._nodes[self._node]
        return surfaces[int(surface * len(surfaces))]

    def _kept(self, name: str, reply: Reply) -> Reply:
        self.calls += 1
        assert reply.status < 500, f"{name}: {reply.status} {reply.body}"
        told = reply.body if reply.status < 400 else reply.body["code"]
        self.answers.append((name, reply.status, self._plain(told)))
        return reply

    def _plain(self, told: Any) -> str:
        """What is the same in each run: ids by the order in which they came, no times, no names of
        this run."""
        text = json.dumps(_timeless(told), sort_keys=True).replace(self._prefix, "run")
        return _ID.sub(self._label, _TIME.sub("then", text))

    def _label(self, found: "re.Match[str]") -> str:
        return self._labels.setdefault(found[0], f"id {len(self._labels)}")


def _timeless(told: Any) -> Any:
    """Scores of memories fade with time, and what is nearly equal changes places meanwhile."""
    if not isinstance(told, dict) or not all("stages" in hit for hit in told.get("data", [{}])):
        return told
    hits = [{name: value for name, value in hit.items() if name != "score"} for hit in told["data"]]
    return told | {"data": sorted(hits, key=lambda hit: str(hit["content"]))}
