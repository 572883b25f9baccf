# Written by the code generator from `_async/client.py`: change that file instead.
"""The entrance: a client of a server, or of a system in this process."""

from collections.abc import Mapping
from os import PathLike
from types import TracebackType
from typing import Any, Self

from recollect_client._sync.call import Caller, Transport
from recollect_client._sync.handles import (
    Agent,
    Chat,
    Conversation,
    Run,
    User,
)
from recollect_client._sync.http import HttpTransport
from recollect_client._sync.operations import Operations
from recollect_client.embedded import open_system
from recollect_client.retries import RetryPolicy
from recollect_client.values import check_header, check_text, check_url

DEFAULT_USER = "local"
TIMEOUT_SECONDS = 30.0


class Recollect:
    """Memory for agents: on a server (`connect`), or in this process on a file (`open`).

    `user`, `agent`, `chat`, `run` and `conversation` give handles; nothing is sent until a verb of
    a handle is called. `operations` has every operation of the server.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self.operations = Operations(caller)

    @classmethod
    def open(
        cls,
        path: str | PathLike[str] | None = None,
        *,
        user: str = DEFAULT_USER,
        settings: Mapping[str, Any] | None = None,
    ) -> Self:
        """Run the whole system in this process, on a file or on a `postgresql://` database.

        Without a path it is the file that `recollect serve` uses here. `settings` are those of the
        server by their dotted names, such as `{"retention.profile": "none"}`. Who asks is the
        user of a handle, else `user`.
        """
        check_header(user, "user")
        system = open_system(path, dict(settings or {}))
        headers = {"host": "localhost"}
        return cls(Caller(system.transport(), headers, RetryPolicy(), user))

    @classmethod
    def connect(
        cls,
        url: str,
        *,
        token: str | None = None,
        api_key: str | None = None,
        user: str | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        retries: RetryPolicy | None = None,
    ) -> Self:
        """Use the server at this URL.

        `token` says who the user is, `api_key` which client calls. A server in local mode, and one
        that trusts the client, believe the user of a handle, or `user`. Nothing is sent yet.
        """
        headers = {}
        if token is not None:
            headers["authorization"] = f"Bearer {check_header(token, 'token')}"
        if api_key is not None:
            headers["x-api-key"] = check_header(api_key, "api_key")
        if user is not None:
            check_header(user, "user")
        transport = HttpTransport(check_url(url), timeout_seconds=timeout_seconds)
        return cls(Caller(transport, headers, retries or RetryPolicy(), user))

    @property
    def transport(self) -> Transport:
        """The way to the server."""
        return self._caller.transport

    @property
    def caller(self) -> Caller:
        """What makes and sends requests as the user of this client: for operations without a method
        here."""
        return self._caller

    def user(self, user_id: str) -> User:
        """A user, who is also the one that asks."""
        return User(self._caller.acting_as(check_header(user_id, "user_id")), user_id)

    def agent(self, agent_id: str) -> Agent:
        """An agent that asks for itself: `agent:<id>`."""
        caller = self._caller.acting_as(f"agent:{check_header(agent_id, 'agent_id')}")
        return Agent(caller, agent_id)

    def chat(self, chat_id: str) -> Chat:
        """A chat, asked in by the user of this client."""
        return Chat(self._caller, check_text(chat_id, "chat_id"))

    def run(self, run_id: str, *, agent_id: str) -> Run:
        """A run of an agent, which asks for itself."""
        return self.agent(agent_id).run(run_id)

    def conversation(self, conversation_id: str | None = None) -> Conversation:
        """A conversation of the user of this client; without an id a new one, which the first
        message creates."""
        return Conversation(self._caller, conversation_id)

    def close(self) -> None:
        """Close connections; a system in this process finishes its work first. A second call does
        nothing."""
        self._caller.transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
