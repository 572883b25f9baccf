"""Builders: a world with users in it, and what they do. A verb of a user succeeds or fails the
test; `call` gives the bare reply."""

import itertools
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

import jwt

from tests.support.api import Api, Credentials, Reply, RestApi
from tests.support.clock import TestClock
from tests.support.engines import TestDatabase

JWT_SECRET = "a secret of the tests, long enough for HS256"
CLIENT_KEYS = {"k1": "key-of-k1", "k2": "key-of-k2", "trusted": "key-of-trusted"}
ADMIN, AUDITOR, INDEXER = "root-admin", "audrey", "indira"
WALK_PAGES_MAX = 2_000

Ref = str | Mapping[str, Any]
T = TypeVar("T")


@cache
def a_token(user: str, *, secret: str = JWT_SECRET, expires_at: int = 4_102_444_800) -> str:
    """A bearer token for the user."""
    return jwt.encode({"preferred_username": user, "exp": expires_at}, secret, "HS256")


def new_id() -> str:
    """An id that nobody has used."""
    return str(uuid.uuid4())


def id_of(thing: Ref) -> str:
    """The id of a resource, or the id itself."""
    return thing if isinstance(thing, str) else str(thing["id"])


def text_of(entry: Mapping[str, Any]) -> str:
    """The text of a history entry; of memory, its items joined by a bar."""
    if entry["channel"] == "history":
        return str(entry["content"][0]["text"])
    return "|".join(str(item) for item in entry["content"])


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who calls the server, perhaps through a client."""

    name: str
    api: Api
    credentials: Credentials

    def with_key(self, client: str) -> "User":
        """The same user, calling through this client."""
        return replace(self, credentials=replace(self.credentials, api_key=CLIENT_KEYS[client]))

    def under(self, key: str) -> "User":
        """The same user, whose requests have this idempotency key."""
        return replace(self, credentials=replace(self.credentials, idempotency_key=key))

    def call(self, operation: str, *ids: Ref, body: Any = None, **query: Any) -> Reply:
        """Call an operation and get the reply, whatever it is."""
        names = tuple(id_of(i) for i in ids)
        return self.api.call(operation, self.credentials, names, query=query, body=body)

    def starts(self, title: str | None = None, metadata: Any = None) -> dict[str, Any]:
        """Create a conversation."""
        body = {"title": title, "metadata": metadata}
        return self._dict(self.call("create_conversation", body=body), 201)

    def says(self, conversation: Ref, text: str, **members: Any) -> dict[str, Any]:
        """Append to the history; to an unknown id this creates the conversation."""
        body = history(text) | members
        return self._dict(self.call("append", conversation, body=body), 201)

    def notes(self, conversation: Ref, *items: Any, **members: Any) -> dict[str, Any]:
        """Append to this client's memory."""
        body = memory(items) | members
        return self._dict(self.call("append", conversation, body=body), 201)

    def syncs(self, conversation: Ref, items: Sequence[Any], **members: Any) -> dict[str, Any]:
        """Bring this client's memory to the given list."""
        body = memory(items) | members
        return self._dict(self.call("sync", conversation, body=body), 200)

    def forks(self, conversation: Ref, entry: Ref, title: str | None = None) -> dict[str, Any]:
        """Fork before an entry."""
        body = None if title is None else {"title": title}
        return self._dict(self.call("fork", conversation, entry, body=body), 201)

    def gets(self, conversation: Ref) -> dict[str, Any]:
        """Read a conversation."""
        return self._dict(self.call("get_conversation", conversation), 200)

    def shares(self, conversation: Ref, user: "User", level: str) -> dict[str, Any]:
        """Make somebody a member."""
        body = {"userId": user.name, "accessLevel": level}
        return self._dict(self.call("share", conversation, body=body), 201)

    def offers(self, conversation: Ref, user: "User") -> dict[str, Any]:
        """Create an ownership transfer."""
        body = {"conversationId": id_of(conversation), "newOwnerUserId": user.name}
        return self._dict(self.call("create_transfer", body=body), 201)

    def deletes(self, conversation: Ref) -> None:
        """Soft-delete the tree."""
        self.call("delete_conversation", conversation).expect(204)

    def texts(self, conversation: Ref, **query: Any) -> list[str]:
        """What a listing of the entries shows, as texts."""
        page = self.call("list_entries", conversation, **({"limit": 1000} | query)).expect(200)
        return [text_of(entry) for entry in page["data"]]

    def levels(self, conversation: Ref) -> dict[str, str]:
        """Who has which level."""
        page = self.call("list_memberships", conversation).expect(200)
        return {m["userId"]: m["accessLevel"] for m in page["data"]}

    def finds(self, query: str, **members: Any) -> list[dict[str, Any]]:
        """The results of a search; `members` are further ones of its body."""
        page = self._dict(self.call("search", body={"query": query} | members), 200)
        assert "degraded" not in page, page
        found: list[dict[str, Any]] = page["data"]
        return found

    def walks(self, operation: str, *ids: Ref, **query: Any) -> list[dict[str, Any]]:
        """All items of a list, page by page, as its cursors lead."""
        items: list[dict[str, Any]] = []
        for _ in range(WALK_PAGES_MAX):
            page = self.call(operation, *ids, **query).expect(200)
            items += page["data"]
            if not page.get("nextCursor"):
                return items
            assert page["data"], "a cursor led to an empty page"
            query["after"] = page["nextCursor"]
        raise AssertionError("the walk does not end")

    @staticmethod
    def _dict(reply: Reply, status: int) -> dict[str, Any]:
        body = reply.expect(status)
        assert isinstance(body, dict)
        return body


class World:
    """A running server and the people around it. User names are unique, so tests don't meet."""

    def __init__(self, api: RestApi, clock: TestClock, database: TestDatabase) -> None:
        self.api = api
        self.clock = clock
        self.database = database

    def user(self, name: str) -> User:
        """A new user whose name begins with the given one."""
        return self.named(f"{name}-{next(_NUMBERS)}")

    def named(self, name: str) -> User:
        """The user with exactly this name."""
        return User(name, self.api, Credentials(token=a_token(name)))

    @property
    def admin(self) -> User:
        """A user with the role `admin`."""
        return self.named(ADMIN)

    @property
    def auditor(self) -> User:
        """A user with the role `auditor`."""
        return self.named(AUDITOR)

    @property
    def indexer(self) -> User:
        """A user with the role `indexer`."""
        return self.named(INDEXER)

    @property
    def nobody(self) -> User:
        """A caller without any credential."""
        return User("", self.api, Credentials())

    def members(self, conversation: Ref, owner: User, *levels: str) -> list[User]:
        """New users, one for each level, with whom the owner has shared the conversation."""
        users = [self.user(level) for level in levels]
        for user, level in zip(users, levels, strict=True):
            owner.shares(conversation, user, level)
        return users


def history(text: str) -> dict[str, Any]:
    """The body of a strict history append."""
    item = {"role": "USER", "text": text}
    return {"channel": "history", "contentType": "history", "content": [item]}


def memory(items: Iterable[Any]) -> dict[str, Any]:
    """The body of a memory append or a sync."""
    return {"channel": "memory", "contentType": "application/json", "content": list(items)}


def at_once(calls: Iterable[Callable[[], T]]) -> list[T]:
    """Run all calls in parallel threads; their results in order."""
    waiting = list(calls)
    with ThreadPoolExecutor(max_workers=len(waiting)) as pool:
        return [future.result(60) for future in [pool.submit(call) for call in waiting]]


_NUMBERS = itertools.count(1)
