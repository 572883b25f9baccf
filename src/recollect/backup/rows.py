"""Rows as bytes: a line of JSON for each, and behind the lines the bytes of their blobs."""

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

from recollect.backup.seal import damage_error
from recollect.db.row_copy import Row

_BLOCK_BYTES = 512 * 1024
_SIZE_BYTES = 4
_LEVEL = 1
_MODULUS = 2**128
_ROW_DIGEST_BYTES = 16

_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode


class RowsDigest:
    """Counts rows and adds up their hashes, so that their order does not matter: no engine gives
    them back in the order in which it got them."""

    def __init__(self) -> None:
        self.rows = 0
        self._sum = 0

    def add(self, line: bytes, blobs: Iterable[bytes]) -> None:
        hashed = blake2b(line, digest_size=_ROW_DIGEST_BYTES)
        for blob in blobs:
            hashed.update(blob)
        self._sum += int.from_bytes(hashed.digest(), "big")
        self.rows += 1

    def add_row(self, row: Row, blobs: Sequence[int]) -> None:
        self.add(*encode_row(row, blobs))

    def hex(self) -> str:
        return f"{self._sum % _MODULUS:032x}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowsDigest) and (self.rows, self._sum) == (other.rows, other._sum)

    __hash__ = None  # type: ignore[assignment]


def encode_row(row: Row, blobs: Sequence[int]) -> tuple[bytes, list[bytes]]:
    """The line of a row, with the sizes of its blobs in their places, and the blobs."""
    if not blobs:
        return _encode(list(row)).encode(), []
    values, found = list(row), []
    for at in blobs:
        if values[at] is not None:
            found.append(bytes(values[at]))
            values[at] = len(found[-1])
    return _encode(values).encode(), found


def encode_blocks(rows: Iterable[Row], blobs: Sequence[int], digest: RowsDigest) -> Iterator[bytes]:
    """The rows in blocks of about equal size, and their digest."""
    lines: list[bytes] = []
    behind: list[bytes] = []
    size = 0
    for row in rows:
        line, found = encode_row(row, blobs)
        digest.add(line, found)
        lines.append(line)
        behind += found
        size += len(line) + sum(map(len, found))
        if size >= _BLOCK_BYTES:
            yield _to_block(lines, behind)
            lines, behind, size = [], [], 0
    if lines:
        yield _to_block(lines, behind)


def decode_block(block: bytes, blobs: Sequence[int], digest: RowsDigest) -> Iterator[Row]:
    """The rows of a block; adds them to the digest."""
    size = int.from_bytes(block[:_SIZE_BYTES], "big")
    text = zlib.decompress(block[_SIZE_BYTES : _SIZE_BYTES + size])
    at = _SIZE_BYTES + size
    # JSON has no raw line ends inside of its texts. One call for all lines is twice as fast.
    rows: list[list[Any]] = json.loads(b"[" + text.replace(b"\n", b",") + b"]")
    for line, row in zip(text.split(b"\n"), rows, strict=True):
        found = []
        for place in blobs:
            if row[place] is not None:
                found.append(block[at : at + row[place]])
                at += row[place]
                row[place] = found[-1]
        digest.add(line, found)
        yield row
    if at != len(block):
        raise damage_error("a block of rows")


def _to_block(lines: Sequence[bytes], behind: Sequence[bytes]) -> bytes:
    # Vectors are numbers without a pattern: to compress them takes long and gains nothing.
    text = zlib.compress(b"\n".join(lines), _LEVEL)
    return b"".join([len(text).to_bytes(_SIZE_BYTES, "big"), text, *behind])
