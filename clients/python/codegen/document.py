"""Reads the OpenAPI document: Python types of schemas, and the parameters of operations."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Schema = Mapping[str, Any]
METHODS = ("get", "post", "put", "patch", "delete")
_PLAIN = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
}
# Where the document is about the wire. `async` makes a stream of an answer that is none without it.
_LEFT_OUT = {"Idempotency-Key", "Last-Event-ID", "async"}
# Words of Python that can't name an argument.
_PYTHON_NAMES = {"from": "since"}
_CURSOR_ALIASES = {"afterCursor"}


def snake_case(name: str) -> str:
    """`forkedAtEntryId` as `forked_at_entry_id`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of an operation: where it goes, under which name, and of which type."""

    name: str
    wire_name: str
    place: str
    type: str
    required: bool
    nullable: bool
    description: str


@dataclass(frozen=True, slots=True)
class ClientOperation:
    """One operation, as the client calls it."""

    id: str
    method: str
    path: str
    summary: str
    arguments: tuple[Argument, ...]
    body_is_list: bool
    response: str | None
    item: str | None
    takes_key: bool
    only_reads: bool
    is_json: bool

    @property
    def name(self) -> str:
        return snake_case(self.id)


class Document:
    """The document, with its references resolved where that is needed."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self.schemas: Mapping[str, Schema] = document["components"]["schemas"]

    def operations(self) -> Iterator[ClientOperation]:
        """All operations, in the order of their names."""
        rows = [
            (path, method, operation)
            for path, methods in self._document["paths"].items()
            for method, operation in methods.items()
            if method in METHODS
        ]
        for path, method, operation in sorted(rows, key=lambda row: row[2]["operationId"]):
            yield self._read_operation(path, method, operation)

    def answers(self) -> Iterator[str]:
        """The names of the schemas of all answers."""
        for methods in self._document["paths"].values():
            for method, operation in methods.items():
                if method in METHODS:
                    yield from iter_references(_success(operation))

    def type_of(self, schema: Schema, *, as_input: bool = False) -> str:
        """The Python type of a schema."""
        if "$ref" in schema:
            return self._referred_type(schema["$ref"].rpartition("/")[2], as_input=as_input)
        if "anyOf" in schema:
            types = [self.type_of(one, as_input=as_input) for one in schema["anyOf"]]
            return " | ".join(dict.fromkeys(types))
        if "const" in schema:
            return f"Literal[{schema['const']!r}]"
        if "enum" in schema:
            return f"Literal[{', '.join(map(repr, schema['enum']))}] | str"
        return self._plain_type(schema, as_input=as_input)

    def _plain_type(self, schema: Schema, *, as_input: bool) -> str:
        if schema.get("format") == "date-time":
            return "datetime | str" if as_input else "datetime"
        if schema.get("type") == "array":
            item = self.type_of(schema.get("items", {}), as_input=as_input)
            return f"Sequence[{item}]" if as_input else f"list[{item}]"
        if schema.get("type") == "object":
            return self._mapping_type(schema, as_input=as_input)
        return _PLAIN.get(schema.get("type", ""), "Any")

    def _mapping_type(self, schema: Schema, *, as_input: bool) -> str:
        values = schema.get("additionalProperties")
        value = self.type_of(values, as_input=as_input) if isinstance(values, dict) else "Any"
        return f"Mapping[str, {value}]" if as_input else f"dict[str, {value}]"

    def _referred_type(self, name: str, *, as_input: bool) -> str:
        if "enum" in self.schemas[name]:
            return f"models.{name} | str"
        return f"models.{name} | Mapping[str, Any]" if as_input else f"models.{name}"

    def _read_operation(self, path: str, method: str, operation: Schema) -> ClientOperation:
        body = _json_schema(operation.get("requestBody", {}))
        arguments = list(self._parameters(operation))
        body_is_list = False
        if body is not None:
            resolved = self._resolve(body)
            body_is_list = resolved.get("type") == "array"
            taken = {argument.name for argument in arguments}
            fields = [_body_list(self, resolved)] if body_is_list else self._fields(resolved)
            arguments += [argument for argument in fields if argument.name not in taken]
        response = self._response_schema(operation)
        return ClientOperation(
            id=operation["operationId"],
            method=method.upper(),
            path=path,
            summary=operation["summary"],
            arguments=tuple(sorted(arguments, key=lambda one: not one.required)),
            body_is_list=body_is_list,
            response=self.type_of(response) if response is not None else None,
            item=self._item_type(response),
            takes_key=_takes_key(operation),
            only_reads=operation.get("x-only-reads", False),
            is_json=is_json(operation),
        )

    def _parameters(self, operation: Schema) -> Iterator[Argument]:
        for one in operation.get("parameters", ()):
            if one["name"] in _LEFT_OUT | _CURSOR_ALIASES:
                continue
            schema = one["schema"]
            yield Argument(
                name=_PYTHON_NAMES.get(one["name"], snake_case(one["name"])),
                wire_name=one["name"],
                place=one["in"],
                type=self.type_of(schema, as_input=True),
                required=one.get("required", False),
                nullable=False,
                description=one.get("description", ""),
            )

    def _fields(self, schema: Schema) -> Iterator[Argument]:
        required = schema.get("required", ())
        for name, field in schema.get("properties", {}).items():
            if name in _CURSOR_ALIASES:
                continue
            types = self.type_of(field, as_input=True).split(" | ")
            yield Argument(
                name=snake_case(name),
                wire_name=name,
                place="body",
                type=" | ".join(one for one in types if one != "None"),
                required=name in required,
                nullable="None" in types,
                description=field.get("description", ""),
            )

    def _resolve(self, schema: Schema) -> Schema:
        return self.schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema

    def _response_schema(self, operation: Schema) -> Schema | None:
        return _json_schema(_success(operation))

    def _item_type(self, response: Schema | None) -> str | None:
        """The type of the items of a list."""
        if response is None:
            return None
        fields = self._resolve(response).get("properties", {})
        cursor = {"next_cursor", "nextCursor", "cursor"} & set(fields)
        if "data" not in fields or not cursor:
            return None
        return self.type_of(fields["data"]["items"])


def iter_references(value: Any) -> Iterator[str]:
    """The names of the schemas that are referred to."""
    if isinstance(value, dict) and "$ref" in value:
        yield value["$ref"].rpartition("/")[2]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from iter_references(part)


def is_json(operation: Schema) -> bool:
    """Streams and texts have functions of their own in the client."""
    body = operation.get("requestBody", {}).get("content", {"application/json": {}})
    answers = [
        content
        for status, answer in operation["responses"].items()
        if status[0] == "2" and (content := answer.get("content"))
    ]
    if any(one["name"] == "async" for one in operation.get("parameters", ())):
        return True
    return "application/json" in body and all("application/json" in one for one in answers[:1])


def _takes_key(operation: Schema) -> bool:
    """A read takes one too, and it would cost a write."""
    names = [one["name"] for one in operation.get("parameters", ())]
    return "Idempotency-Key" in names and not operation.get("x-only-reads", False)


def _success(operation: Schema) -> Schema:
    answers = operation["responses"].items()
    return next((answer for status, answer in answers if status[0] == "2"), {})


def _json_schema(described: Schema) -> Schema | None:
    content = described.get("content", {})
    schema: Schema | None = content.get("application/json", {}).get("schema")
    return schema


def _body_list(document: Document, schema: Schema) -> Argument:
    return Argument(
        name="items",
        wire_name="",
        place="body",
        type=document.type_of(schema, as_input=True),
        required=True,
        nullable=False,
        description="",
    )
