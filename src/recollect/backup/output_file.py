"""A file that has its name once it is complete and on the disk."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from recollect.kernel.errors import Conflict, InvalidInput, Unavailable

_SUFFIX = ".part"
_BUFFER_BYTES = 1024 * 1024


class OutputFile:
    """`with OutputFile(path) as output:` write, then call `finish`. Without that nothing remains.
    Its owner alone may read it."""

    _file: BinaryIO

    def __init__(self, path: Path, *, overwrite: bool) -> None:
        self._path = path
        self._part = path.with_name(path.name + _SUFFIX)
        self._overwrite = overwrite

    def __enter__(self) -> "OutputFile":
        self._require_free_name()
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            opened = os.open(self._part, flags, 0o600)
        except OSError as error:
            raise InvalidInput(
                f"no file can be written at {self._path}: {error.strerror}"
            ) from None
        try:
            # What a killed process left behind is overwritten, what another one writes is not.
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(opened)
            raise Conflict(f"another process writes {self._path} now") from None
        os.ftruncate(opened, 0)
        os.fchmod(opened, 0o600)
        self._file = os.fdopen(opened, "wb", buffering=_BUFFER_BYTES)
        return self

    def write(self, content: bytes) -> None:
        """Add bytes. Raises Unavailable if there is no room for them."""
        with _translated_errors():
            self._file.write(content)

    def finish(self) -> int:
        """Give the file its name. Returns its size."""
        self._require_free_name()
        with _translated_errors():
            self._file.flush()
            os.fsync(self._file.fileno())
            size = self._file.tell()
            self._part.rename(self._path)
            _sync_folder(self._path.parent)
        return size

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Closing writes what is buffered, which fails again on a full disk.
        with suppress(OSError):
            self._file.close()
        if error is not None:
            self._part.unlink(missing_ok=True)

    def _require_free_name(self) -> None:
        if self._path.is_dir():
            raise InvalidInput(f"{self._path} is a folder: name a file in it")
        if self._path.exists() and not self._overwrite:
            raise Conflict(f"{self._path} exists: name another file, or overwrite it with --force")


@contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable(f"the backup can't be written: {error.strerror}") from error


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        # Some file systems can't sync a folder.
        with suppress(OSError):
            os.fsync(opened)
    finally:
        os.close(opened)
