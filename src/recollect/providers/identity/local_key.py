"""What signs `recollect token`: the secret that is set, or a key in a file beside the database."""

import base64
import binascii
import os
import secrets
import stat
import tempfile
from pathlib import Path

from recollect.errors import InvalidInput
from recollect.settings import Settings

KEY_BYTES = 32


def signing_secret(settings: Settings) -> bytes | None:
    """What HS256 tokens are signed with: the configured secret, or in local mode the key file."""
    if settings.auth.jwt_secret is not None:
        return settings.auth.jwt_secret.get_secret_value().encode()
    if settings.auth.mode == "jwt":
        return None
    try:
        settings.local_key_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return load_or_create(settings.local_key_path)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"the key file of local tokens is unusable: {error}") from error


def load_or_create(path: Path) -> bytes:
    """The key in the file, made first if there is none. Of two makers at once, one wins for both.

    Raises ValueError if others may read the file (they may have the key already, so tightening
    its mode would hide the harm) or if it holds no key; OSError if it can't be read or written.
    """
    try:
        return _load(path)
    except FileNotFoundError:
        _create(path)
    return _load(path)


def _load(path: Path) -> bytes:
    with path.open("rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        text = file.read(KEY_BYTES * 4)
    # Only POSIX modes say who may read.
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise ValueError(f"{path} can be read by others: delete it, and a new key will be made")
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except binascii.Error:
        key = b""
    if len(key) != KEY_BYTES:
        raise ValueError(f"{path} holds no key: delete it, and a new one will be made")
    return key


def _create(path: Path) -> None:
    """Written in full under another name, then linked: nobody ever sees half a key."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(base64.b64encode(secrets.token_bytes(KEY_BYTES)) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        _link(temporary, path)
    finally:
        os.unlink(temporary)


def _link(temporary: str, path: Path) -> None:
    try:
        os.link(temporary, path)
    except FileExistsError:
        return
