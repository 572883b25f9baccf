"""Converts values between protobuf and JSON: ids as 16 bytes, objects as Struct and Value."""

import sys
from collections.abc import Mapping
from typing import Any

from google.protobuf.struct_pb2 import ListValue, Struct, Value

from recollect.kernel import strict_json
from recollect.kernel.errors import ValidationFailed

ID_BYTES = 16
LEVELS_MAX = 32
"""Readers of protobuf stop at a hundred messages inside of one another, and an object inside of an
object is three. So deeper objects and lists go out as their JSON text; these fit every answer."""
# The integers that a double holds exactly: what came as 1 shall not be stored as 1.0.
_WHOLE_MAX = 2**53


def id_from_bytes(raw: bytes, field: str) -> str | None:
    """An id in canonical text; None if empty. ValidationFailed unless it has 16 bytes."""
    if not raw:
        return None
    if len(raw) != ID_BYTES:
        raise ValidationFailed.for_field(field, f"must be a UUID of {ID_BYTES} bytes, or empty")
    digits = raw.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def required_id(raw: bytes, field: str) -> str:
    """Like `id_from_bytes`, for an id that must be there."""
    text = id_from_bytes(raw, field)
    if text is None:
        raise ValidationFailed.for_field(field, f"must be a UUID of {ID_BYTES} bytes")
    return text


def id_to_bytes(text: str | None) -> bytes:
    """An id as 16 bytes; empty for None."""
    return bytes.fromhex(text.replace("-", "")) if text else b""


def value_to_json(value: Value) -> Any:
    """The JSON value of a Value. One without a kind is null."""
    kind = value.WhichOneof("kind")
    if kind == "string_value":
        return value.string_value
    if kind == "struct_value":
        return struct_to_json(value.struct_value)
    if kind == "number_value":
        return _to_number(value.number_value)
    if kind == "list_value":
        return [value_to_json(item) for item in value.list_value.values]
    return value.bool_value if kind == "bool_value" else None


def struct_to_json(struct: Struct) -> dict[str, Any]:
    """The JSON object of a Struct, sorted by name: a Struct does not keep its sender's order."""
    fields = struct.fields
    return {name: value_to_json(fields[name]) for name in sorted(fields)}


def fill_value(into: Value, value: Any, *, levels: int = LEVELS_MAX) -> None:
    """Write a JSON value into a Value. What is nested deeper than `levels` becomes JSON text."""
    if value is None:
        into.null_value = 0  # type: ignore[assignment]
    elif isinstance(value, bool):
        into.bool_value = value
    elif isinstance(value, int | float):
        into.number_value = to_double(value)
    elif isinstance(value, str):
        into.string_value = value
    elif levels == 0:
        into.string_value = strict_json.dump(value)
    elif isinstance(value, Mapping):
        into.struct_value.SetInParent()
        fill_struct(into.struct_value, value, levels=levels)
    else:
        into.list_value.SetInParent()
        fill_list(into.list_value, value, levels=levels)


def fill_struct(into: Struct, members: Mapping[str, Any], *, levels: int = LEVELS_MAX) -> None:
    """Write a JSON object, which counts as one level, into a Struct."""
    for name, member in members.items():
        fill_value(into.fields[name], member, levels=levels - 1)


def fill_list(into: ListValue, items: list[Any], *, levels: int = LEVELS_MAX) -> None:
    """Write a JSON list, which counts as one level, into a ListValue."""
    for item in items:
        fill_value(into.values.add(), item, levels=levels - 1)


def to_double(number: float) -> float:
    """The nearest double."""
    try:
        return float(number)
    except OverflowError:  # an integer beyond doubles, stored over REST; a Value has no infinity
        return sys.float_info.max if number > 0 else -sys.float_info.max


def _to_number(number: float) -> int | float:
    if number.is_integer() and abs(number) <= _WHOLE_MAX:
        return int(number)
    return number
