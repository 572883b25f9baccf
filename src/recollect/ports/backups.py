"""Where removed rows are written down first. All of it blocks, so it runs on a thread."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol


class Backup(Protocol):
    """One file that is being written."""

    def write(self, lines: Sequence[str]) -> None:
        """Add lines. Raises Unavailable if they can't be written."""
        ...

    def finish(self) -> str:
        """Bring everything to the disk and give the file its name; where it is. Raises Unavailable
        if that can't be done."""
        ...

    def discard(self) -> None:
        """Forget what was written, if it has no name yet."""
        ...


class Backups(Protocol):
    """The folder of backups."""

    def begin(self, at: datetime) -> Backup:
        """A new file. Raises Unavailable if there can't be one."""
        ...

    def search(self, doomed: Callable[[str], bool]) -> tuple[int, int]:
        """How many lines there are in all files, and how many of them are doomed."""
        ...

    def purge(self, doomed: Callable[[str], bool]) -> int:
        """Write files anew without doomed lines; how many there were. Raises Unavailable if that
        can't be done."""
        ...

    def prune(self, before: datetime) -> int:
        """Remove files that were begun before that instant; how many."""
        ...
