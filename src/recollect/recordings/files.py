"""Recording files on the local disk, one for each recording, removed when it is over.

A file is a sequence of frames: four bytes of length, then UTF-8 text, encrypted if encryption is
on. A frame never splits a character, and always fits into one read. Reads and small writes run on
the event loop: they are copies to and from the page cache. A thread would cost more.
"""

import asyncio
import os
import time
from collections.abc import Coroutine, Iterator
from contextlib import suppress
from pathlib import Path
from struct import Struct

from recollect.kernel.errors import Internal, RecordingFull, Unavailable
from recollect.kernel.runtime import Cipher

# At most 64 KiB of UTF-8, and a third more if encrypted: less than READ_BYTES.
FRAME_CHARACTERS_MAX = 16 * 1024
READ_BYTES = 128 * 1024
# A longer write may wait for the disk, so it goes to a thread.
QUICK_CHARACTERS = 64 * 1024
SUFFIX = ".tape"
_LENGTH = Struct(">I")
_TABLE, _COLUMN = "recordings", "content"
_NO_SUCH_OFFSET = "no such position in the recording"


class LocalRecordingFiles:
    """Implements `RecordingFiles` in a folder."""

    def __init__(
        self, folder: Path, cipher: Cipher, *, bytes_max: int, leftover_seconds: float
    ) -> None:
        self._folder = folder
        self._cipher = cipher
        self._bytes_max = bytes_max
        self._leftover_seconds = leftover_seconds

    async def start(self) -> None:
        """Removes old files only: younger ones may belong to another process in the same folder."""
        await asyncio.to_thread(self._remove_leftovers)

    async def create(self, recording_id: str) -> "LocalRecordingFile":
        path = self._folder / f"{recording_id}{SUFFIX}"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise Unavailable(f"can't record: {error.strerror}") from error
        return LocalRecordingFile(file, path, self._cipher, bytes_max=self._bytes_max)

    def _remove_leftovers(self) -> None:
        oldest = time.time() - self._leftover_seconds
        for path in self._folder.glob(f"*{SUFFIX}"):
            with suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()


class LocalRecordingFile:
    """Implements `RecordingFile`.

    The file is unlinked when it is closed, but its descriptor stays open until the last user
    releases it: on POSIX an unlinked file can be read as long as it is open.
    """

    def __init__(self, file: int, path: Path, cipher: Cipher, *, bytes_max: int) -> None:
        self._file = file
        self._path = path
        self._cipher = cipher
        self._sealed = cipher.is_enabled
        self._bytes_max = bytes_max
        self._end = 0
        self._users = 0
        self._closed = False

    @property
    def end(self) -> int:
        return self._end

    async def write(self, text: str) -> None:
        # Acquired while writing, so that a `close` in between can't close the descriptor, whose
        # number another file might get.
        self.acquire()
        try:
            if len(text) > QUICK_CHARACTERS:
                await _run_to_completion(asyncio.to_thread(self._append, text))
            else:
                self._append(text)
        except OSError as error:
            raise Unavailable(f"can't record: {error.strerror}") from error
        finally:
            self.release()

    async def read(self, offset: int) -> tuple[str, int]:
        """Returns nothing for a file that was removed before the reader acquired it."""
        if self._file < 0:
            return "", offset
        # `_end` is set after a write is complete, so a reader never sees half a write.
        if not 0 <= offset <= self._end:
            raise ValueError(_NO_SUCH_OFFSET)
        raw = os.pread(self._file, min(READ_BYTES, self._end - offset), offset)
        texts: list[str] = []
        for text, behind in self._decode_frames(offset, raw):
            texts.append(text)
            offset = behind
        # A valid offset is followed by a whole frame. If none could be read, the offset is not
        # the beginning of one.
        if raw and not texts:
            raise ValueError(_NO_SUCH_OFFSET)
        return "".join(texts), offset

    def close(self) -> None:
        self._closed = True
        with suppress(OSError):
            self._path.unlink()
        self._close_if_unused()

    def acquire(self) -> None:
        self._users += 1

    def release(self) -> None:
        self._users -= 1
        self._close_if_unused()

    def _close_if_unused(self) -> None:
        if self._closed and self._users == 0 and self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _append(self, text: str) -> None:
        """Write all of the text, or nothing that a reader can see: `_end` moves last."""
        parts = range(0, len(text), FRAME_CHARACTERS_MAX)
        view = memoryview(
            b"".join(self._encode_frame(text[at : at + FRAME_CHARACTERS_MAX]) for at in parts)
        )
        at, end = self._end, self._end + len(view)
        if end > self._bytes_max:
            raise RecordingFull(
                f"a recording may have {self._bytes_max} bytes (recorder.max_bytes)"
            )
        # `pwrite` may write less than asked for, for example if the disk is nearly full.
        while view:
            written = os.pwrite(self._file, view, at)
            view, at = view[written:], at + written
        self._end = end

    def _encode_frame(self, text: str) -> bytes:
        if self._sealed:
            text = self._cipher.seal(text, table=_TABLE, column=_COLUMN, row_id=self._path.stem)
        raw = text.encode()
        return _LENGTH.pack(len(raw)) + raw

    def _decode_frames(self, offset: int, raw: bytes) -> Iterator[tuple[str, int]]:
        """Decode the whole frames at the beginning of `raw`, each with the offset after it."""
        at = 0
        while at + _LENGTH.size <= len(raw):
            (length,) = _LENGTH.unpack_from(raw, at)
            behind = at + _LENGTH.size + length
            if behind > len(raw):
                return
            yield self._decode_text(raw[at + _LENGTH.size : behind]), offset + behind
            at = behind

    def _decode_text(self, raw: bytes) -> str:
        try:
            text = raw.decode()
            if self._sealed:
                row_id = self._path.stem
                text = self._cipher.open(text, table=_TABLE, column=_COLUMN, row_id=row_id)
        except (UnicodeDecodeError, Internal):
            raise ValueError(_NO_SUCH_OFFSET) from None
        return text


async def _run_to_completion(work: Coroutine[None, None, None]) -> None:
    """Await the work to its end, and only then let a cancellation through: a thread can't be
    cancelled, and goes on writing to the file."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.gather(task, return_exceptions=True)
        raise
