"""Converts Python values to PostgreSQL's text format and back, for the types our tables use."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import numpy as np

_OID_BOOL, _OID_BYTEA, _OID_INT8, _OID_INT4 = 16, 17, 20, 23
_OID_TIMESTAMPTZ, _OID_NUMERIC, _OID_FLOAT8 = 1184, 1700, 701

Decoder = Callable[[bytes], Any]
Encoder = Callable[[Any], bytes | None]


def encode_param(value: Any) -> bytes | None:
    """A parameter in text format; the statement casts it to its column's type."""
    encoder = _ENCODERS.get(type(value)) or _base_encoder(type(value))
    return encoder(value)


def _base_encoder(kind: type) -> Encoder:
    """The encoder of a base class: a StrEnum is encoded as a str, and so on."""
    for base in kind.__mro__:
        if base in _ENCODERS:
            return _ENCODERS[base]
    raise TypeError(f"no PostgreSQL text for {kind.__name__}")


def decoder_for(oid: int) -> Decoder:
    """The decoder for a result column's type. Types that are not listed are text, UUIDs too."""
    return _DECODERS.get(oid, _decode_text)


def _encode_str(value: str) -> bytes:
    # libpq takes text parameters as C strings.
    if "\x00" in value:
        raise ValueError("a text with NUL would be cut at it")
    return value.encode()


def _decode_text(raw: bytes) -> str:
    return raw.decode()


def _decode_bool(raw: bytes) -> bool:
    return raw == b"t"


def _decode_bytes(raw: bytes) -> bytes:
    """bytea arrives as `\\x` and hexadecimal digits."""
    return bytes.fromhex(raw[2:].decode())


def _encode_vector(value: np.ndarray[Any, Any]) -> bytes:
    return b"[" + b",".join(repr(number).encode() for number in value.tolist()) + b"]"


def _decode_instant(raw: bytes) -> datetime:
    """Every connection sets ISO date style and time zone UTC."""
    return datetime.fromisoformat(raw.decode())


_ENCODERS: dict[type, Encoder] = {
    type(None): lambda _: None,
    str: _encode_str,
    int: lambda value: b"%d" % value,
    float: lambda value: repr(value).encode(),
    bool: lambda value: b"t" if value else b"f",
    datetime: lambda value: value.isoformat().encode(),
    np.ndarray: _encode_vector,
}
_DECODERS: dict[int, Decoder] = {
    _OID_BOOL: _decode_bool,
    _OID_BYTEA: _decode_bytes,
    _OID_INT8: int,
    _OID_INT4: int,
    _OID_NUMERIC: int,
    _OID_FLOAT8: float,
    _OID_TIMESTAMPTZ: _decode_instant,
}
