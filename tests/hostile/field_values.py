"""Values for the members of request bodies, made from the models' own schemas."""

import json
from collections.abc import Iterator
from typing import Any, get_args

from recollect.conversations.entries.requests import AppendBody, SyncBody
from recollect.http.bodies import Body
from recollect.http.operation import Operation
from recollect.search.requests import IndexBatch
from tests.support.world import new_id

Schema = dict[str, Any]

ANY_TYPE: tuple[Any, ...] = (7, -1.5, True, "bogus", [], ["bogus"], {}, {"a": [1]})
_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "array": list,
    "object": dict,
    "boolean": bool,
    "integer": int,
}
METADATA_BYTES_MAX = 16 * 1024
# The numbers of the contract; the schemas have to repeat them.
LIMITS: dict[str, int] = {
    "title": 500,
    "userId": 255,
    "newOwnerUserId": 255,
    "contentType": 127,
    "indexedContent": 100_000,
    "query": 10_000,
}
ITEMS: dict[type[Body], int] = {AppendBody: 1_000, SyncBody: 10_000, IndexBatch: 1_000}


def member_model(model: type[Body]) -> type[Body]:
    """The model of the object that has the members: the body itself, or an item of its list."""
    if not model.listed:
        return model
    item: type[Body] = get_args(model.model_fields["root"].annotation)[0]
    return item


def properties(model: type[Body]) -> dict[str, Schema]:
    """The schema of each member."""
    found: dict[str, Schema] = member_model(model).model_json_schema(by_alias=True)["properties"]
    return found


def to_content(model: type[Body], members: dict[str, Any]) -> str:
    """A body with these members."""
    return json.dumps([members] if model.listed else members)


def alternatives(schema: Schema) -> list[Schema]:
    """The schemas of which one must hold, null left out."""
    listed: list[Schema] = schema.get("anyOf", [schema])
    return [each for each in listed if each.get("type") != "null"]


def baseline(model: type[Body]) -> dict[str, Any]:
    """The members of a body that the syntax allows."""
    schema = member_model(model).model_json_schema(by_alias=True)
    if "examples" in schema:
        return dict(schema["examples"][0])
    return {name: sample(schema["properties"][name]) for name in schema.get("required", ())}


def content_for(row: Operation) -> bytes | None:
    """The bytes of such a body, if the operation takes one."""
    return None if row.body is None else to_content(row.body, baseline(row.body)).encode()


def sample(schema: Schema) -> Any:
    """A value that the schema allows."""
    chosen = alternatives(schema)[0]
    for listed in ("examples", "enum"):
        if listed in chosen:
            return chosen[listed][0]
    if chosen.get("format") == "uuid":
        return new_id()
    match chosen.get("type"):
        case "array":
            return [sample(chosen["items"]) if chosen.get("items") else "x"]
        case "object":
            return {}
    return "x"


def wrong_types(schema: Schema) -> Iterator[Any]:
    """Values of every JSON type that the schema does not allow, and words that it does not know."""
    allowed = alternatives(schema)
    types = tuple(_TYPES[each["type"]] for each in allowed)
    yield from (value for value in ANY_TYPE if not isinstance(value, types))
    if any("enum" in each or "format" in each for each in allowed):
        yield from ("bogus", "", "\u2028")
    if any(each.get("format") == "uuid" for each in allowed):
        yield from ("0" * 32, "{" + new_id() + "}", new_id() + "\n", "g" + new_id()[1:])
    if any("enum" in each.get("items", {}) for each in allowed):
        yield from (["bogus"], [7], [None])


def beyond_limits(name: str, schema: Schema) -> Iterator[Any]:
    """Values one beyond each limit of the schema."""
    for each in alternatives(schema):
        if "maxLength" in each:
            yield "x" * (each["maxLength"] + 1)
            yield "\U0001f389" * (each["maxLength"] + 1)
        if each.get("minLength"):
            yield ""
        if "maxItems" in each:
            yield ["x"] * (each["maxItems"] + 1)
        if each.get("minItems"):
            yield []
        if each.get("type") == "integer":
            yield from (each["minimum"] - 1, each["maximum"] + 1)
    if name == "metadata":
        yield an_object_of(METADATA_BYTES_MAX + 1)
    if name == "title":
        yield from ("\x01x", "tab\there", "line\nfeed", "\x7f", "\x85")


def an_object_of(size_bytes: int) -> dict[str, str]:
    """An object whose compact JSON has exactly this size."""
    return {"k": "v" * (size_bytes - len('{"k":""}'))}
