"""Where recordings are, and what they are written on."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from recollect.ports.database import Tx


class Locator(Protocol):
    """Short-lived values that all nodes see. Raises Unavailable while its store is away.

    `seconds` is how long a value lives unless it is renewed.
    """

    async def claim(self, key: str, value: str, seconds: float) -> bool:
        """Set it, unless another value is there; is it this one now? Who did not hear the answer
        can ask again."""
        ...

    async def renew(self, key: str, value: str, seconds: float) -> bool:
        """Let it live on, if it is still this value; False if it is gone or another's."""
        ...

    async def find(self, keys: Iterable[str]) -> dict[str, str]:
        """The values that there are, by key."""
        ...

    async def release(self, key: str, value: str) -> None:
        """Remove it, if it is still this value."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class Tape(Protocol):
    """One recording's text, in the order it came. Written by one, read by many."""

    @property
    def end(self) -> int:
        """The offset behind all that was written."""
        ...

    async def write(self, text: str) -> None:
        """Append; returns when readers can have it. Raises RecordingFull if the tape is full,
        Unavailable if the disk is."""
        ...

    async def read(self, offset: int) -> tuple[str, int]:
        """Some of the text from an offset on, and the offset behind it. Empty at the end. Only
        offsets that it gave out are offsets of it: another one raises ValueError."""
        ...

    def close(self) -> None:
        """Remove it. Whoever still reads may do so to the end."""
        ...

    def hold(self) -> None:
        """A reader begins."""
        ...

    def let_go(self) -> None:
        """A reader is done."""
        ...


class Tapes(Protocol):
    """Makes tapes, on this node."""

    async def start(self) -> None:
        """Remove what an earlier process left behind."""
        ...

    async def create(self, recording_id: str) -> Tape:
        """An empty tape. Raises Unavailable if there is no room for one."""
        ...


class LocationStore(Protocol):
    """Locations as rows; what is due counts as gone."""

    def claim(self, tx: Tx, key: str, value: str, *, now: datetime, until: datetime) -> bool:
        """Insert it unless one is there; was it inserted?"""
        ...

    def renew(self, tx: Tx, key: str, value: str, *, now: datetime, until: datetime) -> bool:
        """Move its end; False if it is gone or another's."""
        ...

    def find(self, tx: Tx, keys: Sequence[str], *, now: datetime) -> dict[str, str]:
        """The values that there are, by key."""
        ...

    def remove(self, tx: Tx, key: str, value: str) -> None:
        """Remove it, if it is still this value."""
        ...
