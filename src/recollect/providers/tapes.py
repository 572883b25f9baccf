"""Recordings on this node's disk: a file each, gone when the recording is over.

A file is a row of frames: four bytes of length, then text in UTF-8, sealed where encryption is on.
Frames end between characters, so a reader never gets half of one, and none is longer than a reader
takes at once. Small texts are written, and all are read, without a thread: that is a copy in
memory, and the system's cache takes it.
"""

import asyncio
import os
import time
from collections.abc import Coroutine, Iterator
from contextlib import suppress
from pathlib import Path
from struct import Struct

from recollect.errors import Internal, RecordingFull, Unavailable
from recollect.ports.runtime import Cipher

# At most 64 KiB of UTF-8, and a third more where it is sealed.
FRAME_CHARACTERS_MAX = 16 * 1024
READ_BYTES = 128 * 1024
# Up to here a write is a copy in memory; a longer one may wait for the disk, on a thread.
QUICK_CHARACTERS = 64 * 1024
SUFFIX = ".tape"
_LENGTH = Struct(">I")
_TABLE, _COLUMN = "recordings", "content"
_NO_PLACE = "no such place in the recording"


class FileTapes:
    """Implements `recollect.ports.recordings.Tapes` in a folder."""

    def __init__(
        self, folder: Path, cipher: Cipher, *, bytes_max: int, leftover_seconds: float
    ) -> None:
        self._folder = folder
        self._cipher = cipher
        self._bytes_max = bytes_max
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
        return FileTape(file, path, self._cipher, bytes_max=self._bytes_max)

    def _sweep(self) -> None:
        oldest = time.time() - self._leftover_seconds
        for path in self._folder.glob(f"*{SUFFIX}"):
            with suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()


class FileTape:
    """Implements `recollect.ports.recordings.Tape`."""

    def __init__(self, file: int, path: Path, cipher: Cipher, *, bytes_max: int) -> None:
        self._file = file
        self._path = path
        self._cipher = cipher
        self._sealed = cipher.enabled
        self._bytes_max = bytes_max
        self._end = 0
        self._users = 0
        self._closed = False

    @property
    def end(self) -> int:
        """See the port."""
        return self._end

    async def write(self, text: str) -> None:
        """See the port."""
        self.hold()
        try:
            if len(text) > QUICK_CHARACTERS:
                await _to_the_end(asyncio.to_thread(self._append, text))
            else:
                self._append(text)
        except OSError as error:
            raise Unavailable(f"can't record: {error.strerror}") from error
        finally:
            self.let_go()

    async def read(self, offset: int) -> tuple[str, int]:
        """See the port. Of a tape that was removed before a reader began nothing is left."""
        if self._file < 0:
            return "", offset
        if not 0 <= offset <= self._end:
            raise ValueError(_NO_PLACE)
        raw = os.pread(self._file, min(READ_BYTES, self._end - offset), offset)
        texts: list[str] = []
        for text, behind in self._frames(offset, raw):
            texts.append(text)
            offset = behind
        if raw and not texts:
            raise ValueError(_NO_PLACE)
        return "".join(texts), offset

    def close(self) -> None:
        """See the port."""
        self._closed = True
        with suppress(OSError):
            self._path.unlink()
        self._close_if_unused()

    def hold(self) -> None:
        """See the port."""
        self._users += 1

    def let_go(self) -> None:
        """See the port."""
        self._users -= 1
        self._close_if_unused()

    def _close_if_unused(self) -> None:
        if self._closed and self._users == 0 and self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _append(self, text: str) -> None:
        """Write all of it, or nothing that anybody sees."""
        parts = range(0, len(text), FRAME_CHARACTERS_MAX)
        view = memoryview(
            b"".join(self._frame(text[at : at + FRAME_CHARACTERS_MAX]) for at in parts)
        )
        at, end = self._end, self._end + len(view)
        if end > self._bytes_max:
            raise RecordingFull(
                f"a recording may have {self._bytes_max} bytes (recorder.max_bytes)"
            )
        while view:
            written = os.pwrite(self._file, view, at)
            view, at = view[written:], at + written
        self._end = end

    def _frame(self, text: str) -> bytes:
        if self._sealed:
            text = self._cipher.seal(text, table=_TABLE, column=_COLUMN, row_id=self._path.stem)
        raw = text.encode()
        return _LENGTH.pack(len(raw)) + raw

    def _frames(self, offset: int, raw: bytes) -> Iterator[tuple[str, int]]:
        """The whole frames at the beginning of some bytes."""
        at = 0
        while at + _LENGTH.size <= len(raw):
            (length,) = _LENGTH.unpack_from(raw, at)
            behind = at + _LENGTH.size + length
            if behind > len(raw):
                return
            yield self._text(raw[at + _LENGTH.size : behind]), offset + behind
            at = behind

    def _text(self, raw: bytes) -> str:
        try:
            text = raw.decode()
            if self._sealed:
                row_id = self._path.stem
                text = self._cipher.open(text, table=_TABLE, column=_COLUMN, row_id=row_id)
        except (UnicodeDecodeError, Internal):
            raise ValueError(_NO_PLACE) from None
        return text


async def _to_the_end(work: Coroutine[None, None, None]) -> None:
    """Whoever is told to stop meanwhile stops afterwards: a thread can't be."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.gather(task, return_exceptions=True)
        raise
