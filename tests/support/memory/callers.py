"""The memory family as tests speak to it: people and agents who call paths under /v1."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import jwt

from tests.support.api import Credentials, Reply
from tests.support.world import JWT_SECRET, User, World


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who calls. `user` is how conversation tests know them."""

    user: User
    world: World

    @property
    def name(self) -> str:
        """The user id, or `agent:` and the id of an agent."""
        return self.user.name

    def call(
        self,
        method: str,
        path: str,
        *ids: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        **query: Any,
    ) -> Reply:
        """One request; `{}` in the path takes an id, escaped."""
        return self.world.api.request(
            method, path, self.user.credentials, ids, query=query, body=body, headers=headers
        )

    def get(self, path: str, *ids: str, **query: Any) -> Reply:
        """GET."""
        return self.call("GET", path, *ids, **query)

    def post(self, path: str, *ids: str, body: Any = None, **query: Any) -> Reply:
        """POST."""
        return self.call("POST", path, *ids, body=body, **query)

    def put(self, path: str, *ids: str, body: Any = None, **query: Any) -> Reply:
        """PUT."""
        return self.call("PUT", path, *ids, body=body, **query)

    def patch(self, path: str, *ids: str, body: Any = None, **query: Any) -> Reply:
        """PATCH."""
        return self.call("PATCH", path, *ids, body=body, **query)

    def delete(self, path: str, *ids: str, **query: Any) -> Reply:
        """DELETE."""
        return self.call("DELETE", path, *ids, **query)

    def registers(self, **members: Any) -> dict[str, Any]:
        """An agent of one's own, unless `owner_id` says otherwise."""
        agent: dict[str, Any] = self.post("/agents", body={"owner_id": self.name} | members).expect(
            201
        )
        return agent

    def adds(self, content: str, **members: Any) -> dict[str, Any]:
        """Write a statement; the answer's `memory`."""
        result = self.post("/memories", body={"content": content} | members).expect(201)
        memory: dict[str, Any] = result["memory"]
        return memory

    def finds(self, query: str, **members: Any) -> list[dict[str, Any]]:
        """The hits of a search."""
        page = self.post("/memories/search", body={"query": query} | members).expect(200)
        hits: list[dict[str, Any]] = page["data"]
        return hits

    def lists(self, path: str, *ids: str, **query: Any) -> list[dict[str, Any]]:
        """All items of a list, page by page."""
        items: list[dict[str, Any]] = []
        while True:
            page = self.get(path, *ids, **query).expect(200)
            items += page["data"]
            if page["next_cursor"] is None:
                return items
            assert page["data"], "a cursor led to an empty page"
            query["after"] = page["next_cursor"]


class Callers:
    """A world whose people use the memory family. Names are unique, so tests don't meet."""

    def __init__(self, world: World) -> None:
        self.world = world

    def person(self, name: str, *, orgs: tuple[str, ...] = ()) -> Caller:
        """A new user; with `orgs` the token says so."""
        user = self.world.user(name)
        return self._with_claims(user, orgs=list(orgs)) if orgs else Caller(user, self.world)

    def now_in(self, caller: Caller, *orgs: str) -> Caller:
        """The same user with a token that names these orgs."""
        return self._with_claims(caller.user, orgs=list(orgs))

    def agent(self, agent_id: str, **claims: Any) -> Caller:
        """An agent with a token of its own."""
        user = self.world.named(agent_id)
        return self._with_claims(user, kind="agent", **claims)

    def named_by_header(self, name: str, key: str | None = None) -> Caller:
        """Somebody who only says who they are, perhaps through the client of an API key."""
        credentials = Credentials(requester_id=name, api_key=key)
        return Caller(User(name, self.world.api, credentials), self.world)

    @property
    def nobody(self) -> Caller:
        """Somebody who doesn't."""
        return Caller(self.world.nobody, self.world)

    @property
    def admin(self) -> Caller:
        """A user with the role `admin`."""
        return Caller(self.world.admin, self.world)

    @property
    def auditor(self) -> Caller:
        """A user with the role `auditor`."""
        return Caller(self.world.auditor, self.world)

    def _with_claims(self, user: User, **claims: Any) -> Caller:
        payload = {"preferred_username": user.name, "exp": 4_102_444_800, **claims}
        token = jwt.encode(payload, JWT_SECRET, "HS256")
        shown = f"agent:{user.name}" if claims.get("kind") == "agent" else user.name
        credentials = replace(user.credentials, token=token)
        return Caller(replace(user, name=shown, credentials=credentials), self.world)
