"""A gRPC client that does next to nothing: prebuilt HTTP/2 frames out, of answers only their ends.

grpcio's own client would take more of the cores than the server that is measured. This module
imports nothing of the project: the clients' process imports it and must stay small.
"""

import struct
from collections.abc import Iterator, Mapping

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 4, 6, 7, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1
WINDOW_MAX = 2**31 - 1
_WINDOW_FIRST = 2**16 - 1
_INITIAL_WINDOW_SIZE = 4
_HEAD_BYTES = 9
_STREAM_AT = 5
_WINDOW_LEAST = 2**30


def opening() -> bytes:
    """What a connection begins with: answers of any size may come at once."""
    settings = struct.pack(">HI", _INITIAL_WINDOW_SIZE, WINDOW_MAX)
    return PREFACE + frame(SETTINGS, 0, settings) + wider(WINDOW_MAX - _WINDOW_FIRST)


def wider(size_bytes: int) -> bytes:
    """So many bytes more may come."""
    return frame(WINDOW_UPDATE, 0, struct.pack(">I", size_bytes))


def frame(kind: int, flags: int, payload: bytes, stream: int = 0) -> bytes:
    """One frame."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def call(path: str, metadata: Mapping[str, str], message: bytes) -> bytes:
    """A call as two frames without the number of their stream. Headers are never indexed, so that
    the same bytes are good on every connection and as often as one likes."""
    pairs = {
        ":method": "POST",
        ":scheme": "http",
        ":path": path,
        ":authority": "127.0.0.1",
        "content-type": "application/grpc",
        "te": "trailers",
        **metadata,
    }
    block = b"".join(_literal(name.encode(), value.encode()) for name, value in pairs.items())
    body = struct.pack(">BI", 0, len(message)) + message
    return frame(HEADERS, END_HEADERS, block) + frame(DATA, END_STREAM, body)


def on_stream(prepared: bytes, stream: int) -> bytes:
    """The frames of a call, on this stream."""
    frames = bytearray(prepared)
    number = struct.pack(">I", stream)
    second = _HEAD_BYTES + int.from_bytes(prepared[:3], "big")
    for at in (0, second):
        frames[at + _STREAM_AT : at + _HEAD_BYTES] = number
    return bytes(frames)


class Answers:
    """Reads frames. `replies` are bytes that the other side waits for."""

    def __init__(self) -> None:
        self._seen = b""
        self._window = WINDOW_MAX
        self._told = False
        self.replies = b""

    def feed(self, received: bytes) -> Iterator[bool]:
        """For each call that has ended: was it answered? A refusal is an end without a message."""
        self._seen += received
        at = 0
        while len(self._seen) - at >= _HEAD_BYTES:
            size = int.from_bytes(self._seen[at : at + 3], "big")
            end = at + _HEAD_BYTES + size
            if end > len(self._seen):
                break
            kind, flags = self._seen[at + 3], self._seen[at + 4]
            yield from self._frame(kind, flags, self._seen[at + _HEAD_BYTES : end])
            at = end
        self._seen = self._seen[at:]

    def _frame(self, kind: int, flags: int, payload: bytes) -> Iterator[bool]:
        if kind == DATA:
            self._told = True
            self._take(len(payload))
        elif kind == HEADERS and flags & END_STREAM:
            told, self._told = self._told, False
            yield told
        elif kind == SETTINGS and not flags & ACK:
            self.replies += frame(SETTINGS, ACK, b"")
        elif kind == PING and not flags & ACK:
            self.replies += frame(PING, ACK, payload)
        elif kind not in (HEADERS, SETTINGS, PING, WINDOW_UPDATE):
            yield False

    def _take(self, size_bytes: int) -> None:
        self._window -= size_bytes
        if self._window < _WINDOW_LEAST:
            self.replies += wider(WINDOW_MAX - self._window)
            self._window = WINDOW_MAX


def _literal(name: bytes, value: bytes) -> bytes:
    return b"\x10" + _text(name) + _text(value)


def _text(text: bytes) -> bytes:
    """A length of seven bits, continued where that is too few."""
    size = len(text)
    if size < 127:
        return bytes([size]) + text
    head, rest = bytearray([127]), size - 127
    while rest >= 128:
        head.append(rest % 128 + 128)
        rest //= 128
    head.append(rest)
    return bytes(head) + text
