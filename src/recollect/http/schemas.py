"""JSON schemas that the responses of several subjects are made of."""

from typing import Any

from recollect.http.examples import INSTANT_EXAMPLE
from recollect.http.params import Schema
from recollect.kernel.access_level import Level

NEXT_CURSOR = "Where the next page begins; null or absent on the last page."
TEXT: Schema = {"type": "string"}
UUID: Schema = {"type": "string", "format": "uuid"}
INSTANT: Schema = {
    "type": "string",
    "format": "date-time",
    "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$",
    "examples": [INSTANT_EXAMPLE],
}
BOOLEAN: Schema = {"type": "boolean"}
INTEGER: Schema = {"type": "integer"}
OBJECT: Schema = {"type": "object"}
# The mark of a row whose text could not be decrypted; readable rows lack it.
UNREADABLE: Schema = {
    "type": "boolean",
    "enum": [True],
    "description": "What is stored could not be decrypted: the fields that come from it are empty "
    "or absent. Readable rows lack this field.",
}
LEVEL: Schema = {"type": "string", "enum": [level.word for level in Level]}


def object_schema(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """An object schema. Optional fields are left out of a response if they have no value."""
    return {
        "type": "object",
        "required": list(required),
        "properties": required | (optional or {}),
    }


def describe(schema: Schema, description: str, *examples: Any) -> Schema:
    """The schema of one field: what it means there, and what it may hold."""
    return (
        schema | {"description": description} | ({"examples": list(examples)} if examples else {})
    )


def nullable_schema(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def schema_ref(name: str) -> Schema:
    """A reference to a named schema of the document."""
    return {"$ref": f"#/components/schemas/{name}"}
