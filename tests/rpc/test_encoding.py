"""What is written without the library is what the library would have written."""

from typing import Any

import pytest
from google.protobuf.struct_pb2 import Value
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollect.conversations.entries.entry import Channel, Entry
from recollect.conversations.grpc_messages import to_entries, to_entry
from recollect.kernel.pages import Page
from recollect.kernel.strict_json import DEPTH_MAX, dump
from recollect.rpc.encoding import encode_value, join_messages
from recollect.rpc.generated import memory_service_pb2 as pb
from recollect.rpc.values import fill_value, id_to_bytes
from tests.api.fakes import AT_TEXT, ID, an_entry

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=150)
integers = st.integers() | st.integers(-20, 20).map(lambda number: number * 10**308)
numbers = integers | st.floats(allow_nan=False, allow_infinity=False)
leaves = st.none() | st.booleans() | numbers | texts


def values_of(members_max: int) -> st.SearchStrategy[Any]:
    """JSON values whose objects have at most so many members."""
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=members_max)
        ),
    )


values = values_of(5)


def of_the_library(value: Any) -> bytes:
    """A Value that was filled member by member."""
    message = Value()
    fill_value(message, value)
    return message.SerializeToString(deterministic=True)


def nested(levels: int, *, objects: bool) -> Any:
    """A value inside of so many others."""
    value: Any = "deep"
    for _ in range(levels):
        value = {"": value} if objects else [value]
    return value


@settings(max_examples=200)
@given(values_of(1))
@example([-0.0, 0.0, 0, 2**53 + 1, -(2**63), 10**400, -(10**400), 5e-324])
@example([{"": {}}, {"\x00": []}, [[], {}, [{}]], {"\U0001f600": "ß\x00"}])
@example([None, False, True, 0, 1, "", "0"])
def test_a_value_is_written_byte_by_byte_as_the_library_does(value: Any) -> None:
    assert encode_value(value) == of_the_library(value)


@settings(max_examples=200)
@given(values)
def test_objects_have_all_their_members_whatever_their_order(value: Any) -> None:
    """Which member comes first is nobody's business, and the library has an order of its own."""
    raw, wanted = encode_value(value), of_the_library(value)
    assert Value.FromString(raw).SerializeToString(deterministic=True) == wanted
    assert len(raw) == len(wanted)


@pytest.mark.parametrize("size", [0, 1, 127, 128, 4_095, 4_096, 16_383, 16_384, 2**21 - 1, 2**21])
def test_sizes_of_any_length_are_written_as_the_library_does(size: int) -> None:
    for value in ("x" * size, {"x" * size: None}, ["x" * size], {"a": {"b": "x" * size}}):
        assert encode_value(value) == of_the_library(value)


def test_thousands_of_items_stay_in_order() -> None:
    items = [{str(number): [number, str(number)]} for number in range(5_000)]
    members = {f"{number:05}": items[:number] for number in range(0, 5_000, 1_000)}
    many = {f"{number:05}": [number] for number in range(5_000)}
    for value in (items, members, many, [many, items, [many]]):
        assert encode_value(value) == of_the_library(value)


@pytest.mark.parametrize("objects", [False, True], ids=["lists", "objects"])
def test_what_nests_as_deep_as_rest_allows_is_written_as_with_the_library(objects: bool) -> None:
    value = nested(DEPTH_MAX, objects=objects)
    assert encode_value(value) == of_the_library(value)


@pytest.mark.parametrize("value", ["\ud800", {"\udfff": 1}, ["a\udc00"]])
def test_a_lone_surrogate_is_never_written(value: Any) -> None:
    with pytest.raises(UnicodeEncodeError):
        encode_value(value)


@given(st.integers(11, 2**29 - 1), st.lists(st.binary(max_size=200), max_size=3))
def test_a_field_of_any_number_is_found_by_a_reader(number: int, inner: list[bytes]) -> None:
    """Read as a message that has no such field, it is among what is unknown, and stays as it is."""
    raw = join_messages(pb.PageRequest(), number, inner)
    assert pb.PageRequest.FromString(raw).SerializeToString() == raw


@settings(max_examples=100)
@given(
    content=st.lists(values, max_size=3),
    user_id=st.none() | st.just("ann"),
    epoch=st.none() | st.integers(0, 2**63 - 1),
    channel=st.sampled_from(Channel),
)
def test_an_entry_has_all_its_fields(content: list[Any], **fields: Any) -> None:
    entry = an_entry(dump(content), **fields)
    assert pb.Entry.FromString(to_entry(entry).SerializeToString()) == in_the_library(
        entry, content
    )


@given(st.lists(st.lists(leaves, max_size=2), max_size=4), st.none() | st.just("after"))
def test_a_page_has_its_entries_in_order(contents: list[list[Any]], cursor: str | None) -> None:
    entries = [an_entry(dump(content)) for content in contents]
    page = pb.ListEntriesResponse.FromString(to_entries(Page(entries, cursor)).SerializeToString())
    wanted = map(in_the_library, entries, contents)
    info = pb.PageInfo(next_page_token=cursor or "")
    assert page == pb.ListEntriesResponse(entries=wanted, page_info=info)


def in_the_library(entry: Entry, content: list[Any]) -> pb.Entry:
    """The message of an entry of `ID`, filled member by member."""
    message = pb.Entry(
        id=id_to_bytes(ID),
        conversation_id=id_to_bytes(ID),
        user_id=entry.user_id or "",
        channel=entry.channel.name,
        epoch=entry.epoch or 0,
        content_type="history",
        created_at=AT_TEXT,
    )
    for item in content:
        fill_value(message.content.add(), item)
    return message
