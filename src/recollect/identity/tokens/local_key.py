"""The secret that signs the tokens of `recollect token`: the configured one, or a key file beside
the database."""

import base64
import binascii
import os
import secrets
import stat
import tempfile
from pathlib import Path

from recollect.kernel.errors import InvalidInput
from recollect.settings import Settings

KEY_BYTES = 32


def signing_secret(settings: Settings) -> bytes | None:
    """The secret for HS256 tokens: the configured one, or in local mode that of the key file. None
    in `jwt` mode without a configured secret."""
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
    """Load the key from the file, and create it first if there is none. Two processes that create
    it at once both get the key of the first.

    Raises ValueError if the file holds no key or others can read it (they may have the key
    already, so changing its mode would only hide that). Raises OSError if it can't be read or
    written.
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
    """Write a new key under a temporary name, then link it to its final name.

    The link is atomic, so no process sees a partial key, and it fails if the name exists, so no
    process replaces the key of another. A rename would replace it.
    """
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(base64.b64encode(secrets.token_bytes(KEY_BYTES)) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        _link_if_absent(temporary, path)
    finally:
        os.unlink(temporary)


def _link_if_absent(temporary: str, path: Path) -> None:
    try:
        os.link(temporary, path)
    except FileExistsError:
        return
