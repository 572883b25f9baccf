"""The interface that turns the credentials of a request into a principal, and what it asks."""

from typing import Protocol

from recollect.identity.model import KeyHolder, Principal


class Authenticator(Protocol):
    """Authenticates requests, the same way for every protocol."""

    async def authenticate(
        self,
        *,
        authorization: str | None,
        api_key: str | None,
        requester_id: str | None,
        address: str | None = None,
    ) -> Principal:
        """Raises Unauthenticated for missing or bad credentials, TooManyAttempts instead if too
        many bad ones came from this address, Forbidden if two of them contradict each other, and
        Unavailable if a token can't be checked now."""
        ...


class KeyHolders(Protocol):
    """Finds the client of an API key that is not in the settings."""

    async def find_holder(self, key: str) -> KeyHolder | None:
        """None for an unknown, expired or revoked key."""
        ...
