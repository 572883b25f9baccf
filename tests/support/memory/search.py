"""What tests of search over memories share: agents to ask about, and hits to compare."""

from collections.abc import Sequence
from typing import Any

from tests.support.memory.callers import Caller
from tests.support.searching import embedding_flags
from tests.support.servers.embedding import EmbeddingServer
from tests.support.world import new_id


def an_agent(owner: Caller, **members: Any) -> str:
    """A new agent of this owner; its id."""
    return str(owner.registers(id=f"a-{new_id()[-12:]}", **members)["id"])


def ids(found: Sequence[dict[str, Any]]) -> list[str]:
    """Of hits, in order."""
    return [one["id"] for one in found]


def contents(found: Sequence[dict[str, Any]]) -> list[str]:
    """Of hits, in order."""
    return [one["content"] for one in found]


def vector_flags(server: EmbeddingServer) -> dict[str, Any]:
    """Settings for `host` of a server that gets its vectors there."""
    return {name.replace(".", "__"): value for name, value in embedding_flags(server).items()}
