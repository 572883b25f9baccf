"""People of the memory family's tests, as the server knows them."""

from typing import Any

from tests.support.memory.callers import Caller
from tests.support.world import new_id


def person_of(caller: Caller) -> str:
    """The person of a user, who is known from their first call on."""
    caller.get("/agents", limit=1).expect(200)
    rows = caller.world.database.rows(
        "SELECT person_id FROM person_users WHERE user_id = :user", user=caller.name
    )
    return str(rows[0][0])


def self_of(caller: Caller) -> dict[str, Any]:
    """The caller's own person."""
    found = caller.post("/people/resolve", body={"name": "me"}).expect(200)
    person: dict[str, Any] = found["person"]
    return person


def knows(caller: Caller, name: str, **members: Any) -> dict[str, Any]:
    """Make somebody known."""
    person: dict[str, Any] = caller.post("/people", body={"name": name} | members).expect(201)
    return person


def resolve_name(caller: Caller, name: str, **members: Any) -> str | None:
    """Whom a name means: an id, or nobody."""
    found = caller.post("/people/resolve", body={"name": name} | members).expect(200)
    return found["person"]["id"] if found["person"] else None


def merges(
    caller: Caller, primary: dict[str, Any], secondary: dict[str, Any], **members: Any
) -> Any:
    """The reply to a merge."""
    body = {"primary_id": primary["id"], "secondary_id": secondary["id"]} | members
    return caller.post("/people/merge", body=body)


def a_name(stem: str) -> str:
    """A name that only this test knows."""
    return f"{stem} {new_id()}"
