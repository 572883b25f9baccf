"""The declaration of an API operation: one row of the operations table, without its handler.

`api/registry.py` collects the rows of all subjects. Routing, the checks before a handler, the
OpenAPI documents and gRPC read them there, and so can every other surface. A row holds the name,
method and path (whose braces name the ids), the model of the body, the query parameters, the name
of the response's schema, and the errors (`error_statuses`). What a caller may assume of a repeat:
a GET changes nothing, `only_reads` marks a POST that changes nothing, a PUT or a DELETE may be
repeated, and a POST of conversations and memories may be repeated under one idempotency key.

To add an operation to a subject:

1. `<subject>/service.py`: the method that does it.
2. `<subject>/rest.py`: the body, the resource of the answer, a row in OPERATIONS and a handler in
   HANDLERS under the same name. A new module of rows goes into the list in `api/registry.py`.
3. `<subject>/grpc.py`, with its message in `contracts/proto`: only if gRPC has it too.
4. `make generate` writes the OpenAPI documents. `tests/surface` fails for a row without a handler,
   a handler without a row, and a response without a schema.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema

from recollect.audit.model import JUSTIFICATION_CHARS_MAX, none_if_blank
from recollect.http.bodies import Body, StrictBody
from recollect.http.params import (
    Param,
    Schema,
    read_instant,
    require_storable_text,
    text_param,
)
from recollect.http.schemas import TEXT, nullable_schema, object_schema
from recollect.identity.actions import Action
from recollect.kernel.validation import NAME_CHARS_MAX

PLAIN_TEXT = "text/plain"
HTML = "text/html"


class OperationFamily(StrEnum):
    """The API that an operation belongs to, and so the OpenAPI document that describes it."""

    CONVERSATIONS = "conversations"
    ADMIN = "admin"
    SYSTEM = "system"
    MEMORIES = "memories"


class Envelope(StrEnum):
    """How a list is wrapped: A always shows `nextCursor`, B only when another page exists, C has
    the same as A under the name `cursor`, D under the name `next_cursor`."""

    A = "A"
    B = "B"
    C = "C"
    D = "D"

    @property
    def next_cursor(self) -> str:
        """The name of the next page's cursor in a response."""
        return {Envelope.C: "cursor", Envelope.D: "next_cursor"}.get(self, "nextCursor")

    @property
    def cursor_names(self) -> tuple[str, ...]:
        """The names a request may use for its cursor; the first one is documented."""
        if self is Envelope.D:
            return ("after",)
        aliases = ("after", "afterCursor")
        return ("cursor", *aliases) if self is Envelope.C else aliases


@dataclass(frozen=True, slots=True)
class Paging:
    """How a list is paged: its envelope and default page size. A `search` takes cursor and limit in
    the body, and its page names the stages that failed."""

    envelope: Envelope
    limit: int | None = None
    search: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """One API operation.

    `action`: what the caller must be allowed to do, checked before any syntax. `audit`: the name
    under which an admin call is logged. `media`: the response's media type. `takes`: the body's,
    where it is no JSON object and the handler reads it. `streams`: a caller that accepts
    server-sent events gets them. `only_reads`: a repeated POST is answered again, not from the
    recorded answer. `introduces`: an unknown requester is stored by the call. `page`: a caller that
    accepts HTML gets it. `also`: other statuses of a success, and the resources of their answers.

    For the example in the API documents: `sent_text` and `answered_text` are a body that is no
    JSON, `answered` is what this answer has otherwise than the example of its schema.
    """

    name: str
    family: OperationFamily
    method: str
    path: str
    description: str
    success: int
    response: str | None = None
    action: Action | None = None
    audit: str | None = None
    open: bool = False
    body: type[Body] | None = None
    query: tuple[Param, ...] = ()
    paging: Paging | None = None
    media: str = "application/json"
    takes: str = "application/json"
    refusals: tuple[int, ...] = ()
    streams: bool = False
    introduces: bool = True
    only_reads: bool = False
    page: bool = False
    also: Mapping[int, str] = field(default_factory=dict, hash=False)
    sent_text: str = ""
    answered_text: str = ""
    answered: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def is_strict(self) -> bool:
        """The memory API's rules: unknown fields and parameters are refused, bad input is 422."""
        return self.family is OperationFamily.MEMORIES

    @property
    def new_id_param(self) -> str | None:
        """The path parameter that is the id of something new: the last one of a PUT."""
        last = self.path.rpartition("/")[2]
        return last.strip("{}") if self.method == "PUT" and last.startswith("{") else None

    @property
    def takes_idempotency_key(self) -> bool:
        """May it be repeated under a key? A stream that is recorded as it comes may not."""
        families = (OperationFamily.CONVERSATIONS, OperationFamily.MEMORIES)
        return self.method == "POST" and self.family in families and self.takes != PLAIN_TEXT

    @property
    def takes_justification(self) -> bool:
        """Does the call take a justification?"""
        return self.family is OperationFamily.ADMIN or self.audit is not None

    @property
    def error_statuses(self) -> list[int]:
        """Every error status the operation may return: its own, and those of the common checks."""
        statuses = {500, *self.refusals}
        statuses |= set() if self.open else {401, 403, 429, 503}
        statuses |= {400, 422} if self.is_strict else set()
        statuses |= (
            {400} if self.query or self.paging or self.body or self.takes_justification else set()
        )
        statuses |= {413, 415} if self.body else set()
        statuses |= {404} if "{" in self.path else set()
        statuses |= {400, 409} if self.takes_idempotency_key else set()
        return sorted(statuses)

    @property
    def summary(self) -> str:
        """The first sentence of the description."""
        return self.description.split(". ", maxsplit=1)[0].rstrip(".")


LIST = Paging(Envelope.D, 50)
ID: Schema = TEXT
OWNER: Schema = TEXT | {"description": "A user id, or `agent:` and the id of an agent."}

Id = Annotated[str, Field(min_length=1, max_length=NAME_CHARS_MAX)]


def _parse_instant(value: Any) -> datetime:
    # Commands that are made in Python have instants already.
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str):
        raise ValueError("must be a string")
    return read_instant(value)


Instant = Annotated[
    datetime,
    PlainValidator(_parse_instant),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]


Justification = Annotated[
    str, Field(max_length=JUSTIFICATION_CHARS_MAX), AfterValidator(none_if_blank)
]


class Justified(Body):
    """The reason of an admin call, where it is not in the query."""

    optional: ClassVar[bool] = True
    justification: Justification | None = Field(
        default=None, description="Why; it goes to the audit log."
    )


class JustifiedStrict(StrictBody):
    """The reason of an admin call, where it is not in the query."""

    justification: Justification | None = Field(
        default=None, description="Why; it goes to the audit log."
    )


def memory_operation(
    name: str, call: str, success: int, description: str, **rest: Any
) -> Operation:
    """Declare one operation; `call` is its method and path, such as `GET /v1/agents`."""
    method, path = call.split(" ")
    return Operation(name, OperationFamily.MEMORIES, method, path, description, success, **rest)


def conversation_operation(
    name: str, call: str, success: int, description: str, **rest: Any
) -> Operation:
    """Declare one operation of the conversation API."""
    method, path = call.split(" ")
    return Operation(
        name, OperationFamily.CONVERSATIONS, method, path, description, success, **rest
    )


def admin_operation(name: str, call: str, success: int, description: str, **rest: Any) -> Operation:
    """Declare one admin operation. A GET needs the right to read, the others that to change."""
    method, path = call.split(" ")
    rest.setdefault("action", Action.ADMIN_READ if method == "GET" else Action.ADMIN_WRITE)
    rest.setdefault("body", Justified)
    return Operation(name, OperationFamily.ADMIN, method, path, description, success, **rest)


def system_operation(name: str, call: str, description: str, **rest: Any) -> Operation:
    """Declare one operation that needs no credentials."""
    method, path = call.split(" ")
    return Operation(
        name, OperationFamily.SYSTEM, method, path, description, 200, open=True, **rest
    )


def id_param(name: str, description: str) -> Param:
    """A query parameter that filters by an id, which may be any text."""
    return text_param(name, description, chars_max=NAME_CHARS_MAX)


def justification_param(description: str) -> Param:
    """The reason of a call by a role, in the query. A blank one counts as absent."""

    def read(value: str) -> str | None:
        if len(value) > JUSTIFICATION_CHARS_MAX:
            raise ValueError(f"must have at most {JUSTIFICATION_CHARS_MAX} characters")
        return none_if_blank(require_storable_text(value))

    schema = TEXT | {"maxLength": JUSTIFICATION_CHARS_MAX}
    return Param("justification", read, schema, description)


def nullable_field(schema: Schema) -> Schema:
    """The schema of a field that is always there and may be null."""
    return nullable_schema(schema)


def resource(members: dict[str, Schema]) -> Schema:
    """The schema of a resource. In the memory API all fields are always there, even if null."""
    return object_schema(members)
