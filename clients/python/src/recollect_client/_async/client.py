"""The entrance: a client of a server, or of a system in this process."""

from collections.abc import Mapping
from os import PathLike
from types import TracebackType
from typing import Any, Self

from recollect_client._async.call import AsyncCaller, AsyncTransport
from recollect_client._async.handles import (
    AsyncAgent,
    AsyncChat,
    AsyncConversation,
    AsyncRun,
    AsyncUser,
)
from recollect_client._async.http import AsyncHttpTransport
from recollect_client._async.operations import AsyncOperations
from recollect_client.embedded import open_system
from recollect_client.retries import RetryPolicy
from recollect_client.values import check_header, check_text, check_url

DEFAULT_USER = "local"
TIMEOUT_SECONDS = 30.0


class AsyncRecollect:
    """Memory for agents: on a server (`connect`), or in this process on a file (`open`).

    `user`, `agent`, `chat`, `run` and `conversation` give handles; nothing is sent until a verb of
    a handle is called. `operations` has every operation of the server.
    """

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller
        self.operations = AsyncOperations(caller)

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
        return cls(AsyncCaller(system.async_transport(), headers, RetryPolicy(), user))

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
        transport = AsyncHttpTransport(check_url(url), timeout_seconds=timeout_seconds)
        return cls(AsyncCaller(transport, headers, retries or RetryPolicy(), user))

    @property
    def transport(self) -> AsyncTransport:
        """The way to the server."""
        return self._caller.transport

    @property
    def caller(self) -> AsyncCaller:
        """What makes and sends requests as the user of this client: for operations without a method
        here."""
        return self._caller

    def user(self, user_id: str) -> AsyncUser:
        """A user, who is also the one that asks."""
        return AsyncUser(self._caller.acting_as(check_header(user_id, "user_id")), user_id)

    def agent(self, agent_id: str) -> AsyncAgent:
        """An agent that asks for itself: `agent:<id>`."""
        caller = self._caller.acting_as(f"agent:{check_header(agent_id, 'agent_id')}")
        return AsyncAgent(caller, agent_id)

    def chat(self, chat_id: str) -> AsyncChat:
        """A chat, asked in by the user of this client."""
        return AsyncChat(self._caller, check_text(chat_id, "chat_id"))

    def run(self, run_id: str, *, agent_id: str) -> AsyncRun:
        """A run of an agent, which asks for itself."""
        return self.agent(agent_id).run(run_id)

    def conversation(self, conversation_id: str | None = None) -> AsyncConversation:
        """A conversation of the user of this client; without an id a new one, which the first
        message creates."""
        return AsyncConversation(self._caller, conversation_id)

    async def aclose(self) -> None:
        """Close connections; a system in this process finishes its work first. A second call does
        nothing."""
        await self._caller.transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()
