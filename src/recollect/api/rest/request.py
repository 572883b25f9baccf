"""Reads headers, bodies and query strings of HTTP requests from their bytes."""

from collections.abc import Sequence
from typing import TypeVar
from urllib.parse import parse_qsl

from starlette.types import Receive

from recollect.http.bodies import Body
from recollect.http.call import Headers
from recollect.http.errors import UnsupportedMediaType
from recollect.http.validation import BODY_BYTES_MAX, validate_body
from recollect.idempotency.service import check_key
from recollect.kernel import strict_json
from recollect.kernel.errors import (
    LimitExceeded,
    Unauthenticated,
    ValidationFailed,
)

M = TypeVar("M", bound=Body)

_CREDENTIALS = (b"authorization", b"x-api-key", b"x-requester-id")


class ClientGone(Exception):
    """The client disconnected before the request was complete; there is nobody to answer."""


def refuse_doubled_credentials(raw: Sequence[tuple[bytes, bytes]]) -> None:
    """Refuse a credential header that is sent twice: proxies disagree on which one counts."""
    names = [name for name, _ in raw]
    if any(names.count(name) > 1 for name in _CREDENTIALS):
        raise Unauthenticated("a credential header was sent more than once")


def read_credential(headers: Headers, name: bytes) -> str | None:
    """A credential header as UTF-8 text, None if absent. Raises Unauthenticated if it is none."""
    value = headers.get(name)
    if value is None:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise Unauthenticated(f"{name.decode()} is not UTF-8") from None


def read_idempotency_key(raw: Sequence[tuple[bytes, bytes]]) -> str:
    """The checked idempotency key of a request that has one."""
    keys = {value for name, value in raw if name == b"idempotency-key"}
    if len(keys) > 1:
        raise ValidationFailed.for_field(
            "Idempotency-Key", "must not be sent twice with different values"
        )
    return check_key(keys.pop().decode("utf-8", "replace"))


async def read_body(receive: Receive, headers: Headers) -> bytes:
    """The whole body. LimitExceeded by its declared length, or as soon as it gets too large."""
    declared = headers.get(b"content-length", b"")
    if declared.isdigit() and (len(declared) > 15 or int(declared) > BODY_BYTES_MAX):
        raise _too_large_error()
    chunks: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunks.append(message.get("body", b""))
        size += len(chunks[-1])
        more = message.get("more_body", False)
        if size > BODY_BYTES_MAX:
            raise _too_large_error()
    body = chunks[0] if len(chunks) == 1 else b"".join(chunks)
    if body:
        _check_media_type(headers.get(b"content-type"))
    return body


def parse_body(raw: bytes, model: type[M]) -> M:
    """Parse and validate a JSON body. Null counts as absent, except in `nullable` fields."""
    if raw:
        value = strict_json.parse(raw, queries=model.queries)
    elif model.optional:
        value = {}
    else:
        raise ValidationFailed.for_field("body", "a JSON body is required")
    return validate_body(value, model)


def parse_query_string(raw: bytes) -> dict[str, list[str]]:
    """The values of each parameter, in order; invalid UTF-8 becomes U+FFFD."""
    parameters: dict[str, list[str]] = {}
    if raw:
        text = raw.decode("latin-1")
        for name, value in parse_qsl(text, keep_blank_values=True, encoding="utf-8"):
            parameters.setdefault(name, []).append(value)
    return parameters


def peek_field(raw: bytes, name: str, model: type[Body]) -> str | None:
    """A text field of a body that is not validated yet; None if absent or the JSON is invalid."""
    try:
        value = strict_json.parse(raw, queries=model.queries) if raw else None
    except ValidationFailed:
        return None
    member = value.get(name) if isinstance(value, dict) else None
    return member if isinstance(member, str) else None


def _check_media_type(content_type: bytes | None) -> None:
    if content_type is None or content_type == b"application/json":
        return
    media, *parameters = content_type.decode("latin-1").lower().split(";")
    media = media.strip()
    charsets = [p.split("=", 1)[1].strip('" ') for p in parameters if "charset=" in p]
    is_json = media == "application/json" or (
        media.startswith("application/") and media.endswith("+json")
    )
    if not is_json or any(charset not in ("utf-8", "utf8") for charset in charsets):
        raise UnsupportedMediaType(
            "the body must be JSON in UTF-8: send `Content-Type: application/json`"
        )


def _too_large_error() -> LimitExceeded:
    return LimitExceeded(f"the body must have at most {BODY_BYTES_MAX} bytes")
