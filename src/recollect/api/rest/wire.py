"""From bytes to values: headers, bodies, query strings and path ids.

Everything that is wrong with a request's syntax is said here, with names as on the wire.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from pydantic import ValidationError
from pydantic_core import ErrorDetails
from starlette.types import Receive

from recollect.api.bodies import Body, SearchBody
from recollect.api.errors import UnsupportedMediaType
from recollect.api.operation import Paging
from recollect.api.params import VALUES_MAX, Param
from recollect.api.params import limit as limit_param
from recollect.domain import jsontext
from recollect.domain.jsontext import drop_unstorable
from recollect.errors import (
    LimitExceeded,
    Unauthenticated,
    ValidationFailed,
    Violation,
)
from recollect.services.idempotency import check_key

BODY_BYTES_MAX = 16 * 1024 * 1024

Headers = Mapping[bytes, bytes]
Parameters = Mapping[str, list[str]]
M = TypeVar("M", bound=Body)

_CREDENTIALS = (b"authorization", b"x-api-key", b"x-requester-id")
_LIMITS: dict[int | None, Param] = {n: limit_param(n) for n in (None, 20, 50, 100)}


class ClientGone(Exception):
    """The caller hung up before the request was whole; there is nobody to answer."""


@dataclass(frozen=True, slots=True)
class PageAsked:
    """Which page of a list. `echo` says that the caller used the cursor's other name."""

    after: str | None
    limit: int | None
    echo: bool

    @property
    def size(self) -> int:
        """The limit of a list that always has one."""
        if self.limit is None:
            raise TypeError("the operation's table row gives no default limit")
        return self.limit


def refuse_doubled_credentials(raw: Sequence[tuple[bytes, bytes]]) -> None:
    """A credential that is sent twice is not believed: proxies disagree on which one counts."""
    names = [name for name, _ in raw]
    if any(names.count(name) > 1 for name in _CREDENTIALS):
        raise Unauthenticated("a credential header was sent more than once")


def credential(headers: Headers, name: bytes) -> str | None:
    """A credential's text: UTF-8, whatever the server framework thinks of header encodings."""
    value = headers.get(name)
    if value is None:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise Unauthenticated(f"{name.decode()} is not UTF-8") from None


def idempotency_key(headers: Headers) -> str | None:
    """The key under which a request may be sent again, if it has one."""
    raw = headers.get(b"idempotency-key")
    return None if raw is None else check_key(raw.decode("utf-8", "replace"))


async def read_body(receive: Receive, headers: Headers) -> bytes:
    """The whole body. Too large is said from its declared length, or while counting."""
    declared = headers.get(b"content-length", b"")
    if declared.isdigit() and (len(declared) > 15 or int(declared) > BODY_BYTES_MAX):
        raise _too_large()
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
            raise _too_large()
    body = chunks[0] if len(chunks) == 1 else b"".join(chunks)
    if body:
        _check_media_type(headers.get(b"content-type"))
    return body


def from_body(raw: bytes, model: type[M]) -> M:
    """The body as its model. Null members count as absent, unless the model says otherwise."""
    if raw:
        value = jsontext.parse(raw, queries=model.queries)
    elif model.optional:
        value = {}
    else:
        raise ValidationFailed.of("body", "a JSON body is required")
    return from_value(value, model)


def from_value(value: Any, model: type[M]) -> M:
    """A parsed value as its model, by the same rules."""
    try:
        return model.model_validate(_sent(value, model))
    except ValidationError as error:
        raise _violations(error, model) from None


def refuse_unknown(parameters: Parameters, known: Iterable[str]) -> None:
    """The memory family takes no parameter that it doesn't know: a misspelt one is no filter."""
    names = sorted(known)
    unknown = [drop_unstorable(name)[:100] for name in parameters if name not in names]
    if unknown:
        raise _failed([_unknown("parameter", name, names) for name in unknown])


def from_query_string(raw: bytes) -> dict[str, list[str]]:
    """The values of each parameter, in the order they were sent; bad UTF-8 becomes U+FFFD."""
    parameters: dict[str, list[str]] = {}
    if raw:
        text = raw.decode("latin-1")
        for name, value in parse_qsl(text, keep_blank_values=True, encoding="utf-8"):
            parameters.setdefault(name, []).append(value)
    return parameters


def from_query(parameters: Parameters, wanted: Iterable[Param]) -> dict[str, Any]:
    """The value of each wanted parameter. All violations are told at once."""
    values: dict[str, Any] = {}
    wrong: list[Violation] = []
    for param in wanted:
        try:
            values[param.name] = _from_parameter(parameters, param)
        except ValueError as error:
            wrong.append(Violation(param.name, str(error)))
    if wrong:
        raise _failed(wrong)
    return values


def from_paging(parameters: Parameters, paging: Paging, *, echo: bool) -> PageAsked:
    """The page that was asked for. The names of a cursor are one parameter; who uses the name
    `afterCursor`, or an `echo` for everybody, gets the next cursor under that name too."""
    echo = echo or "afterCursor" in parameters
    names = paging.envelope.cursor_names
    cursor = _one_cursor((c for name in names for c in parameters.get(name, ())), names[0])
    limit = from_query(parameters, (_LIMITS[paging.limit],))["limit"]
    return PageAsked(cursor, limit, echo)


def from_search_body(body: SearchBody, *, echo: bool) -> PageAsked:
    """The page that a search asks for, by the same rules."""
    given = [cursor for cursor in (body.after, body.after_cursor) if cursor is not None]
    echo = echo or body.after_cursor is not None
    return PageAsked(_one_cursor(given, "after"), body.limit, echo)


def peek_member(raw: bytes, name: str, model: type[Body]) -> str | None:
    """A text member of a body whose syntax nobody has checked yet; None if it has none."""
    try:
        value = jsontext.parse(raw, queries=model.queries) if raw else None
    except ValidationFailed:
        return None
    member = value.get(name) if isinstance(value, dict) else None
    return member if isinstance(member, str) else None


def _sent(value: Any, model: type[Body]) -> Any:
    """What the model is to check: the list, or the members that count as sent."""
    if model.listed:
        if not isinstance(value, list):
            raise ValidationFailed.of("body", "must be a JSON array")
        return value
    if not isinstance(value, dict):
        raise ValidationFailed.of("body", "must be a JSON object")
    return {k: v for k, v in value.items() if v is not None or k in model.nullable}


def _one_cursor(given: Iterable[str], field: str) -> str | None:
    cursors = {*given}
    if len(cursors) > 1:
        raise ValidationFailed.of(field, "must not be given twice with different values")
    return "".join(cursors) or None


def _from_parameter(parameters: Parameters, param: Param) -> Any:
    given = parameters.get(param.name)
    if given is None:
        return param.default
    if param.many:
        return _from_many(given, param)
    if len(set(given)) > 1:
        raise ValueError("must not be given twice with different values")
    return param.read(given[0])


def _from_many(given: list[str], param: Param) -> tuple[Any, ...]:
    if len(given) > VALUES_MAX:
        raise ValueError(f"must not be given more than {VALUES_MAX} times")
    return tuple(param.read(text) for text in dict.fromkeys(given))


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


def _violations(error: ValidationError, model: type[Body]) -> ValidationFailed:
    return _failed(
        [
            _violation(e, model)
            for e in error.errors(include_url=False, include_context=False, include_input=False)
        ]
    )


def _violation(error: ErrorDetails, model: type[Body]) -> Violation:
    field = _field(error["loc"])
    if error["type"] == "extra_forbidden" and len(error["loc"]) == 1:
        return _unknown("member", field, sorted(model.model_fields))
    return Violation(field, error["msg"].removeprefix("Value error, "))


def _unknown(what: str, name: str, known: Sequence[str]) -> Violation:
    meant = get_close_matches(name, known, n=1)
    hint = f"; did you mean `{meant[0]}`?" if meant else ""
    return Violation(name, f"unknown {what}{hint}", tuple(known))


def _field(location: Iterable[int | str]) -> str:
    """The way to a member; a fault of the whole is one of the body."""
    return drop_unstorable(".".join(map(str, location)))[:200] or "body"


def _failed(violations: list[Violation]) -> ValidationFailed:
    return ValidationFailed("; ".join(f"{v.field}: {v.message}" for v in violations), violations)


def _too_large() -> LimitExceeded:
    return LimitExceeded(f"the body must have at most {BODY_BYTES_MAX} bytes")
