"""The parts of a backup file, one after the other, each sealed."""

import os
from collections.abc import Callable, Iterator
from typing import BinaryIO

from recollect.backup.seal import MARK_BYTES, Seal, damage_error

_SIZE_BYTES = 4
_CUT = "it ends too early"


class PartWriter:
    """Writes parts. The last one must be marked."""

    def __init__(self, write: Callable[[bytes], object], seal: Seal) -> None:
        self._write = write
        self._seal = seal
        self._number = 0

    def write(self, part: bytes, *, last: bool = False) -> None:
        stored = self._seal.close(part, self._number, last=last)
        self._write(len(stored).to_bytes(_SIZE_BYTES, "big"))
        self._write(stored)
        self._number += 1


def read_parts(file: BinaryIO, seal: Seal) -> Iterator[bytes]:
    """All parts up to the last one. Raises InvalidInput where the file is not as it was written."""
    left = os.fstat(file.fileno()).st_size - file.tell()
    number, last = 0, False
    while not last:
        size = int.from_bytes(file.read(_SIZE_BYTES), "big")
        left -= _SIZE_BYTES + size
        # Before it is read: a wrong size must not take all memory.
        if left < 0:
            raise damage_error(_CUT)
        if size <= MARK_BYTES:
            raise damage_error(f"part {number}")
        last = left == 0
        part = seal.open(file.read(size), number, last=last)
        if part is None:
            raise damage_error(_CUT if last else f"part {number}")
        yield part
        number += 1
