"""Between JSON values and messages nothing is lost that a double can hold."""

import math
from typing import Any

import pytest
from google.protobuf.struct_pb2 import Struct, Value
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.kernel.errors import ValidationFailed
from recollect.kernel.strict_json import dump, is_equal
from recollect.rpc.values import (
    fill_struct,
    fill_value,
    id_from_bytes,
    id_to_bytes,
    struct_to_json,
    value_to_json,
)

EXACT = 2**53
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
numbers = st.integers(-EXACT, EXACT) | st.floats(allow_nan=False, allow_infinity=False)
leaves = st.none() | st.booleans() | numbers | texts
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4)
)


def through_a_message(value: Any) -> Any:
    """What the server reads after a client has sent it."""
    message = Value()
    fill_value(message, value)
    return value_to_json(Value.FromString(message.SerializeToString()))


@settings(max_examples=200)
@given(values)
def test_a_value_comes_back_equal(value: Any) -> None:
    assert is_equal(through_a_message(value), value)


@settings(max_examples=50)
@given(st.dictionaries(texts, values, max_size=4))
def test_an_object_comes_back_equal_and_ordered_by_name(members: dict[str, Any]) -> None:
    message = Struct()
    fill_struct(message, members)
    back = struct_to_json(Struct.FromString(message.SerializeToString()))
    assert is_equal(back, members)
    assert list(back) == sorted(members)


@given(st.integers(-EXACT, EXACT))
def test_a_whole_number_is_stored_without_a_point(number: int) -> None:
    assert dump(through_a_message(number)) == str(number)


@given(st.integers())
def test_every_integer_becomes_a_finite_double(number: int) -> None:
    assert math.isfinite(through_a_message(number * 10**300))


@given(st.uuids(), st.integers(1, 100))
def test_ids_are_16_bytes_or_none(chosen: Any, length: int) -> None:
    assert id_to_bytes(str(chosen)) == chosen.bytes
    assert id_from_bytes(chosen.bytes, "id") == str(chosen)
    assert (id_from_bytes(b"", "id"), id_to_bytes(None)) == (None, b"")
    if length != 16:
        with pytest.raises(ValidationFailed):
            id_from_bytes(b"x" * length, "id")
