"""API keys that the server issues, beside those of the settings."""

import secrets
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256

from recollect.kernel.ids import ClientId, UserId

KEY_PREFIX = "rck_"
"""Tells scanners of leaked secrets what they have found."""
_KEY_BYTES = 32


class KeyState(StrEnum):
    """Whether a key still opens anything."""

    ACTIVE = "active"
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """What is stored of a key; the key itself is not. `created_by` is None for a key that was made
    on the command line."""

    id: str
    client_id: ClientId
    name: str | None
    created_at: datetime
    created_by: UserId | None = None
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def state(self, now: datetime) -> KeyState:
        if self.revoked_at is not None:
            return KeyState.REVOKED
        if self.expires_at is not None and self.expires_at <= now:
            return KeyState.EXPIRED
        return KeyState.ACTIVE


@dataclass(frozen=True, slots=True)
class ShownKey:
    """A new key with its text, which nobody sees again."""

    stored: IssuedKey
    key: str


@dataclass(frozen=True, slots=True)
class ListedKey:
    """A key of a list, with its state at that time."""

    stored: IssuedKey
    state: KeyState


def make_key() -> str:
    """A new key: 256 random bits."""
    return KEY_PREFIX + secrets.token_urlsafe(_KEY_BYTES)


def key_hash(key: str) -> str:
    """What is stored of a key. The keys are random, so a plain hash can't be guessed back."""
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
