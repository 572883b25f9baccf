"""Who is calling, from what a request carries."""

from typing import Protocol

from recollect.policy.principals import Principal


class Authenticator(Protocol):
    """Turns credentials into a principal."""

    async def authenticate(
        self, *, authorization: str | None, api_key: str | None, requester_id: str | None
    ) -> Principal:
        """Raises Unauthenticated for none or bad ones, Forbidden when two of them disagree,
        Unavailable when a token can't be checked now."""
        ...
