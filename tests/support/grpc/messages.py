"""Between the JSON of REST and the messages of gRPC, by the descriptors alone."""

import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor

from tests.support.grpc.protocol import is_json, is_struct

_NUMBERS = (FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_INT64)
_INT32_MAX = 2**31 - 1
_WHOLE_MAX = 2**53


class Inexpressible(Exception):
    """No message says this: there is no such field, or it holds no such value."""


def fill(message: Any, members: Any) -> None:
    """Put the members of a JSON object into the fields of their names. Null counts as absent, but
    empties an optional string."""
    if members is not None and not isinstance(members, Mapping):
        raise Inexpressible
    for name, value in (members or {}).items():
        field = message.DESCRIPTOR.fields_by_name.get(_snake(name))
        if field is None:
            raise Inexpressible
        if value is not None:
            _fill_field(message, field, value)
        elif field.has_presence and field.name == "title":
            message.title = ""


# What REST leaves out: the epoch of an entry of the history, and marks that are not set.
_LEFT_OUT = {("epoch", 0), ("removed", False), ("unreadable", False)}


def members_of(message: Any) -> dict[str, Any]:
    """The fields as members of a JSON object. Empty texts and ids are left out, and so is what the
    sender left out; numbers and flags are always there, except those of `_LEFT_OUT`."""
    members: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        value = _member(message, field)
        if value not in (None, ""):
            members[_camel(field.name)] = value
    return members


def _fill_field(message: Any, field: FieldDescriptor, value: Any) -> None:
    if field.is_repeated:
        if not isinstance(value, list):
            raise Inexpressible
        for item in value:
            _fill_message(getattr(message, field.name).add(), field, item)
    elif field.message_type is not None:
        if is_json(field) and not isinstance(value, Mapping):
            raise Inexpressible
        getattr(message, field.name).SetInParent()
        _fill_message(getattr(message, field.name), field, value)
    else:
        try:
            setattr(message, field.name, _scalar(field, value))
        except (TypeError, ValueError):
            raise Inexpressible from None


def _fill_message(message: Any, field: FieldDescriptor, value: Any) -> None:
    if not is_json(field):
        if isinstance(value, Mapping) and _lists(message) - value.keys():
            raise Inexpressible  # a list is never absent
        fill(message, value)
    elif is_struct(field):
        _fill_struct(message, value)
    else:
        fill_value(message, value)


def fill_value(message: Any, value: Any) -> None:
    """Put a JSON value into a Value."""
    if value is None:
        message.null_value = 0
    elif isinstance(value, bool):
        message.bool_value = value
    elif isinstance(value, str):
        message.string_value = _text(value)
    elif isinstance(value, int | float):
        message.number_value = _double(value)
    elif isinstance(value, Mapping):
        message.struct_value.SetInParent()
        _fill_struct(message.struct_value, value)
    else:
        message.list_value.SetInParent()
        for item in value:
            fill_value(message.list_value.values.add(), item)


def value_of(message: Any) -> Any:
    """The JSON value of a Value."""
    kind = message.WhichOneof("kind")
    if kind == "null_value":
        return None
    if kind == "number_value":
        number = message.number_value
        return int(number) if number.is_integer() and abs(number) <= _WHOLE_MAX else number
    if kind == "struct_value":
        return struct_of(message.struct_value)
    if kind == "list_value":
        return [value_of(item) for item in message.list_value.values]
    return getattr(message, kind)


def struct_of(message: Any) -> dict[str, Any]:
    """The JSON object of a Struct."""
    return {name: value_of(member) for name, member in message.fields.items()}


def word_of(kind: EnumDescriptor, number: int) -> str | None:
    """The word of REST for a number of an enum; unspecified has none."""
    if number == 0:
        return None
    return kind.values_by_number[number].name.lower().replace("_", "-")


def _fill_struct(message: Any, members: Mapping[str, Any]) -> None:
    for name, member in members.items():
        fill_value(message.fields[_text(name)], member)


def _scalar(field: FieldDescriptor, value: Any) -> Any:
    if value == "":
        raise Inexpressible  # empty is absent
    if field.type == FieldDescriptor.TYPE_BYTES:
        return _uuid(value)
    if field.enum_type is not None:
        return _number_of(field.enum_type, value)
    if field.cpp_type in _NUMBERS:
        return _size(value)
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING and field.name == "epoch_filter":
        return str(value)
    return value


def _uuid(value: Any) -> bytes:
    if not isinstance(value, str) or len(value) != 36:
        raise Inexpressible
    return UUID(value).bytes


def _number_of(kind: EnumDescriptor, word: Any) -> int:
    words = {word_of(kind, number): number for number in kind.values_by_number}
    try:
        return words[word.lower()]
    except (AttributeError, KeyError):
        raise Inexpressible from None


def _size(value: Any) -> int:
    """A page size; 0 would ask for the list's own."""
    if isinstance(value, str) and re.fullmatch(r"-?\d+", value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < abs(value) <= _INT32_MAX:
        raise Inexpressible
    return value


def _double(number: float) -> float:
    if isinstance(number, int) and abs(number) > _WHOLE_MAX:
        raise Inexpressible
    return float(number)


def _text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Inexpressible from None
    return text


def _member(message: Any, field: FieldDescriptor) -> Any:
    value = getattr(message, field.name)
    if field.is_repeated and field.message_type is None:
        return list(value) or None
    if field.is_repeated:
        return [_of_message(item, field) for item in value]
    if field.message_type is not None:
        return _of_message(value, field) if message.HasField(field.name) else None
    if field.has_presence and not message.HasField(field.name):
        return None
    if field.type == FieldDescriptor.TYPE_BYTES:
        return str(UUID(bytes=value)) if value else None
    if field.enum_type is not None:
        return word_of(field.enum_type, value)
    return None if (field.name, value) in _LEFT_OUT else value


def _of_message(value: Any, field: FieldDescriptor) -> Any:
    if not is_json(field):
        return members_of(value)
    return struct_of(value) if is_struct(field) else value_of(value)


def _lists(message: Any) -> set[str]:
    return {field.name for field in message.DESCRIPTOR.fields if field.is_repeated}


def _snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)
