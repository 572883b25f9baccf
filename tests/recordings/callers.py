"""People at a node: they record, follow and cancel, over gRPC and over REST."""

import json
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import grpc
import httpx2
from google.protobuf.message_factory import GetMessageClass

from tests.support.grpc.protocol import new_request, path_of, protocol

SECONDS_MAX = 60
SERVICE = "ResponseRecorderService"
RECORD, REPLAY, CANCEL = f"{SERVICE}/Record", f"{SERVICE}/Replay", f"{SERVICE}/Cancel"
CHECK, IS_ENABLED = f"{SERVICE}/CheckRecordings", f"{SERVICE}/IsEnabled"
SUCCESS, CANCELLED, ERROR = 1, 2, 3


class Node:
    """A server, as those who call it see it."""

    def __init__(self, port: int) -> None:
        self.address = f"127.0.0.1:{port}"
        self.channel = grpc.insecure_channel(self.address)
        self.http = httpx2.Client(base_url=f"http://{self.address}/v1", timeout=SECONDS_MAX)

    def user(self, name: str) -> "RecordingClient":
        """Somebody who calls it; in `local` mode everybody is who they say."""
        return RecordingClient(self, name)

    def close(self) -> None:
        """End the connections."""
        self.channel.close()
        self.http.close()


@dataclass(frozen=True, slots=True)
class Event:
    """A server-sent event."""

    id: str | None
    kind: str | None
    content: Any


@dataclass(frozen=True, slots=True)
class RecordingClient:
    """A user at a node."""

    node: Node
    name: str
    token: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """Who calls; without a name it is nobody."""
        if self.token is not None:
            return {"authorization": f"Bearer {self.token}"}
        return {"x-requester-id": self.name} if self.name else {}

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """The same over gRPC."""
        return tuple(self.headers.items())

    def rest(self, method: str, path: str, **rest: Any) -> httpx2.Response:
        """Call REST."""
        headers = self.headers | rest.pop("headers", {})
        return self.node.http.request(method, path, headers=headers, **rest)

    def starts(self) -> str:
        """A new conversation's id."""
        id_: str = self.rest("POST", "/conversations", json={}).json()["id"]
        return id_

    def shares(self, conversation: str, user: str, level: str) -> None:
        """Make somebody a member."""
        body = {"userId": user, "accessLevel": level}
        shared = self.rest("POST", f"/conversations/{conversation}/memberships", json=body)
        assert shared.status_code == 201, shared.text

    def begins(self, conversation: str, *texts: str) -> "Speaker":
        """Record; returns once the recording is known to all."""
        speaker = self.records(conversation, *texts)
        until(lambda: self.recorded(conversation))
        return speaker

    def records(self, conversation: str, *texts: str) -> "Speaker":
        """Record, without waiting."""
        speaker = Speaker(self, conversation)
        for text in texts:
            speaker.says(text)
        return speaker

    def replays(self, conversation: str) -> Any:
        """A call that gives messages."""
        request = message("ReplayRequest", conversation_id=UUID(conversation).bytes)
        call = callable_of(self.node.channel.unary_stream, REPLAY)
        return call(request, metadata=self.metadata, timeout=SECONDS_MAX)

    def hears(self, conversation: str, begun: threading.Event | None = None) -> str:
        """All text of a replay, to its end; a redirect is followed. The event is set when the
        first text is here."""
        texts = []
        for piece in self.replays(conversation):
            if piece.redirect_address:
                with at(piece.redirect_address, self.name) as there:
                    return there.hears(conversation, begun)
            texts.append(piece.content)
            if begun is not None:
                begun.set()
        return "".join(texts)

    def cancels(self, conversation: str) -> Any:
        """Cancel over gRPC."""
        request = message("CancelRecordRequest", conversation_id=UUID(conversation).bytes)
        return self.asks(CANCEL, request)

    def recorded(self, *conversations: str) -> list[str]:
        """CheckRecordings."""
        ids = [UUID(id_).bytes for id_ in conversations]
        found = self.asks(CHECK, message("CheckRecordingsRequest", conversation_ids=ids))
        return [str(UUID(bytes=raw)) for raw in found.conversation_ids]

    def asks(self, name: str, request: Any) -> Any:
        """A call of one message and one answer."""
        call = callable_of(self.node.channel.unary_unary, name)
        return call(request, metadata=self.metadata, timeout=SECONDS_MAX)

    @contextmanager
    def follows(self, conversation: str, last_id: str | None = None) -> Iterator[Iterator[Event]]:
        """Server-sent events, as they come."""
        headers = self.headers | ({} if last_id is None else {"Last-Event-ID": last_id})
        path = f"/conversations/{conversation}/response"
        with self.node.http.stream("GET", path, headers=headers, timeout=SECONDS_MAX) as response:
            assert response.status_code in (200, 204), response.read()
            yield events_of(response)

    def events(self, conversation: str, last_id: str | None = None) -> list[Event]:
        """All of them, to the end."""
        with self.follows(conversation, last_id) as events:
            return list(events)

    def reads(self, conversation: str, begun: threading.Event) -> str:
        """The same as `hears`, over REST."""
        with self.follows(conversation) as events:
            first = next(events)
            begun.set()
            return text_of([first, *events])


class Speaker:
    """Somebody who records: says what is to be recorded, and gets one answer."""

    def __init__(self, caller: RecordingClient, conversation: str) -> None:
        self._messages: queue.Queue[Any] = queue.Queue()
        self._named = UUID(conversation).bytes
        call = callable_of(caller.node.channel.stream_unary, RECORD)
        self.call = call.future(
            iter(self._messages.get, None), metadata=caller.metadata, timeout=SECONDS_MAX
        )
        self.sends(conversation_id=self._named)

    def sends(self, **fields: Any) -> None:
        """One message."""
        self._messages.put(message("RecordRequest", **fields))

    def says(self, text: str) -> None:
        """Some text."""
        self.sends(content=text)

    def is_silent(self) -> bool:
        """Has all been taken that was said?"""
        return self._messages.empty()

    def half_closes(self) -> None:
        """There is no more to say."""
        self._messages.put(None)

    def ends(self) -> Any:
        """The same, and the answer."""
        self.half_closes()
        return self.answer()

    def answer(self) -> Any:
        """The answer, when it comes."""
        try:
            return self.call.result(SECONDS_MAX)
        finally:
            self._messages.put(None)

    def status(self) -> int:
        """What it says."""
        return int(self.answer().status)

    def refusal(self) -> grpc.StatusCode:
        """The status of a call that failed."""
        code: grpc.StatusCode = self.call.code()
        self._messages.put(None)
        return code


def code_of(refused: Any) -> grpc.StatusCode:
    """The status of a call that failed."""
    code: grpc.StatusCode = refused.code()
    return code


def message(name: str, **fields: Any) -> Any:
    """A message of the protocol."""
    found = protocol().message(name)
    for field, value in fields.items():
        if isinstance(value, list):
            getattr(found, field).extend(value)
        else:
            setattr(found, field, value)
    return found


def nothing() -> Any:
    """The empty message."""
    return new_request(protocol().methods[IS_ENABLED])


def callable_of(kind: Any, name: str) -> Any:
    """A method of the recorder on a channel."""
    method = protocol().methods[name]
    answer = GetMessageClass(method.output_type).FromString
    return kind(path_of(method), lambda request: request.SerializeToString(), answer)


def events_of(response: httpx2.Response) -> Iterator[Event]:
    """Events without the comments between them."""
    fields: dict[str, str] = {}
    for line in response.iter_lines():
        name, _, value = line.partition(":")
        if line and name:
            fields[name] = value.lstrip()
        elif not line and "data" in fields:
            yield Event(fields.get("id"), fields.get("event"), json.loads(fields["data"]))
            fields = {}


def text_of(events: Sequence[Event]) -> str:
    """What the events tell; the last one must be the end."""
    *pieces, last = events
    assert last.kind == "end", last
    return "".join(event.content["content"] for event in pieces)


def until(true: Callable[[], Any], seconds: float = SECONDS_MAX) -> None:
    """Ask again and again."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.02)


@contextmanager
def at(address: str, name: str) -> Iterator[RecordingClient]:
    """The same person at the node of an address."""
    node = Node(int(address.rpartition(":")[2]))
    try:
        yield node.user(name)
    finally:
        node.close()
