"""People of the memory family's tests, as the server knows them."""

from typing import Any

from tests.support.memory.callers import Asker
from tests.support.world import new_id


def person_of(asker: Asker) -> str:
    """The person of a user, who is known from their first call on."""
    asker.get("/agents", limit=1).expect(200)
    rows = asker.world.database.rows(
        "SELECT person_id FROM person_users WHERE user_id = :user", user=asker.name
    )
    return str(rows[0][0])


def self_of(asker: Asker) -> dict[str, Any]:
    """The caller's own person."""
    found = asker.post("/people/resolve", body={"name": "me"}).expect(200)
    person: dict[str, Any] = found["person"]
    return person


def knows(asker: Asker, name: str, **members: Any) -> dict[str, Any]:
    """Make somebody known."""
    person: dict[str, Any] = asker.post("/people", body={"name": name} | members).expect(201)
    return person


def meant(asker: Asker, name: str, **members: Any) -> str | None:
    """Whom a name means: an id, or nobody."""
    found = asker.post("/people/resolve", body={"name": name} | members).expect(200)
    return found["person"]["id"] if found["person"] else None


def merges(asker: Asker, primary: dict[str, Any], secondary: dict[str, Any], **members: Any) -> Any:
    """The reply to a merge."""
    body = {"primary_id": primary["id"], "secondary_id": secondary["id"]} | members
    return asker.post("/people/merge", body=body)


def a_name(stem: str) -> str:
    """A name that only this test knows."""
    return f"{stem} {new_id()}"
