"""People of the memory family's tests, as the server knows them."""

from tests.support.town import Asker


def person_of(asker: Asker) -> str:
    """The person of a user, who is known from their first call on."""
    asker.get("/agents", limit=1).expect(200)
    rows = asker.world.database.rows(
        "SELECT person_id FROM person_users WHERE user_id = :user", user=asker.name
    )
    return str(rows[0][0])
