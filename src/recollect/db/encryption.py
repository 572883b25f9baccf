"""Encryption at rest: AES-256-GCM for single stored values.

An encrypted value is a marker and base64url without padding of: version, key id padded to 20 bytes,
nonce, ciphertext and tag. Version and key id are 21 bytes, a multiple of 3, so they encode to 28
characters of their own: SQL can compare that prefix.
"""

import base64
import binascii
import re
import secrets
from collections.abc import Sequence
from hashlib import blake2b

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from recollect.kernel.errors import Internal, Unreadable
from recollect.kernel.runtime import (
    SEALED_MARKER,
    SEALED_PREFIX_CHARACTERS,
    WORD_HASH_CHARACTERS,
    WORD_HASH_MARK,
)

KEY_BYTES = 32
_VERSION = b"\x01"
_KEY_ID_BYTES = 20
_HEADER_BYTES = len(_VERSION) + _KEY_ID_BYTES
_NONCE_BYTES = 12
_TAG_BYTES = 16
_WORD_HASH_BYTES = (WORD_HASH_CHARACTERS - len(WORD_HASH_MARK)) // 2
_BODY = len(SEALED_MARKER)
_KEY_ID = re.compile(r"[A-Za-z0-9._-]{1,20}")


class AesGcmCipher:
    """Implements `Cipher`. The first key encrypts, all keys decrypt.

    Without keys values are stored in plain text. Safe to use from many threads.
    """

    def __init__(
        self, keys: Sequence[tuple[str, bytes]] = (), *, seals_index: bool = False
    ) -> None:
        """Keys with their ids. Raises ValueError for a bad or repeated id or a wrong length."""
        self._keys: dict[str, AESGCM] = {}
        for key_id, key in keys:
            _check_key(key_id, key)
            if key_id in self._keys:
                raise ValueError(f"encryption key {key_id!r} is given twice")
            self._keys[key_id] = AESGCM(key)
        self._current = next(iter(self._keys), None)
        # Keys of their own: what is computed from the hashes says nothing of the encryption.
        self._hash_keys = {id_: _derive_hash_key(key) for id_, key in keys}
        self.seals_index = seals_index and self.is_enabled

    @property
    def is_enabled(self) -> bool:
        """Is a key configured?"""
        return self._current is not None

    def seal(
        self, text: str, *, table: str, column: str, row_id: str, key_id: str | None = None
    ) -> str:
        """The value to store for `text`, which must not start with U+0001."""
        key_id = key_id or self._current
        if key_id is None:
            return text
        # A random nonce for each value: 96 bits make a repeat under one key negligible.
        nonce = secrets.token_bytes(_NONCE_BYTES)
        associated = _associated_data(table, column, row_id)
        sealed = self._keys[key_id].encrypt(nonce, text.encode(), associated)
        return SEALED_MARKER + _encode(_encode_header(key_id) + nonce + sealed)

    def open(self, stored: str, *, table: str, column: str, row_id: str) -> str:
        """The text of a stored value. Raises Unreadable, with ids and no content, if that fails."""
        if not _is_sealed(stored):
            return stored
        where = f"{table}.{column} of row {row_id}"
        raw = _decode(stored[_BODY:])
        key_id = None if raw is None else _parse_key_id(raw[:_HEADER_BYTES])
        if raw is None or key_id is None or not stored.startswith(SEALED_MARKER):
            raise Unreadable(f"{where} is sealed in an unknown format")
        if key_id not in self._keys:
            raise Unreadable(f"{where} is sealed with key {key_id!r}, which is not configured")
        nonce, sealed = raw[_HEADER_BYTES:][:_NONCE_BYTES], raw[_HEADER_BYTES + _NONCE_BYTES :]
        if len(sealed) < _TAG_BYTES:
            raise Unreadable(f"{where} is cut short")
        try:
            text = self._keys[key_id].decrypt(
                nonce, sealed, _associated_data(table, column, row_id)
            )
        except InvalidTag:
            raise Unreadable(f"{where} does not open with key {key_id!r}") from None
        return text.decode()

    def hash_word(self, word: str, key_id: str | None = None) -> str:
        """A keyed hash of a word. Equal words have equal hashes, so that they can be looked up."""
        key = self._hash_keys[key_id or self._current or ""]
        hashed = blake2b(word.encode(), key=key, digest_size=_WORD_HASH_BYTES)
        return WORD_HASH_MARK + hashed.hexdigest()

    def key_id(self, stored: str) -> str | None:
        if not _is_sealed(stored):
            return None
        header = _decode(stored[_BODY:SEALED_PREFIX_CHARACTERS])
        key_id = None if header is None else _parse_key_id(header)
        if key_id is None or not stored.startswith(SEALED_MARKER):
            raise Internal("a stored value is sealed in an unknown format")
        return key_id

    def key_ids(self) -> tuple[str, ...]:
        """The ids of all keys, first the one that encrypts."""
        return tuple(self._keys)

    def prefix(self, key_id: str) -> str:
        """What every value encrypted with this key starts with."""
        return SEALED_MARKER + _encode(_encode_header(key_id))

    def current_prefix(self) -> str | None:
        """The prefix of values encrypted now; None without keys."""
        return None if self._current is None else self.prefix(self._current)

    def is_current(self, stored: str) -> bool:
        return self.key_id(stored) == self._current


def _derive_hash_key(key: bytes) -> bytes:
    return blake2b(key=key, person=b"recollect words", digest_size=32).digest()


def _check_key(key_id: str, key: bytes) -> None:
    if not _KEY_ID.fullmatch(key_id):
        raise ValueError(
            f"encryption key id {key_id!r} must have 1 to 20 letters, digits, dots, hyphens "
            "or underscores"
        )
    if len(key) != KEY_BYTES:
        raise ValueError(f"encryption key {key_id!r} must have {KEY_BYTES} bytes, not {len(key)}")


def _is_sealed(stored: str) -> bool:
    # Only the marker's first character: no user's text starts with U+0001, so a value that does
    # and lacks the rest of the marker is damaged, and must not pass for plain text.
    return stored.startswith(SEALED_MARKER[0])


def _associated_data(table: str, column: str, row_id: str) -> bytes:
    """What GCM authenticates besides the text: table, column and row id.

    Each part is preceded by its length, so that no two places give the same bytes.
    """
    parts = [part.encode() for part in (table, column, row_id)]
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def _encode_header(key_id: str) -> bytes:
    return _VERSION + key_id.encode("ascii").ljust(_KEY_ID_BYTES, b"\0")


def _parse_key_id(header: bytes) -> str | None:
    """The key id in a header; None if the header is not in our format."""
    name = header[len(_VERSION) :].rstrip(b"\0").decode("latin-1")
    known_shape = _KEY_ID.fullmatch(name) is not None and header == _encode_header(name)
    return name if known_shape else None


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def _decode(text: str) -> bytes | None:
    """The inverse of `_encode`; None for any other text. Each value has one valid encoding."""
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (ValueError, binascii.Error):
        return None
    return raw if _encode(raw) == text else None
