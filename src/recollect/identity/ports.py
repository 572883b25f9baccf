"""The interface that turns the credentials of a request into a principal."""

from typing import Protocol

from recollect.identity.model import Principal


class Authenticator(Protocol):
    """Authenticates requests, the same way for every protocol."""

    async def authenticate(
        self, *, authorization: str | None, api_key: str | None, requester_id: str | None
    ) -> Principal:
        """Raises Unauthenticated for missing or bad credentials, Forbidden if two of them
        contradict each other, and Unavailable if a token can't be checked now."""
        ...
