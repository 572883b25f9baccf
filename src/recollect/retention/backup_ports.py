"""The interface of backup files. All methods block on the disk: call them on a thread."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol


class BackupWriter(Protocol):
    """A file that is being written."""

    def write(self, lines: Sequence[str]) -> None:
        """Add lines. Raises Unavailable if they can't be written."""
        ...

    def finish(self) -> str:
        """Sync everything to disk and give the file its final name; returns its path. Raises
        Unavailable if that fails."""
        ...

    def discard(self) -> None:
        """Delete the file unless it is finished. Never raises."""
        ...


class BackupFolder(Protocol):
    """The folder of backups."""

    def begin(self, at: datetime) -> BackupWriter:
        """Start a new file. Raises Unavailable if it can't be created."""
        ...

    def count_lines(self, matches: Callable[[str], bool]) -> tuple[int, int]:
        """The number of lines in all files, and of those for which `matches` is true."""
        ...

    def remove_lines(self, matches: Callable[[str], bool]) -> int:
        """Rewrite files without the doomed lines; returns how many there were. Raises Unavailable
        if a file can't be written."""
        ...

    def prune(self, before: datetime) -> int:
        """Delete files that were begun before this time; returns how many."""
        ...
