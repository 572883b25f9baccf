"""Tells the servers on one database file of each other."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

_SUFFIX = "-servers"


class ServerLock:
    """A shared lock on a file beside the database, which the system releases if its process dies.

    It keeps nobody out. A server that can make the lock exclusive for a moment is the only one.
    """

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(database.name + _SUFFIX)
        self._file = -1

    def enter(self) -> None:
        """Take the lock. A folder in which no file can be made has no lock."""
        with suppress(OSError):
            while True:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                fcntl.flock(self._file, fcntl.LOCK_SH)
                if self._is_in_place():
                    return
                # The last one has left and removed the file, after it was opened here.
                os.close(self._file)

    @property
    def is_taken(self) -> bool:
        """Whether this server has the lock."""
        return self._file >= 0

    def has_others(self) -> bool:
        """Whether another server has the lock now."""
        if self._file < 0:
            return False
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            # A failed attempt may have released the lock, so it is taken again in any case.
            fcntl.flock(self._file, fcntl.LOCK_SH)
        return False

    def leave(self) -> None:
        """Release the lock. The last one removes the file."""
        if self._file < 0:
            return
        if not self.has_others():
            with suppress(OSError):
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._path.unlink()
        os.close(self._file)
        self._file = -1

    def _is_in_place(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._file), self._path.stat())
        except FileNotFoundError:
            return False
