"""Recordings on this node's disk: a file each, gone when the recording is over.

A file is a row of frames: four bytes of length, then text in UTF-8, sealed where encryption is on.
Frames end between characters, so a reader never gets half of one. Small frames are written and read
at once, without a thread: that is a copy in memory, and the system's cache takes it.
"""

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from struct import Struct

from recollect.errors import Internal, Unavailable
from recollect.ports.runtime import Cipher

READ_BYTES = 64 * 1024
# Up to here a write is a copy in memory; a longer one may wait for the disk, on a thread.
QUICK_BYTES = 256 * 1024
SUFFIX = ".tape"
_LENGTH = Struct(">I")
_TABLE, _COLUMN = "recordings", "content"


class FileTapes:
    """Implements `recollect.ports.recordings.Tapes` in a folder."""

    def __init__(self, folder: Path, cipher: Cipher, *, leftover_seconds: float) -> None:
        self._folder = folder
        self._cipher = cipher
        self._leftover_seconds = leftover_seconds

    async def start(self) -> None:
        """See the port. Younger files may be those of another process in the same folder."""
        await asyncio.to_thread(self._sweep)

    async def create(self, recording_id: str) -> "FileTape":
        """See the port."""
        path = self._folder / f"{recording_id}{SUFFIX}"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise Unavailable(f"can't record: {error.strerror}") from error
        return FileTape(file, path, recording_id, self._cipher)

    def _sweep(self) -> None:
        oldest = time.time() - self._leftover_seconds
        for path in self._folder.glob(f"*{SUFFIX}"):
            with suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()


class FileTape:
    """Implements `recollect.ports.recordings.Tape`."""

    def __init__(self, file: int, path: Path, recording_id: str, cipher: Cipher) -> None:
        self._file = file
        self._path = path
        self._id = recording_id
        self._cipher = cipher
        self._sealed = cipher.enabled
        self._end = 0
        self._readers = 0
        self._closed = False

    @property
    def end(self) -> int:
        """See the port."""
        return self._end

    async def write(self, text: str) -> None:
        """See the port."""
        frame = self._frame(text)
        try:
            if len(frame) > QUICK_BYTES:
                await asyncio.to_thread(self._put, frame)
            else:
                self._put(frame)
        except OSError as error:
            raise Unavailable(f"can't record: {error.strerror}") from error
        self._end += len(frame)

    async def read(self, offset: int) -> tuple[str, int]:
        """See the port. Of a tape that was removed before a reader began nothing is left."""
        if self._file < 0:
            return "", offset
        if not 0 <= offset <= self._end:
            raise ValueError("no such place in the recording")
        available = min(READ_BYTES, self._end - offset)
        texts: list[str] = []
        for text, behind in self._frames(offset, os.pread(self._file, available, offset)):
            texts.append(text)
            offset = behind
        if texts or offset == self._end:
            return "".join(texts), offset
        return await asyncio.to_thread(self._long_frame, offset)

    def close(self) -> None:
        """See the port."""
        self._closed = True
        with suppress(OSError):
            self._path.unlink()
        self._close_if_unused()

    def hold(self) -> None:
        """See the port."""
        self._readers += 1

    def let_go(self) -> None:
        """See the port."""
        self._readers -= 1
        self._close_if_unused()

    def _close_if_unused(self) -> None:
        if self._closed and self._readers == 0 and self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _frame(self, text: str) -> bytes:
        if self._sealed:
            text = self._cipher.seal(text, table=_TABLE, column=_COLUMN, row_id=self._id)
        raw = text.encode()
        return _LENGTH.pack(len(raw)) + raw

    def _put(self, frame: bytes) -> None:
        view = memoryview(frame)
        at = self._end
        while view:
            written = os.pwrite(self._file, view, at)
            view, at = view[written:], at + written

    def _frames(self, offset: int, raw: bytes) -> Iterator[tuple[str, int]]:
        """The whole frames at the beginning of some bytes."""
        at = 0
        while at + _LENGTH.size <= len(raw):
            (length,) = _LENGTH.unpack_from(raw, at)
            behind = at + _LENGTH.size + length
            if offset + behind > self._end:
                raise ValueError("no such place in the recording")
            if behind > len(raw):
                return
            yield self._text(raw[at + _LENGTH.size : behind]), offset + behind
            at = behind

    def _long_frame(self, offset: int) -> tuple[str, int]:
        head = os.pread(self._file, _LENGTH.size, offset)
        if len(head) < _LENGTH.size:
            raise ValueError("no such place in the recording")
        (length,) = _LENGTH.unpack(head)
        at = offset + _LENGTH.size
        return self._text(os.pread(self._file, length, at)), at + length

    def _text(self, raw: bytes) -> str:
        try:
            text = raw.decode()
            if self._sealed:
                text = self._cipher.open(text, table=_TABLE, column=_COLUMN, row_id=self._id)
        except (UnicodeDecodeError, Internal):
            raise ValueError("no such place in the recording") from None
        return text
