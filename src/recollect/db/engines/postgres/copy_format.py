"""PostgreSQL's binary COPY format: how the values of `db/row_copy.py` are read and written."""

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from recollect.db.row_copy import Row
from recollect.kernel.errors import Internal, InvalidInput

Encoder = Callable[[Any], bytes]

_SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TRAILER = b"\xff\xff"
_NULL = b"\xff\xff\xff\xff"
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FLOAT_BYTES = 4
_INSTANT = """'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'"""

_size = struct.Struct(">i").pack
_number = struct.Struct(">iq").pack
_real = struct.Struct(">id").pack
_vector_head = struct.Struct(">ihh").pack


@dataclass(frozen=True, slots=True)
class CopiedType:
    """A type of columns: the SQL that turns a column into a value, the type of that SQL, and the
    encoder of a value with its size in front."""

    sql: str
    value_type: str
    encode: Encoder

    def to_value(self, column: str) -> str:
        """The SQL of one column."""
        return self.sql.format(column)


class CopyEncoder:
    """Turns rows into what COPY reads."""

    def __init__(self, types: Sequence[CopiedType]) -> None:
        self._encoders = [type_.encode for type_ in types]
        self._begin = struct.pack(">h", len(types))

    def chunks(self, rows: Iterable[Row], size_bytes: int) -> Iterator[bytes]:
        """All rows, in pieces of about this size."""
        parts, size = [_SIGNATURE], 0
        for row in rows:
            encoded = self._encode(row)
            parts.append(encoded)
            size += len(encoded)
            if size >= size_bytes:
                yield b"".join(parts)
                parts, size = [], 0
        yield b"".join([*parts, _TRAILER])

    def _encode(self, row: Row) -> bytes:
        try:
            return self._begin + b"".join(
                [
                    _NULL if value is None else encode(value)
                    for encode, value in zip(self._encoders, row, strict=True)
                ]
            )
        except (ValueError, TypeError, AttributeError, struct.error) as error:
            raise InvalidInput("a value does not have the type of its column") from error


def copied_type(name: str) -> CopiedType:
    """The type of this name in the catalog."""
    try:
        return _TYPES[name]
    except KeyError:
        raise Internal(f"no way to copy values of the type {name}") from None


def _encode_text(value: str) -> bytes:
    encoded = value.encode()
    return _size(len(encoded)) + encoded


def _encode_bytes(value: bytes) -> bytes:
    return _size(len(value)) + value


def _encode_number(value: int) -> bytes:
    return _number(8, value)


def _encode_real(value: float) -> bytes:
    return _real(8, value)


def _encode_flag(value: int) -> bytes:
    return b"\0\0\0\1\1" if value else b"\0\0\0\1\0"


def _encode_uuid(value: str) -> bytes:
    return b"\0\0\0\x10" + bytes.fromhex(value.replace("-", ""))


def _encode_instant(value: str) -> bytes:
    return _number(8, (datetime.fromisoformat(value) - _EPOCH) // _MICROSECOND)


def _encode_vector(value: bytes) -> bytes:
    return _vector_head(len(value) + 4, len(value) // _FLOAT_BYTES, 0) + value


_TYPES = {
    "text": CopiedType("{}", "text", _encode_text),
    "bigint": CopiedType("{}", "int8", _encode_number),
    # SQLite has no negative zero.
    "double precision": CopiedType("{} + 0.0::float8", "float8", _encode_real),
    "boolean": CopiedType("{}::int", "int4", _encode_flag),
    "uuid": CopiedType("{}::text", "text", _encode_uuid),
    "bytea": CopiedType("{}", "bytea", _encode_bytes),
    "timestamp with time zone": CopiedType(
        "to_char({} AT TIME ZONE 'UTC', " + _INSTANT + ")", "text", _encode_instant
    ),
    # The server's form has a count of numbers in front of them.
    "vector": CopiedType("substring(vector_send({}) FROM 5)", "bytea", _encode_vector),
}
