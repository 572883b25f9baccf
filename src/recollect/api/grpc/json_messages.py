"""Messages whose fields are the members of JSON objects, read and filled by their descriptors."""

from collections.abc import Mapping
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct

from recollect.api.grpc.values import fill_struct, from_struct
from recollect.errors import ValidationFailed

# Messages that stand for a list: a repeated field alone can't tell an empty one from none.
_LISTS = {"memory.v1.TextList": "values", "memory.v1.MemoryMessages": "items"}


def refuse_unknown(message: Message) -> None:
    """The memory family takes nothing that it doesn't know: a newer caller may have meant to hide
    something with it. The size tells whether there is any, wherever it is."""
    known = type(message)()
    known.CopyFrom(message)
    known.DiscardUnknownFields()
    if known.ByteSize() != message.ByteSize():
        wanted = "has a field that this server does not know; see its `memories.proto`"
        raise ValidationFailed.of("message", wanted)


def to_members(message: Message) -> dict[str, Any]:
    """The members that were sent. An empty text of a field that can't tell it from none counts as
    absent, and so does an empty list."""
    return {field.name: _to_json(field, value) for field, value in message.ListFields()}


def fill(message: Message, members: Mapping[str, Any]) -> None:
    """Put members into the fields of their names; null and members without a field stay out."""
    for name, value in members.items():
        field = message.DESCRIPTOR.fields_by_name.get(name)
        if field is not None and value is not None:
            _fill_field(message, field, value)


def _to_json(field: FieldDescriptor, value: Any) -> Any:
    if field.type != FieldDescriptor.TYPE_MESSAGE:
        return list(value) if field.is_repeated else value
    return [_object(item) for item in value] if field.is_repeated else _object(value)


def _object(value: Message) -> Any:
    if isinstance(value, Struct):
        return from_struct(value)
    listed = _LISTS.get(value.DESCRIPTOR.full_name)
    if listed is None:
        return to_members(value)
    items = getattr(value, listed)
    return [to_members(item) if isinstance(item, Message) else item for item in items]


def _fill_field(message: Message, field: Any, value: Any) -> None:
    target = getattr(message, field.name)
    if field.type != FieldDescriptor.TYPE_MESSAGE:
        if field.is_repeated:
            target.extend(value)
        else:
            setattr(message, field.name, value)
    elif field.is_repeated:
        for item in value:
            fill(target.add(), item)
    else:
        target.SetInParent()
        (fill_struct if isinstance(target, Struct) else fill)(target, value)
