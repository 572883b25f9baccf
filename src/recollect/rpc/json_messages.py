"""Converts between protobuf messages and JSON objects with the same field names."""

from collections.abc import Mapping
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct

from recollect.kernel.errors import ValidationFailed
from recollect.rpc.values import fill_struct, struct_to_json

# Messages that stand for a list: a repeated field alone can't tell an empty one from none.
_LISTS = {"memory.v1.TextList": "values", "memory.v1.MemoryMessages": "items"}


def refuse_unknown_fields(message: Message) -> None:
    """Refuse a message with unknown fields, at any depth: a newer client may have meant to restrict
    visibility with one. A copy without unknown fields is smaller if there are any."""
    known = type(message)()
    known.CopyFrom(message)
    known.DiscardUnknownFields()
    if known.ByteSize() != message.ByteSize():
        wanted = "has a field that this server does not know; see its `memories.proto`"
        raise ValidationFailed.for_field("message", wanted)


def to_json_object(message: Message) -> dict[str, Any]:
    """The fields that were sent, as a JSON object.

    Proto3 can't tell an empty text or list from an absent one, except in `optional` fields and
    wrapper messages; without those, empty counts as absent.
    """
    return {field.name: _field_to_json(field, value) for field, value in message.ListFields()}


def fill_message(message: Message, members: Mapping[str, Any]) -> None:
    """Copy JSON fields to the message's fields of the same names; skip nulls and unknown names."""
    for name, value in members.items():
        field = message.DESCRIPTOR.fields_by_name.get(name)
        if field is not None and value is not None:
            _fill_field(message, field, value)


def _field_to_json(field: FieldDescriptor, value: Any) -> Any:
    if field.type != FieldDescriptor.TYPE_MESSAGE:
        return list(value) if field.is_repeated else value
    return (
        [_message_to_json(item) for item in value] if field.is_repeated else _message_to_json(value)
    )


def _message_to_json(value: Message) -> Any:
    if isinstance(value, Struct):
        return struct_to_json(value)
    listed = _LISTS.get(value.DESCRIPTOR.full_name)
    if listed is None:
        return to_json_object(value)
    items = getattr(value, listed)
    return [to_json_object(item) if isinstance(item, Message) else item for item in items]


def _fill_field(message: Message, field: Any, value: Any) -> None:
    target = getattr(message, field.name)
    if field.type != FieldDescriptor.TYPE_MESSAGE:
        if field.is_repeated:
            target.extend(value)
        else:
            setattr(message, field.name, value)
    elif field.is_repeated:
        for item in value:
            fill_message(target.add(), item)
    else:
        target.SetInParent()
        (fill_struct if isinstance(target, Struct) else fill_message)(target, value)
