"""Calls of `MemoriesService`, by the members of REST."""

import json
from typing import Any

from tests.api.grpc.client import Answer, Client
from tests.support.grpc.api import Metadata
from tests.support.grpc.memories import SERVICE, put
from tests.support.grpc.protocol import new_request, protocol
from tests.support.world import User

MINE: dict[str, Any] = {"space": {"kind": "user"}}
EVERYWHERE: dict[str, Any] = {"filters": {"all_spaces": True}}


def request(method: str, **members: Any) -> Any:
    """A message of the service."""
    message = new_request(protocol().methods[f"{SERVICE}/{method}"])
    put(message, members)
    return message


def send(client: Client, caller: User | Metadata, method: str, message: Any) -> Answer:
    """Call with a message, or with bytes."""
    return client.send(caller, f"{SERVICE}/{method}", message)


def ask(client: Client, caller: User | Metadata, method: str, **members: Any) -> Answer:
    """Call with members."""
    return send(client, caller, method, request(method, **members))


def adds(client: Client, caller: User, content: str = "tea is nice", **members: Any) -> Any:
    """A new memory in the caller's own space."""
    return ask(client, caller, "CreateMemory", content=content, **MINE, **members).expect().memory


def count(client: Client, caller: User) -> int:
    """How many memories the caller has."""
    filters = {"spaces": [{"kind": "user"}]}
    return len(ask(client, caller, "ListMemories", filters=filters).expect().memories)


def details(answer: Answer) -> Any:
    """What a refusal tells beside its code."""
    return json.loads(answer.trailers["error-details"])
