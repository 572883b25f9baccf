"""The contents of entries, and the messages around them, written in protobuf's encoding by hand.

Filled through the library, a Value costs a crossing into it for every member, and every message
around it one more copy: a third of the server's work on a page of entries. What is written here
stays bytes until it is sent, because the library writes deeper nesting than it reads. Tests hold
it equal to what the library writes. Messages without entries are the library's.
"""

from collections.abc import Callable, Iterable
from struct import Struct as Layout
from typing import Any

from google.protobuf.message import Message

from recollect.api.grpc.values import to_double

_LENGTH_DELIMITED = 2
# Fields of Value, of Struct with its map, and of ListValue: number and wire type in one byte.
_NULL, _FALSE, _TRUE = b"\x08\x00", b"\x20\x00", b"\x20\x01"
_NUMBER, _STRING, _STRUCT, _LIST = 0x11, b"\x1a", b"\x2a", b"\x32"
_MEMBER, _NAME, _MEMBER_VALUE, _ITEM = b"\x0a", b"\x0a", b"\x12", b"\x0a"
_DOUBLE = Layout("<Bd")
# While it runs, a join holds 80 bytes for each piece: gigabytes for the largest content there is.
_PIECES_MAX = 4096

Parts = list[bytes]
"""Pieces of a message, the last first."""


class _Varints(dict[int, bytes]):
    """Numbers at seven bits a byte, the low ones first; all bytes but the last say that there is
    more. Sizes are small for the most part, and a look-up costs less than a call."""

    def __missing__(self, number: int) -> bytes:
        if number < 128:
            return bytes([number])
        return bytes([number & 127 | 128]) + self[number >> 7]


_varint = _Varints()
_varint.update({number: _varint[number] for number in range(4096)})


class Encoded(Message):
    """A message that is bytes already: the server sends it as it is."""

    __slots__ = ("raw",)

    def __init__(self, raw: bytes) -> None:
        self.raw = raw

    def SerializeToString(self, **_: Any) -> bytes:  # noqa: N802 - the library's name
        """The bytes."""
        return self.raw


def joined(message: Message, number: int, inner: Iterable[bytes]) -> bytes:
    """A message that has, in the field of this number, messages that are bytes already."""
    tag = _varint[number << 3 | _LENGTH_DELIMITED]
    parts = [message.SerializeToString()]
    for raw in inner:
        parts += (tag, _varint[len(raw)], raw)
    return b"".join(parts)


def encode_value(value: Any) -> bytes:
    """A Value that holds this JSON value, as `json` reads it.

    It is written from its end: a size stands before what it is the size of, and what is inside of
    many others is not to be copied into each of them."""
    out: Parts = []
    _KINDS[type(value)](value, out)
    out.reverse()
    while len(out) > _PIECES_MAX:
        out = [b"".join(out[at : at + _PIECES_MAX]) for at in range(0, len(out), _PIECES_MAX)]
    return b"".join(out)


def _put_text(text: str, out: Parts) -> int:
    raw = text.encode()
    size = _varint[len(raw)]
    out += (raw, size, _STRING)
    return 1 + len(size) + len(raw)


def _put_object(members: dict[str, Any], out: Parts) -> int:
    length = 0
    for name, member in reversed(members.items()):
        value_length = _KINDS[type(member)](member, out)
        key = name.encode()
        value_size, key_size = _varint[value_length], _varint[len(key)]
        whole = 2 + len(key_size) + len(key) + len(value_size) + value_length
        size = _varint[whole]
        out += (value_size, _MEMBER_VALUE, key, key_size, _NAME, size, _MEMBER)
        length += 1 + len(size) + whole
    size = _varint[length]
    out += (size, _STRUCT)
    return 1 + len(size) + length


def _put_list(items: list[Any], out: Parts) -> int:
    length = 0
    for item in reversed(items):
        item_length = _KINDS[type(item)](item, out)
        size = _varint[item_length]
        out += (size, _ITEM)
        length += 1 + len(size) + item_length
    size = _varint[length]
    out += (size, _LIST)
    return 1 + len(size) + length


def _put_number(number: float, out: Parts) -> int:
    out.append(_DOUBLE.pack(_NUMBER, to_double(number)))
    return _DOUBLE.size


def _put_truth(truth: bool, out: Parts) -> int:
    out.append(_TRUE if truth else _FALSE)
    return len(_TRUE)


def _put_null(_: None, out: Parts) -> int:
    out.append(_NULL)
    return len(_NULL)


_KINDS: dict[type, Callable[[Any, Parts], int]] = {
    str: _put_text,
    dict: _put_object,
    list: _put_list,
    float: _put_number,
    int: _put_number,
    bool: _put_truth,
    type(None): _put_null,
}
"""How each kind of value is put before what is there; the length of what was put."""
