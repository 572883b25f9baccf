"""What both faces of the client share and what never waits: requests, answers, operations."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any
from urllib.parse import quote, urlencode

from pydantic import BaseModel

JSON_MEDIA = "application/json"
KEY_HEADER = "idempotency-key"
EXAMPLE_URL = "http://127.0.0.1:8080"


def snake_case(name: str) -> str:
    """`forkedAtEntryId` as `forked_at_entry_id`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the server.

    `query` and `body` have the arguments by their name here, with their name on the wire. With
    `takes_key` the operation can be repeated under an idempotency key; one that only reads needs
    none.
    """

    id: str
    method: str
    path: str
    response: type[BaseModel] | None = None
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, str] = field(default_factory=dict)
    takes_key: bool = False
    only_reads: bool = False
    body_is_list: bool = False

    @property
    def argument_names(self) -> dict[str, str]:
        """All arguments by their name here, with their name on the wire."""
        return {**self.query, **self.body}


@dataclass(frozen=True, slots=True)
class Request:
    """A request as every transport sends it. The path and the query are escaped already."""

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def target(self) -> str:
        return f"{self.path}?{self.query}" if self.query else self.path


@dataclass(frozen=True, slots=True)
class Response:
    """An answer, with the names of its headers in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


def fill_path(template: str, values: Mapping[str, str]) -> str:
    """The path with these values, each escaped as one segment."""

    def value_of(found: re.Match[str]) -> str:
        return quote(check_segment(values[found[1]], snake_case(found[1])), safe="")

    return re.sub(r"{(\w+)}", value_of, template)


def encode_query(values: Mapping[str, Any]) -> str:
    """The query string. None is not sent, and a list is sent value by value."""
    pairs: list[tuple[str, str]] = []
    for name, value in values.items():
        if value is None:
            continue
        is_list = isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)
        listed = value if is_list else [value]
        with _naming(snake_case(name)):
            pairs += [(name, query_text(one)) for one in listed]
    return urlencode(pairs, errors="surrogatepass")


def query_text(value: Any) -> str:
    """A value as the query spells it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return to_instant(value)
    if isinstance(value, str | int | float):
        return str(value)
    raise TypeError(f"must be a text, a number or an instant, not {type(value).__name__}")


def encode_body(value: Any) -> bytes:
    """The body as JSON. A lone surrogate goes as an escape: the server says which field has it."""
    text = json.dumps(value, default=_plain_value, ensure_ascii=False, allow_nan=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(json.loads(text)).encode()


def to_instant(value: datetime) -> str:
    """An instant as the server writes it. A time without zone is in UTC, as everywhere."""
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _plain_value(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(value, datetime):
        return to_instant(value)
    if isinstance(value, set | frozenset | tuple):
        return list(value)
    raise TypeError(f"must be a value of JSON, not {type(value).__name__}")


def check_names(operation: Operation, arguments: Mapping[str, Any]) -> None:
    """TypeError for an argument that the operation does not have, with the one that was meant."""
    known = operation.argument_names
    for name in arguments:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]}?" if close else f"it has {', '.join(known)}"
            raise TypeError(f"{operation.id} has no argument {name}: {hint}")


def json_body(operation: Operation, arguments: Mapping[str, Any]) -> bytes:
    """The body of an operation with these arguments; empty if it has none."""
    if operation.body_is_list:
        with _naming("items"):
            return encode_body(list(arguments["items"]))
    body = {wire: arguments[name] for name, wire in operation.body.items() if name in arguments}
    try:
        return encode_body(body) if operation.body else b""
    except (TypeError, ValueError, OverflowError, RecursionError):
        for wire, value in body.items():
            with _naming(snake_case(wire)):
                encode_body(value)
        raise


def check_text(value: Any, name: str) -> str:
    """The value, if it is a text that is not empty; otherwise an error that names the argument."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: must be a text, not {type(value).__name__}")
    if not value.strip():
        raise ValueError(f"{name}: must not be empty")
    return value


def check_segment(value: Any, name: str) -> str:
    """The value, if the path of a URL can carry it."""
    check_text(value, name)
    if value in (".", ".."):
        # Whatever handles a URL takes these segments out, escaped or not (RFC 3986, 6.2.2.3): the
        # request would name something else, such as the whole in place of its part.
        raise ValueError(f"{name}: must not be {value!r}, which no URL can carry")
    return check_encodable(value, name)


def check_encodable(value: str, name: str) -> str:
    """The value, if it can be sent: half of a surrogate pair has no bytes in UTF-8."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name}: must not contain half of a surrogate pair") from None
    return value


def check_header(value: Any, name: str) -> str:
    """The value, if a header can carry it unchanged."""
    text = check_encodable(check_text(value, name), name)
    if text != text.strip():
        raise ValueError(f"{name}: must not begin or end with white space")
    if any(ord(char) < 32 or ord(char) == 127 for char in text):
        raise ValueError(f"{name}: must not contain control characters")
    return text


@contextmanager
def _naming(argument: str) -> Iterator[None]:
    """Says of an error which argument could not be sent."""
    try:
        yield
    except RecursionError:
        raise ValueError(f"{argument}: must not be nested this deeply") from None
    except TypeError as error:
        raise TypeError(f"{argument}: {error}") from None
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{argument}: {error}") from None


def check_url(url: str) -> str:
    """The URL of a server without a slash at its end."""
    check_text(url, "url")
    if not re.match(r"https?://[^/]", url):
        raise ValueError(f"url: must begin with http:// or https://, such as {EXAMPLE_URL}")
    return url.rstrip("/")
