"""Interfaces of recordings: the locator that all nodes share, and the files of one node."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.db.transaction import Tx
from recollect.search.store.bundle import SearchStores


class Locator(Protocol):
    """Short-lived values that all nodes see: a compare-and-set store with expiry.

    `seconds` is how long a value lives unless it is renewed. Every method raises Unavailable while
    the store can't be reached.
    """

    async def claim(self, key: str, value: str, seconds: float) -> bool:
        """Set the value unless the key has another one. True if the key has this value now.

        Idempotent: a caller that did not get the answer can ask again.
        """
        ...

    async def renew(self, key: str, value: str, seconds: float) -> bool:
        """Extend the lifetime if the key still has this value. False if it has none or another."""
        ...

    async def find(self, keys: Iterable[str]) -> dict[str, str]:
        """The live values, by key."""
        ...

    async def release(self, key: str, value: str) -> None:
        """Remove the key if it still has this value."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


class RecordingFile(Protocol):
    """The text of one recording: append-only, with one writer and many readers.

    Users are counted. A closed file is removed at once, but can be read to the end by those who
    have acquired it.
    """

    @property
    def end(self) -> int:
        """The offset after all that was written."""
        ...

    async def write(self, text: str) -> None:
        """Append the text. Readers can read it when this returns. Raises RecordingFull at the
        size limit, Unavailable if the disk is full."""
        ...

    async def read(self, offset: int) -> tuple[str, int]:
        """Some text from an offset on, and the offset after it. Empty at the end.

        Only 0 and offsets that this method returned are valid. Others raise ValueError.
        """
        ...

    def close(self) -> None:
        """Remove the file. Those who have acquired it can still read to the end."""
        ...

    def acquire(self) -> None:
        """Count one more user."""
        ...

    def release(self) -> None:
        """Count one user less; the last one of a closed file frees it."""
        ...


class RecordingFiles(Protocol):
    """Creates the files of recordings on this node."""

    async def start(self) -> None:
        """Remove files that an earlier process left behind."""
        ...

    async def create(self, recording_id: str) -> RecordingFile:
        """Create an empty file. Raises Unavailable if the disk does not allow it."""
        ...


class LocationStore(Protocol):
    """Locations as rows. A row that has expired counts as absent."""

    def claim(self, tx: Tx, key: str, value: str, *, now: datetime, until: datetime) -> bool:
        """Insert the row unless the key has one. True if it was inserted."""
        ...

    def renew(self, tx: Tx, key: str, value: str, *, now: datetime, until: datetime) -> bool:
        """Set a new expiry. False if the row is gone or has another value."""
        ...

    def find(self, tx: Tx, keys: Sequence[str], *, now: datetime) -> dict[str, str]:
        """The live values, by key."""
        ...

    def remove(self, tx: Tx, key: str, value: str) -> None:
        """Delete the row if it still has this value."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingStores(SearchStores):
    """The stores of this package and of those below."""

    locations: LocationStore
