"""JSON schemas that the responses of several subjects are made of."""

from recollect.http.params import Schema
from recollect.kernel.access_level import Level

TEXT: Schema = {"type": "string"}
UUID: Schema = {"type": "string", "format": "uuid"}
INSTANT: Schema = {
    "type": "string",
    "format": "date-time",
    "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$",
}
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


def nullable_schema(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def schema_ref(name: str) -> Schema:
    """A reference to a named schema of the document."""
    return {"$ref": f"#/components/schemas/{name}"}
