"""Examples of requests and answers, put together from the examples of the fields.

A field that must be there and has no example gets the plainest value of its type. A field that may
be absent is left out, unless it has an example.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from recollect.http.operation import Operation
from recollect.http.params import Schema

_PLAIN: Mapping[str, Any] = {"boolean": False, "integer": 0, "number": 0.0, "object": {}}


def add_examples(document: Schema, rows: Mapping[str, Operation]) -> None:
    """Put an example into every request body and every answer of a document."""
    schemas = document["components"]["schemas"]
    for operation in _operations(document):
        row = rows[operation["operationId"]]
        request = operation.get("requestBody", {}).get("content", {})
        for media, content in request.items():
            content["example"] = row.sent_text or _value(content["schema"], schemas, media)
        for status, answer in operation["responses"].items():
            for media, content in answer.get("content", {}).items():
                if "example" not in content:
                    value: Any = row.answered_text or _value(content["schema"], schemas, media)
                    differs = row.answered if status == str(row.success) else {}
                    content["example"] = _merge(value, differs)


def _merge(value: Any, differs: Mapping[str, Any]) -> Any:
    """The value with some members replaced, at any depth."""
    if not differs:
        return value
    return value | {
        name: _merge(value[name], one) if isinstance(value.get(name), dict) else one
        for name, one in differs.items()
    }


def _operations(document: Schema) -> Iterator[Schema]:
    for methods in document["paths"].values():
        yield from methods.values()


def _value(schema: Schema, schemas: Mapping[str, Schema], media: str) -> Any:
    if "json" not in media:
        raise ValueError(f"an operation with {media} needs a text as its example")
    return example_of(schema, schemas)


def example_of(schema: Schema, schemas: Mapping[str, Schema]) -> Any:
    """The example of a value with this schema."""
    if "examples" in schema:
        return schema["examples"][0]
    if "$ref" in schema:
        return example_of(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    if "anyOf" in schema:
        first, *others = schema["anyOf"]
        is_object = "$ref" in first or "properties" in first
        # A list or an object that may be null shows what it holds; other values are null.
        return None if {"type": "null"} in others and not is_object else example_of(first, schemas)
    return _typed_example(schema, schemas)


def _typed_example(schema: Schema, schemas: Mapping[str, Schema]) -> Any:
    if schema["type"] == "array":
        return _list_example(schema, schemas)
    if "properties" in schema:
        return _object_example(schema, schemas)
    if schema["type"] not in _PLAIN:
        raise ValueError(f"a text needs an example: {schema}")
    return _PLAIN[schema["type"]]


def _list_example(schema: Schema, schemas: Mapping[str, Schema]) -> list[Any]:
    """One item, or as many as must be; none of plain texts, which have no example of their own."""
    items = schema["items"]
    is_plain = items.get("type") == "string" and not {"examples", "enum"} & set(items)
    if is_plain or not items:
        return []
    return [example_of(items, schemas)] * schema.get("minItems", 1)


def _object_example(schema: Schema, schemas: Mapping[str, Schema]) -> dict[str, Any]:
    required = schema.get("required", ())
    return {
        name: example_of(field, schemas)
        for name, field in schema["properties"].items()
        if name in required or "examples" in field or set(field) == {"$ref", "description"}
    }
