"""Helpers to declare operations of the memory API, and types that many of its bodies share."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field, PlainValidator, WithJsonSchema

from recollect.api.bodies import StrictBody
from recollect.api.operation import Envelope, Operation, OperationFamily, Paging
from recollect.api.params import Param, Schema, read_instant, text_param
from recollect.api.resources import TEXT, nullable_schema, object_schema
from recollect.domain.events import JUSTIFICATION_CHARS_MAX
from recollect.domain.memories import NAME_CHARS_MAX

LIST = Paging(Envelope.D, 50)
ID: Schema = TEXT
OWNER: Schema = TEXT | {"description": "A user id, or `agent:` and the id of an agent."}

Id = Annotated[str, Field(min_length=1, max_length=NAME_CHARS_MAX)]


def _parse_instant(value: Any) -> datetime:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    return read_instant(value)


Instant = Annotated[
    datetime,
    PlainValidator(_parse_instant),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]


class JustifiedStrict(StrictBody):
    """The reason of an admin call, where it is not in the query."""

    justification: Annotated[str, Field(max_length=JUSTIFICATION_CHARS_MAX)] | None = None


def memory_operation(
    name: str, call: str, success: int, description: str, **rest: Any
) -> Operation:
    """Declare one operation; `call` is its method and path, such as `GET /v1/agents`."""
    method, path = call.split(" ")
    return Operation(name, OperationFamily.MEMORIES, method, path, description, success, **rest)


def id_param(name: str, description: str) -> Param:
    """A query parameter that filters by an id, which may be any text."""
    return text_param(name, description, chars_max=NAME_CHARS_MAX)


def nullable_field(schema: Schema) -> Schema:
    """The schema of a field that is always there and may be null."""
    return nullable_schema(schema)


def resource(members: dict[str, Schema]) -> Schema:
    """The schema of a resource. In the memory API all fields are always there, even if null."""
    return object_schema(members)
