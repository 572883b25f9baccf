"""Writes `models.py`: what the server answers with, and the words that it uses."""

import re
from collections.abc import Iterator

from .document import Document, Schema, iter_references, snake_case

_HEADER = '''"""What the server answers with. Generated from the OpenAPI document: do not edit.

Fields that a newer server adds are kept and ignored by type checkers; words that it adds are
plain strings.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from recollect_client.answers import WithText


class Model(BaseModel):
    """Base of all answers. They can't be changed."""

    model_config = ConfigDict(
        frozen=True, extra="allow", populate_by_name=True, defer_build=True
    )
'''
# Answers that can do more than hold their fields, with what gives them that.
_ABLE = {"Entry": "WithText", "AdminEntry": "WithText"}
_RESERVED = {"from": "from_"}


def write_models(document: Document) -> str:
    """The text of the module."""
    used = _used_names(document)
    enums = [name for name in used if "enum" in document.schemas[name]]
    objects = [name for name in used if document.schemas[name].get("type") == "object"]
    parts = [_HEADER]
    parts += [f"{name} = {_literal(document.schemas[name])}" for name in sorted(enums)]
    parts += ["\n".join(_class_lines(document, name)) for name in sorted(objects)]
    parts.append(_exports(["Model", *enums, *objects]))
    return "\n\n".join(parts) + "\n"


def _used_names(document: Document) -> list[str]:
    """The schemas that a caller meets: in answers, and in the arguments of operations. A whole
    body is none of them: its fields are arguments."""
    types = [argument.type for one in document.operations() for argument in one.arguments]
    waiting = [*document.answers(), *re.findall(r"models\.(\w+)", " ".join(types))]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += iter_references(document.schemas[name])
    return sorted(found)


def _literal(schema: Schema) -> str:
    return f"Literal[{', '.join(map(repr, schema['enum']))}]"


def _class_lines(document: Document, name: str) -> Iterator[str]:
    schema = document.schemas[name]
    yield f"class {name}({', '.join(filter(None, [_ABLE.get(name), 'Model']))}):"
    if "description" in schema:
        yield f'    """{schema["description"]}"""\n'
    fields = schema.get("properties", {})
    if not fields:
        yield "    pass" if "description" not in schema else ""
    required = set(schema.get("required", ()))
    ordered = sorted(fields, key=lambda field: field not in required)
    for field in ordered:
        yield _field_line(document, field, fields[field], required=field in required)
    if "data" in fields:
        yield from _list_lines(document.type_of(fields["data"]["items"]).removeprefix("models."))


def _list_lines(item: str) -> Iterator[str]:
    """Methods of a page: it is walked, counted and indexed as its list is."""
    yield f'\n    def __iter__(self) -> "Iterator[{item}]":  # type: ignore[override]'
    yield "        return iter(self.data)"
    yield "\n    def __len__(self) -> int:"
    yield "        return len(self.data)"
    yield f'\n    def __getitem__(self, place: int) -> "{item}":'
    yield "        return self.data[place]"


def _field_line(document: Document, wire_name: str, schema: Schema, *, required: bool) -> str:
    name = snake_case(_RESERVED.get(wire_name, wire_name))
    type_ = document.type_of(schema).replace("models.", "")
    if not required and "None" not in type_.split(" | "):
        type_ += " | None"
    arguments = [] if required else ["default=None"]
    if name != wire_name:
        arguments.append(f"alias={wire_name!r}")
    if "description" in schema:
        arguments.append(f"description={schema['description']!r}")
    if not arguments:
        return f"    {name}: {_quoted(type_)}"
    if arguments == ["default=None"]:
        return f"    {name}: {_quoted(type_)} = None"
    return f"    {name}: {_quoted(type_)} = Field({', '.join(arguments)})"


def _quoted(type_: str) -> str:
    """Models are in the order of their names, so a field may name one that comes later."""
    return f'"{type_}"' if any(char.isupper() for char in type_) else type_


def _exports(names: list[str]) -> str:
    listed = "\n".join(f'    "{name}",' for name in sorted(names))
    return f"__all__ = [\n{listed}\n]"
