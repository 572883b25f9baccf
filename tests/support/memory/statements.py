"""People who tell things one after the other, on a server that compares them."""

from typing import Any

from tests.support.memory.callers import Caller
from tests.support.searching import settle_memories
from tests.support.world import new_id

MINE: dict[str, Any] = {"space": {"kind": "user"}}
# Of two texts that begin so, one more word makes no difference to the vectors of the tests.
LONG = "the large old painting that hangs over the wide stairs of the north hall of this house"


def state_in_turn(caller: Caller, *texts: str, **members: Any) -> list[dict[str, Any]]:
    """What was written, each after the one before was compared."""
    written = []
    for text in texts:
        written.append(caller.adds(text, **(MINE | members)))
        settle_memories(caller.world)
    return written


def memories_by_content(caller: Caller, **query: Any) -> dict[str, dict[str, Any]]:
    """The memories of one's own space, by content."""
    return {row["content"]: row for row in caller.lists("/memories", spaces="user", **query)}


def a_chat(*askers: Caller) -> str:
    """A group in which all of them take part."""
    first, *others = askers
    chat = new_id()
    first.put("/chats/{}", chat, body={"kind": "group"}).expect(201)
    for one in others:
        path = "/chats/{}/participants/{}"
        first.put(path, chat, one.name, body={"kind": "user"}).expect(200)
    return chat


def status_of(caller: Caller, memory: dict[str, Any]) -> str:
    """The status of a memory in its history."""
    rows = [
        row
        for status in ("active", "superseded")
        for row in caller.lists("/memories", spaces="all", status=status)
        if row["id"] == memory["id"]
    ]
    return str(rows[0]["status"])
