"""Services that remember their calls and give canned answers, and a driver that speaks raw ASGI."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from starlette.types import ASGIApp, Message

from recollect.api.rest.app import RestSettings, create_app
from recollect.api_keys.model import IssuedKey, KeyState, ListedKey, ShownKey
from recollect.api_keys.service import IssuedKeyService
from recollect.audit.gate import GateService
from recollect.audit.model import Event, EventKind
from recollect.conversations.admin_service import AdminService
from recollect.conversations.entries.append import SyncOutcome
from recollect.conversations.entries.entry import Channel, Entry
from recollect.conversations.entries.service import EntryService
from recollect.conversations.eviction import EvictionService
from recollect.conversations.model import Conversation, ConversationWithLevel
from recollect.conversations.service import ConversationService
from recollect.conversations.sharing.membership import Membership
from recollect.conversations.sharing.service import SharingService
from recollect.conversations.sharing.transfer import Transfer
from recollect.conversations.sharing.transfer_service import TransferService
from recollect.doctor.health import Condition, StatusService
from recollect.http.services import Services
from recollect.identity.actions import NEEDS_CLIENT, NEEDS_ROLE, Action
from recollect.identity.model import Principal, ServerRole
from recollect.kernel.access_level import Level
from recollect.kernel.errors import (
    Forbidden,
    JustificationRequired,
    Unauthenticated,
)
from recollect.kernel.ids import (
    ClientId,
    ConversationId,
    EntryId,
    TransferId,
    TreeId,
    UserId,
)
from recollect.kernel.pages import Page
from recollect.kernel.strict_json import JsonText
from recollect.recordings.model import RecordingChunk, RecordingStatus, ReplayCursor
from recollect.recordings.service import RecorderService
from recollect.search.entries.indexing import IndexingService
from recollect.search.entries.service import EntrySearchService
from recollect.search.model import EntryHit, EntryHitPage

ID = "0190b0a3-5f0e-7cc3-9f3f-1a2b3c4d5e6f"
AT = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
AT_TEXT = "2026-01-02T03:04:05.000006Z"

REPORT = {
    "status": "ok",
    "version": "1",
    "database": "sqlite",
    "encryption": False,
    "queue": {"depth": 0, "stuck": 0, "oldestDueAt": None},
    "warnings": [],
    "advice": [],
}

Header = tuple[str, str | bytes]


def a_conversation(**changes: Any) -> Conversation:
    members: dict[str, Any] = {
        "id": ConversationId(ID),
        "tree_id": TreeId("tree"),
        "owner_user_id": UserId("ann"),
        "title": None,
        "metadata": {},
        "created_at": AT,
        "updated_at": AT,
    }
    return Conversation(**members | changes)


def seen(**changes: Any) -> ConversationWithLevel:
    return ConversationWithLevel(a_conversation(**changes), Level.OWNER)


def an_entry(content: str = '["x"]', **changes: Any) -> Entry:
    members: dict[str, Any] = {
        "id": EntryId(ID),
        "conversation_id": ConversationId(ID),
        "tree_id": TreeId("tree"),
        "seq": 1,
        "channel": Channel.HISTORY,
        "content_type": "history",
        "content": JsonText(content),
        "created_at": AT,
    }
    return Entry(**members | changes)


def a_membership() -> Membership:
    return Membership(TreeId("tree"), UserId("bob"), Level.WRITER, AT)


def a_transfer() -> Transfer:
    return Transfer(TransferId(ID), TreeId(ID), None, UserId("ann"), UserId("bob"), AT)


def an_issued_key() -> IssuedKey:
    return IssuedKey(ID, ClientId("k1"), None, AT)


def an_event() -> Event:
    return Event(ID, AT, EventKind.ADMIN_READ, "listEvents", actor_user_id="root")


def a_hit(**changes: Any) -> EntryHit:
    members: dict[str, Any] = {
        "conversation_id": ConversationId(ID),
        "entry_id": EntryId(ID),
        "score": 0.5,
    }
    return EntryHit(**members | changes)


async def pieces(*texts: str) -> AsyncIterator[RecordingChunk]:
    """What a reader of a recording gets."""
    for number, text in enumerate(texts, start=1):
        yield RecordingChunk(text, ReplayCursor(ID, number))


class FakeEviction:
    """Gives its steps one by one; a step that is an exception is raised."""

    def __init__(self, *steps: int | Exception) -> None:
        self.steps = steps

    async def progress(self) -> AsyncIterator[int]:
        for step in self.steps:
            if isinstance(step, Exception):
                raise step
            yield step

    async def wait(self) -> None:
        for step in self.steps:
            if isinstance(step, Exception):
                raise step


@dataclass
class Recorder:
    """Any method may be called: it is remembered, then answered or refused as prepared."""

    answers: dict[str, Any]
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def method(*args: Any, **kwargs: Any) -> Any:
            self.calls.append((name, args, kwargs))
            answer = self.answers[name]
            if isinstance(answer, BaseException):
                raise answer
            return answer

        return method


class FakeStatus(Recorder):
    """Of a server with which nothing is wrong."""

    @staticmethod
    async def condition() -> Condition:
        return Condition(None, second_server=False)


class FakeGate:
    """The rule of step 2, with a switch for required justifications."""

    def __init__(self) -> None:
        self.require_justification = False
        self.justifications: list[str | None] = []
        self.audits: list[Any] = []

    async def admit(
        self,
        principal: Principal,
        action: Action,
        *,
        audit: Any,
        conversation_id: str | None,
        justification: str | None,
    ) -> None:
        self.justifications.append(justification)
        self.audits.append((audit, conversation_id))
        role = NEEDS_ROLE.get(action)
        if role is not None and not principal.has_role(role):
            raise Forbidden("needs a role")
        if action in NEEDS_CLIENT and principal.client_id is None:
            raise Forbidden("needs an API key")
        if role is not None and self.require_justification and justification is None:
            raise JustificationRequired


class FakeAuthenticator:
    """Believes the requester; `root` is admin. The API key is the client's id."""

    async def authenticate(
        self,
        *,
        authorization: str | None,
        api_key: str | None,
        requester_id: str | None,
        address: str | None = None,
    ) -> Principal:
        if not requester_id or authorization is not None:
            raise Unauthenticated("who are you?")
        roles = frozenset({ServerRole.ADMIN} if requester_id == "root" else ())
        return Principal(UserId(requester_id), client_id=api_key, roles=roles)  # type: ignore[arg-type]


class FakeRequestLog:
    """Keeps the lines."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, str, int]] = []

    def write(
        self, request_id: str, *, method: str, route: str, status: int, seconds: float
    ) -> None:
        self.lines.append((request_id, method, route, status))

    def close(self) -> None:
        raise AssertionError("the adapter does not own the log")


class FakeMetrics:
    """Keeps what it was told about requests."""

    tracer = None

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, int]] = []

    def record_request(self, method: str, route: str, status: int, seconds: float) -> None:
        assert seconds >= 0
        self.requests.append((method, route, status))

    def render(self) -> tuple[bytes, str]:
        return b"requests 1\n", "text/plain; version=0.0.4"


@dataclass
class Answered:
    """What came back, and what the adapter sent in pieces."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def refused(self, status: int, code: str) -> Any:
        """Asserts the refusal; its details."""
        assert (self.status, self.json["code"]) == (status, code), self.body
        assert isinstance(self.json["error"], str)
        return self.json.get("details")


class Rest:
    """The adapter over fakes."""

    def __init__(self, settings: RestSettings | None = None) -> None:
        self.conversations = Recorder(
            {
                "create": seen(),
                "get": seen(),
                "list": Page([seen()], None),
                "update": seen(),
                "delete": None,
                "fork": seen(),
                "list_forks": Page([a_conversation()], None),
            }
        )
        self.entries = Recorder(
            {
                "append": an_entry(),
                "delete": None,
                "list": Page([an_entry()], None),
                "sync": SyncOutcome(None, True, False, None),
            }
        )
        self.sharing = Recorder(
            {
                "list": Page([a_membership()], None),
                "share": a_membership(),
                "change": a_membership(),
                "remove": None,
            }
        )
        self.transfers = Recorder(
            {
                "list": Page([a_transfer()], None),
                "create": a_transfer(),
                "get": a_transfer(),
                "accept": None,
                "delete": None,
            }
        )
        self.admin = Recorder(
            {
                "list_conversations": Page([seen(deleted_at=AT)], None),
                "get_conversation": seen(deleted_at=AT),
                "delete_conversation": None,
                "restore_conversation": seen(),
                "list_entries": Page([an_entry(client_id="k1", epoch=2)], None),
                "list_memberships": Page([a_membership()], None),
                "list_forks": Page([a_conversation()], None),
                "list_events": Page([an_event()], None),
            }
        )
        self.search = Recorder(
            {"search": EntryHitPage([a_hit()]), "search_all": EntryHitPage([a_hit()])}
        )
        self.indexing = Recorder({"index": 1, "list_unindexed": Page([an_entry()], None)})
        self.eviction = Recorder({"begin": FakeEviction(0, 100)})
        self.recorder = Recorder(
            {"record": RecordingStatus.COMPLETED, "replay": pieces("a", "b"), "cancel": None}
        )
        self.api_keys = Recorder(
            {
                "create": ShownKey(an_issued_key(), "rck_shown once"),
                "list": Page([ListedKey(an_issued_key(), KeyState.ACTIVE)], None),
                "revoke": None,
            }
        )
        self.status = FakeStatus({"ping": None, "report": REPORT, "measure_queue": None})
        self.gate = FakeGate()
        self.metrics = FakeMetrics()
        self.requests = FakeRequestLog()
        self.services = self._services()
        self.app = create_app(
            self.services,
            FakeAuthenticator(),
            settings=settings or RestSettings(),
            metrics=self.metrics,  # type: ignore[arg-type]
            requests=self.requests,
        )

    def call(
        self,
        method: str,
        target: str,
        body: Any = None,
        *,
        user: str | None = "ann",
        key: str | None = None,
        headers: Mapping[str, str | bytes] | None = None,
        more_headers: Iterable[Header] = (),
        chunks: Iterable[bytes | None] | None = None,
    ) -> Answered:
        """One request. `body` is sent as it is when it is bytes, else as JSON."""
        raw = (
            body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        )
        sent: dict[str, str | bytes] = {"host": "localhost", **(headers or {})}
        if user is not None:
            sent.setdefault("x-requester-id", user)
        if key is not None:
            sent["x-api-key"] = key
        pairs = [*sent.items(), *more_headers]
        return exchange(self.app, method, target, pairs, list(chunks or [raw]))

    @property
    def asked(self) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
        """Every call that reached a service, whichever."""
        recorders = (
            self.conversations,
            self.entries,
            self.sharing,
            self.transfers,
            self.search,
            self.indexing,
            self.admin,
            self.eviction,
            self.recorder,
        )
        return [call for recorder in recorders for call in recorder.calls]

    def _services(self) -> Services:
        return FakeServices(
            {
                ConversationService: self.conversations,
                EntryService: self.entries,
                RecorderService: self.recorder,
                SharingService: self.sharing,
                TransferService: self.transfers,
                EntrySearchService: self.search,
                IndexingService: self.indexing,
                AdminService: self.admin,
                EvictionService: self.eviction,
                GateService: self.gate,
                IssuedKeyService: self.api_keys,
                StatusService: self.status,
            }
        )


class FakeServices(Services):
    """Fakes by the class of the service that they stand for."""

    def __init__(self, fakes: dict[type[Any], object]) -> None:
        super().__init__()
        self._by_class = fakes


def exchange(
    app: ASGIApp, method: str, target: str, headers: list[Header], chunks: list[bytes | None]
) -> Answered:
    """Drive an ASGI application with one request; a chunk of None is the caller hanging up."""
    path, _, query = target.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [
            (name.encode(), value if isinstance(value, bytes) else value.encode())
            for name, value in headers
        ],
    }
    messages: list[Message] = []
    asyncio.run(_drive(app, scope, chunks, messages))
    if not messages:
        return Answered(0, {}, b"")
    start, *parts = messages
    return Answered(
        start["status"],
        {name.decode(): value.decode() for name, value in start["headers"]},
        b"".join(part.get("body", b"") for part in parts),
    )


async def _drive(
    app: ASGIApp, scope: dict[str, Any], chunks: list[bytes | None], messages: list[Message]
) -> None:
    waiting = list(chunks)

    async def receive() -> Message:
        if not waiting:
            await asyncio.Event().wait()
        chunk = waiting.pop(0)
        if chunk is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": chunk, "more_body": bool(waiting)}

    async def send(message: Message) -> None:
        messages.append(message)

    await asyncio.wait_for(app(scope, receive, send), 30)
