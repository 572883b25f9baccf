"""Streamed request bodies, JSON lines and plain text: they may be larger than memory."""

from codecs import getincrementaldecoder
from collections.abc import AsyncIterator

from starlette.types import Receive

from recollect.api.rest.request import ClientGone
from recollect.http.call import Headers
from recollect.http.errors import UnsupportedMediaType
from recollect.http.operation import PLAIN_TEXT
from recollect.http.validation import BODY_BYTES_MAX
from recollect.kernel.errors import LimitExceeded, ValidationFailed

NDJSON_MEDIA = "application/x-ndjson"


async def read_lines(receive: Receive, headers: Headers) -> AsyncIterator[bytes]:
    """The lines without their line feeds; the last one need not have one."""
    _check_media(headers.get(b"content-type"), NDJSON_MEDIA, "lines of JSON")
    rest = b""
    async for chunk in _receive_chunks(receive):
        *whole_lines, rest = (rest + chunk).split(b"\n")
        _check_size(rest)
        for line in whole_lines:
            _check_size(line)
            yield line
    if rest:
        yield rest


def read_text_chunks(receive: Receive, headers: Headers) -> AsyncIterator[str]:
    """Plain text in chunks that never split a character."""
    _check_media(headers.get(b"content-type"), PLAIN_TEXT, "plain text in UTF-8")
    return _decode_chunks(receive)


async def read_whole(receive: Receive, headers: Headers) -> bytes:
    """The whole body of JSON lines; it may be as large as any other body."""
    _check_media(headers.get(b"content-type"), NDJSON_MEDIA, "lines of JSON")
    chunks: list[bytes] = []
    size = 0
    async for chunk in _receive_chunks(receive):
        chunks.append(chunk)
        size += len(chunk)
        if size > BODY_BYTES_MAX:
            raise _too_large_error("a body that is sent with an `Idempotency-Key`")
    return b"".join(chunks)


async def split_lines(raw: bytes) -> AsyncIterator[bytes]:
    """The lines of a body that was already read."""
    for line in raw.split(b"\n"):
        yield line


async def _decode_chunks(receive: Receive) -> AsyncIterator[str]:
    decoder = getincrementaldecoder("utf-8")()
    try:
        async for chunk in _receive_chunks(receive):
            yield decoder.decode(chunk)
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise ValidationFailed.for_field("body", "must be UTF-8") from None


async def _receive_chunks(receive: Receive) -> AsyncIterator[bytes]:
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        yield message.get("body", b"")
        more = message.get("more_body", False)


def _check_size(line: bytes) -> None:
    if len(line) > BODY_BYTES_MAX:
        raise _too_large_error("a line")


def _too_large_error(what: str) -> LimitExceeded:
    return LimitExceeded(f"{what} must have at most {BODY_BYTES_MAX} bytes")


def _check_media(content_type: bytes | None, wanted: str, words: str) -> None:
    if content_type is None:
        return
    media, *parameters = content_type.decode("latin-1").lower().split(";")
    charsets = [p.split("=", 1)[1].strip('" ') for p in parameters if "charset=" in p]
    if media.strip() != wanted or any(charset not in ("utf-8", "utf8") for charset in charsets):
        raise UnsupportedMediaType(f"the body must be {words}: send `Content-Type: {wanted}`")
