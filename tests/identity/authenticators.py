"""Builders for authenticators and tokens."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt

from recollect.identity.authenticator import CredentialAuthenticator
from recollect.identity.model import Principal
from recollect.identity.settings import IdentitySettings

SECRET = b"a secret of the tests, long enough for HS256"
NOW = datetime(2030, 1, 1, tzinfo=UTC)
LATER = int(NOW.timestamp()) + 3600


class StoppedClock:
    """Stands still until moved. Also counts seconds, as `time.monotonic` does."""

    def __init__(self) -> None:
        self._now = NOW

    def now(self) -> datetime:
        """The instant it was set to."""
        return self._now

    def monotonic(self) -> float:
        """Seconds of the same time."""
        return self._now.timestamp()

    def advance(self, seconds: float) -> None:
        """Move on."""
        self._now += timedelta(seconds=seconds)


def an_authenticator(clock: StoppedClock | None = None, **changes: Any) -> CredentialAuthenticator:
    """In `jwt` mode with a secret, and with a plain and a trusted client, unless changed."""
    values: dict[str, Any] = {
        "mode": "jwt",
        "secret": SECRET,
        "api_keys": {"plain": ["plain-1", "plain-2"], "trusted": ["trusted-1"]},
        "trusted_clients": ["trusted"],
    }
    clock = clock or StoppedClock()
    settings = IdentitySettings(**(values | changes))
    return CredentialAuthenticator(settings, clock=clock, monotonic=clock.monotonic)


def hs256(claims: dict[str, Any], secret: bytes = SECRET) -> str:
    """A token with exactly these claims."""
    return jwt.encode(claims, secret, "HS256")


def a_token(user: str = "ann", **claims: Any) -> str:
    """A good token of the user."""
    return hs256({"sub": user, "exp": LATER} | claims)


async def asked(
    authenticator: CredentialAuthenticator,
    *,
    token: str | None = None,
    authorization: str | None = None,
    key: str | None = None,
    requester: str | None = None,
) -> Principal:
    """Authenticate with these headers."""
    return await authenticator.authenticate(
        authorization=f"Bearer {token}" if token is not None else authorization,
        api_key=key,
        requester_id=requester,
    )


def ask(authenticator: CredentialAuthenticator, **headers: str | None) -> Principal:
    """The same, from outside any event loop."""
    return asyncio.run(asked(authenticator, **headers))
