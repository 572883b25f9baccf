"""Encodes the content of entries, and the messages around it, in protobuf's wire format by hand.

Through the library a Value costs one call into C for each field, and each message around it one
more copy. That was a third of the server's work on a page of entries. What is encoded here stays
bytes until it is sent. Tests prove it equal to the library's output. Messages without entries are
encoded by the library.
"""

from collections.abc import Callable, Iterable
from struct import Struct as Layout
from typing import Any

from google.protobuf.message import Message

from recollect.kernel.strict_json import dump
from recollect.rpc.values import LEVELS_MAX, to_double

_LENGTH_DELIMITED = 2
# Fields of Value, of Struct with its map, and of ListValue: number and wire type in one byte.
_NULL, _FALSE, _TRUE = b"\x08\x00", b"\x20\x00", b"\x20\x01"
_NUMBER, _STRING, _STRUCT, _LIST = 0x11, b"\x1a", b"\x2a", b"\x32"
_MEMBER, _NAME, _MEMBER_VALUE, _ITEM = b"\x0a", b"\x0a", b"\x12", b"\x0a"
_DOUBLE = Layout("<Bd")
# For the largest content the separate pieces would take gigabytes, so they are joined in between.
_PIECES_MAX = 4096

ReversedPieces = list[bytes]
"""Pieces of a message in reverse order."""


class _Varints(dict[int, bytes]):
    """Varints: seven bits per byte, low bits first; the high bit says that another byte follows.

    A dictionary, because most sizes are small and a look-up is faster than a call.
    """

    def __missing__(self, number: int) -> bytes:
        if number < 128:
            return bytes([number])
        return bytes([number & 127 | 128]) + self[number >> 7]


_varint = _Varints()
_varint.update({number: _varint[number] for number in range(4096)})


class EncodedMessage(Message):
    """A message that is encoded already. The server sends its bytes as they are."""

    __slots__ = ("raw",)

    def __init__(self, raw: bytes) -> None:
        self.raw = raw

    def SerializeToString(self, **_: Any) -> bytes:  # noqa: N802 - the library's name
        """Called by gRPC in place of the library's encoder."""
        return self.raw


def join_messages(message: Message, number: int, inner: Iterable[bytes]) -> bytes:
    """Encode `message`, and append encoded messages as its repeated field `number`.

    The wire format allows fields in any order, so the appended field can follow all others."""
    tag = _varint[number << 3 | _LENGTH_DELIMITED]
    parts = [message.SerializeToString()]
    for raw in inner:
        parts += (tag, _varint[len(raw)], raw)
    return b"".join(parts)


def encode_value(value: Any) -> bytes:
    """Encode a JSON value, as `json` parses it, as a protobuf Value. Levels beyond `LEVELS_MAX`
    become JSON text.

    The pieces are produced from the end to the beginning. In the wire format the size of a nested
    message comes before its bytes, and is known only when those are written. Writing backwards
    needs no second pass, and does not copy inner messages once for each level around them.
    """
    out: ReversedPieces = []
    _PUT_BY_TYPE[type(value)](value, out, LEVELS_MAX)
    return b"".join(reversed(out))


def _join_pieces(start: int, out: ReversedPieces) -> int:
    """Join the pieces from `start` on into one. Returns the index after it."""
    out[start:] = [b"".join(reversed(out[start:]))]
    return start + 1


def _put_text(text: str, out: ReversedPieces, _: int) -> int:
    raw = text.encode()
    size = _varint[len(raw)]
    out += (raw, size, _STRING)
    return 1 + len(size) + len(raw)


def _put_object(members: dict[str, Any], out: ReversedPieces, levels: int) -> int:
    if levels == 0:
        return _put_text(dump(members), out, levels)
    # Pieces are added in reverse: value, its size and tag, then key, its size and tag, then the
    # size and tag of the map entry around both.
    length, start = 0, len(out)
    for name, member in reversed(members.items()):
        value_length = _PUT_BY_TYPE[type(member)](member, out, levels - 1)
        key = name.encode()
        value_size, key_size = _varint[value_length], _varint[len(key)]
        whole = 2 + len(key_size) + len(key) + len(value_size) + value_length
        size = _varint[whole]
        out += (value_size, _MEMBER_VALUE, key, key_size, _NAME, size, _MEMBER)
        length += 1 + len(size) + whole
        if len(out) > start + _PIECES_MAX:
            start = _join_pieces(start, out)
    size = _varint[length]
    out += (size, _STRUCT)
    return 1 + len(size) + length


def _put_list(items: list[Any], out: ReversedPieces, levels: int) -> int:
    if levels == 0:
        return _put_text(dump(items), out, levels)
    length, start = 0, len(out)
    for item in reversed(items):
        item_length = _PUT_BY_TYPE[type(item)](item, out, levels - 1)
        size = _varint[item_length]
        out += (size, _ITEM)
        length += 1 + len(size) + item_length
        if len(out) > start + _PIECES_MAX:
            start = _join_pieces(start, out)
    size = _varint[length]
    out += (size, _LIST)
    return 1 + len(size) + length


def _put_number(number: float, out: ReversedPieces, _: int) -> int:
    out.append(_DOUBLE.pack(_NUMBER, to_double(number)))
    return _DOUBLE.size


def _put_bool(truth: bool, out: ReversedPieces, _: int) -> int:
    out.append(_TRUE if truth else _FALSE)
    return len(_TRUE)


def _put_null(_: None, out: ReversedPieces, __: int) -> int:
    out.append(_NULL)
    return len(_NULL)


_PUT_BY_TYPE: dict[type, Callable[[Any, ReversedPieces, int], int]] = {
    str: _put_text,
    dict: _put_object,
    list: _put_list,
    float: _put_number,
    int: _put_number,
    bool: _put_bool,
    type(None): _put_null,
}
"""For each type, the function that puts a value before the existing pieces and returns its length
in bytes. The third argument is how many levels of nesting are left."""
