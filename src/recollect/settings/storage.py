"""Sections `database` and `encryption`."""

import base64
import binascii
import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr, StringConstraints

from recollect.settings.section import Key, MaskedUrl, Section

SQLITE_PREFIX = "sqlite:///"


def _check_database_url(url: str) -> str:
    path = url.removeprefix(SQLITE_PREFIX)
    if re.match(r"postgresql://[^?]*[@/][^?]*@", url):
        # libpq would take a part of the password for the host, and say so in its messages.
        raise ValueError("should have `@` and `/` of its user and password written as %40 and %2F")
    if url.startswith("postgresql://") or (
        path not in (url, "", "/", ":memory:") and not re.search(r"[?#]", path)
    ):
        return url
    raise ValueError(
        "should be sqlite:///relative/file.db, sqlite:////absolute/file.db or "
        "postgresql://user:password@host/database"
    )


def _check_encryption_key(key: SecretStr) -> SecretStr:
    try:
        size = len(base64.b64decode(key.get_secret_value(), validate=True))
    except binascii.Error:
        size = 0
    if size != 32:
        raise ValueError("should be 32 random bytes in base64, as `openssl rand -base64 32` prints")
    return key


def _check_distinct_ids(keys: "tuple[EncryptionKey, ...]") -> "tuple[EncryptionKey, ...]":
    twice = [id_ for id_, count in Counter(key.id for key in keys).items() if count > 1]
    if twice:
        raise ValueError(f"should have distinct ids, and {twice[0]!r} is there twice")
    return keys


_KeyId = Annotated[str, StringConstraints(pattern=r"\A[A-Za-z0-9._-]{1,20}\z")]


class DatabaseSettings(Section):
    """The one database that holds everything."""

    url: Annotated[str, AfterValidator(_check_database_url), MaskedUrl] = Field(
        "sqlite:///recollect-data/recollect.db",
        repr=False,
        description="`sqlite:///relative/file.db` (from the working directory), "
        "`sqlite:////absolute/file.db` or `postgresql://user:password@host/database`",
    )
    pool_size: int = Field(8, ge=1, description="PostgreSQL connections of one process")
    readers: int = Field(2, ge=1, description="SQLite reader threads of one process")
    migrate_at_start: bool | None = Field(
        None,
        description="bring the schema up to date when the server starts; "
        "unset: yes on SQLite, no on PostgreSQL (there, run `recollect migrate`)",
    )

    backup_passphrase: Key | None = Field(
        None,
        description="encrypts what `recollect backup` writes, and opens it; unset: backups are not "
        "encrypted, unless the command is told so",
    )

    @property
    def sqlite_path(self) -> Path | None:
        """The file of an SQLite database; None on PostgreSQL."""
        path = self.url.removeprefix(SQLITE_PREFIX)
        return None if path == self.url else Path(path)

    @property
    def migrates_at_start(self) -> bool:
        """`migrate_at_start`, or its default: yes on SQLite, no on PostgreSQL."""
        if self.migrate_at_start is None:
            return self.sqlite_path is not None
        return self.migrate_at_start


class EncryptionKey(Section):
    """A key and the name that stored values know it by."""

    id: _KeyId
    key: Annotated[SecretStr, AfterValidator(_check_encryption_key)]

    def to_bytes(self) -> bytes:
        """The key as 32 bytes."""
        return base64.b64decode(self.key.get_secret_value(), validate=True)


class EncryptionSettings(Section):
    """Encryption at rest."""

    keys: Annotated[tuple[EncryptionKey, ...], AfterValidator(_check_distinct_ids)] = Field(
        (),
        description="the first key encrypts, the others only decrypt; each has an `id` and a "
        "`key` of 32 bytes in base64; empty: contents are stored plain",
        examples=[[{"id": "2026-01", "key": "base64 of 32 bytes"}]],
    )
    allow_missing: tuple[_KeyId, ...] = Field(
        (),
        description="ids of lost keys: the server starts although stored values need them, and "
        "shows these values as unreadable",
        examples=[["2025-01"]],
    )
    index: Literal["plain", "sealed"] = Field(
        "plain",
        description="`sealed`: the search index has keyed hashes of whole words, and its texts are "
        "encrypted (needs `keys`; no search by the beginning of a word); `plain`: it has the words "
        "of whatever is indexed",
    )
