"""The header of a backup file, and how the parts behind it are sealed.

Each part carries a mark over its contents, its number, whether it is the last one, and the header.
So a part that was changed, left out, added, moved, or taken from another file is found, and so is
a file that ends early. With a passphrase the mark is that of AES-256-GCM, and the contents are
encrypted; without one it is a hash, which finds damage but not a forger.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, BinaryIO, Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from recollect.kernel.errors import InvalidInput

MARK_BYTES = 16
FORMAT = 1

_MAGIC = b"recollect backup\n"
_HEADER_BYTES_MAX = 4_096
_NONCE_BYTES = 12
_KEY_BYTES = 32
# The memory that deriving a key takes, times 1024. More is refused: the file says how much.
_COST = 2**17
_COST_MAX = 2**20
_BLOCK = 8


class Seal(Protocol):
    """Seals parts and opens them."""

    def close(self, part: bytes, number: int, *, last: bool) -> bytes:
        """The part as it is stored; MARK_BYTES longer."""
        ...

    def open(self, stored: bytes, number: int, *, last: bool) -> bytes | None:
        """The part; None if it is not the one that was sealed with these words."""
        ...


def damage_error(what: str) -> InvalidInput:
    """The error for a file that is not as it was written."""
    return InvalidInput(f"the backup is damaged: {what}")


@dataclass(frozen=True, slots=True)
class _HashSeal:
    header: bytes

    def close(self, part: bytes, number: int, *, last: bool) -> bytes:
        return part + self._mark(part, number, last=last)

    def open(self, stored: bytes, number: int, *, last: bool) -> bytes | None:
        part, mark = stored[:-MARK_BYTES], stored[-MARK_BYTES:]
        return part if self._mark(part, number, last=last) == mark else None

    def _mark(self, part: bytes, number: int, *, last: bool) -> bytes:
        hashed = blake2b(_nonce(number), key=self.header, digest_size=MARK_BYTES)
        hashed.update(_end_mark(last=last))
        hashed.update(part)
        return hashed.digest()


class _GcmSeal:
    def __init__(self, key: bytes, header: bytes) -> None:
        self._cipher = AESGCM(key)
        self._header = header

    def close(self, part: bytes, number: int, *, last: bool) -> bytes:
        return self._cipher.encrypt(_nonce(number), part, self._header + _end_mark(last=last))

    def open(self, stored: bytes, number: int, *, last: bool) -> bytes | None:
        bound = self._header + _end_mark(last=last)
        try:
            return self._cipher.decrypt(_nonce(number), stored, bound)
        except InvalidTag:
            return None


def make_header(passphrase: str | None) -> tuple[bytes, Seal]:
    """The beginning of a file. Its key is made for it alone, so numbers are good nonces."""
    fields: dict[str, Any] = {"format": FORMAT, "id": secrets.token_hex(16), "encryption": None}
    key = b""
    if passphrase is not None:
        derivation = {"n": _COST, "r": _BLOCK, "p": 1, "salt": secrets.token_hex(16)}
        key, check = _derive(passphrase, derivation)
        fields["encryption"] = {"cipher": "aes-256-gcm", "kdf": "scrypt", **derivation}
        fields["encryption"]["check"] = check.hex()
    text = json.dumps(fields, separators=(",", ":")).encode()
    head = _MAGIC + len(text).to_bytes(4, "big") + text
    digest = blake2b(head, digest_size=_KEY_BYTES).digest()
    return head + digest, _GcmSeal(key, digest) if key else _HashSeal(digest)


def read_header(file: BinaryIO) -> "Header":
    """The header of a file. Raises InvalidInput if it is no backup of a known format."""
    if file.read(len(_MAGIC)) != _MAGIC:
        raise InvalidInput("the file is no backup of Recollect, or its beginning is damaged")
    prefix = file.read(4)
    size = int.from_bytes(prefix, "big")
    if size > _HEADER_BYTES_MAX:
        raise damage_error("its header")
    text, digest = file.read(size), file.read(_KEY_BYTES)
    if blake2b(_MAGIC + prefix + text, digest_size=_KEY_BYTES).digest() != digest:
        raise damage_error("its header")
    fields = json.loads(text)
    if fields["format"] != FORMAT:
        raise InvalidInput(
            f"the backup has format {fields['format']}, this version reads format {FORMAT}: "
            "restore it with the version that made it"
        )
    return Header(digest, fields["encryption"])


@dataclass(frozen=True, slots=True)
class Header:
    """What is known of a file before its passphrase."""

    digest: bytes
    encryption: Mapping[str, Any] | None

    @property
    def encrypted(self) -> bool:
        return self.encryption is not None

    def seal(self, passphrase: str | None) -> Seal:
        """The seal of the file. Raises InvalidInput for a missing or wrong passphrase."""
        if self.encryption is None:
            return _HashSeal(self.digest)
        if passphrase is None:
            raise InvalidInput("the backup is encrypted: give its passphrase")
        if self.encryption["n"] > _COST_MAX or self.encryption["r"] > _BLOCK:
            raise InvalidInput("the backup asks for more memory than any key of ours takes")
        key, check = _derive(passphrase, self.encryption)
        if not secrets.compare_digest(check.hex(), self.encryption["check"]):
            raise InvalidInput("the passphrase is not that of this backup")
        return _GcmSeal(key, self.digest)


def _derive(passphrase: str, fields: Mapping[str, Any]) -> tuple[bytes, bytes]:
    """The key, and what tells a wrong passphrase from a damaged file."""
    salt = bytes.fromhex(fields["salt"])
    kdf = Scrypt(salt=salt, length=2 * _KEY_BYTES, n=fields["n"], r=fields["r"], p=fields["p"])
    both = kdf.derive(passphrase.encode())
    return both[:_KEY_BYTES], both[_KEY_BYTES:]


def _nonce(number: int) -> bytes:
    return number.to_bytes(_NONCE_BYTES, "big")


def _end_mark(*, last: bool) -> bytes:
    return b"\x01" if last else b"\x00"
