"""Requests that break a rule of the wire: refused with INVALID_ARGUMENT, and nothing is asked of a
service. The fields come from the descriptors, so a new one is tested the day it is added."""

from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor

from tests.api.grpc import contract
from tests.api.grpc.adapter import ANN, ROOT, SECONDS_MAX, Adapter, an_adapter
from tests.support.grpc.api import bytes_of
from tests.support.grpc.messages import fill, fill_value
from tests.support.grpc.protocol import is_json, new_request, path_of, protocol

Path = tuple[FieldDescriptor, ...]
APPEND, SYNC = "EntriesService/AppendEntry", "EntriesService/SyncEntries"
CREATE = "ConversationsService/CreateConversation"
SEARCH = "SearchService/SearchConversations"
MIB = 1024 * 1024
Code = grpc.StatusCode
# Tags of fields that hold messages: AppendEntryRequest, CreateEntryRequest, Value, ListValue.
ENTRY, CONTENT, LIST_VALUE, VALUES = (number << 3 | 2 for number in (2, 5, 6, 1))
# Any other role than these two means both, as over REST.
LENIENT = {"ListOwnershipTransfersRequest.role"}
# A text to look for may hold anything; what no stored text can hold is dropped.
QUERIES = {"ListConversationsRequest.query", "SearchEntriesRequest.query"}
# What a cursor may hold is for the services to say; `tests/behaviour` asks them.
CURSORS = {"page_token", "after", "cursor"}

WHOLE: dict[str, dict[str, Any]] = {
    "UpdateConversationRequest": {"title": "t", "metadata": {"a": 1}},
    "CreateEntryRequest": {"content_type": "x", "content": ["c"]},
    "ShareConversationRequest": {"user_id": "bob", "access_level": "reader"},
    "UpdateMembershipRequest": {"member_user_id": "bob", "access_level": "reader"},
    "DeleteMembershipRequest": {"member_user_id": "bob"},
    "CreateOwnershipTransferRequest": {"new_owner_user_id": "bob"},
    "SearchEntriesRequest": {"query": "q"},
    "IndexEntryRequest": {"indexed_content": "i"},
}


@pytest.fixture(scope="module")
def shared() -> Iterator[Adapter]:
    """One adapter for all, since nothing gets through to change it."""
    with an_adapter() as running:
        yield running


def unary() -> dict[str, MethodDescriptor]:
    """The methods of the conversation family that take one message and give one."""
    return {
        name: method
        for name, method in protocol().methods.items()
        if name in contract.METHODS and not name.startswith("ResponseRecorder")
    }


def paths(kind: Any, *, before: Path = ()) -> Iterator[Path]:
    """The ways to every field of a request."""
    for field in kind.fields:
        yield (*before, field)
        if field.message_type is not None and not is_json(field):
            yield from paths(field.message_type, before=(*before, field))


def fields(*types: int) -> list[Any]:
    """Method and field, for every field of such a type in a request."""
    return [
        pytest.param(name, path, id=f"{name}:{'.'.join(field.name for field in path)}")
        for name, method in unary().items()
        for path in paths(method.input_type)
        if path[-1].type in types
    ]


def whole(name: str) -> Any:
    """A request with every id set and nothing wrong with it."""
    request = new_request(unary()[name])
    complete(request)
    return request


def complete(message: Any) -> None:
    """Set ids and what is needed, inside of nested messages too."""
    fill(message, WHOLE.get(message.DESCRIPTOR.name))
    for field in message.DESCRIPTOR.fields:
        if field.type == FieldDescriptor.TYPE_BYTES and not field.has_presence:
            setattr(message, field.name, b"\x01" * 16)
        elif field.message_type is not None and not is_json(field):
            inside = getattr(message, field.name)
            complete(inside.add() if field.is_repeated else inside)


def put(message: Any, path: Path, value: Any) -> None:
    """Set the field at the end of the way."""
    for field in path[:-1]:
        inside = getattr(message, field.name)
        message = inside[0] if field.is_repeated else inside
    setattr(message, path[-1].name, value)


def refused(adapter: Adapter, name: str, request: Any) -> str:
    """The text of a refusal that no service has heard of."""
    before = len(adapter.fakes.asked)
    text = adapter.client.send(ROOT, name, request).invalid()
    assert len(adapter.fakes.asked) == before
    return text


@pytest.mark.parametrize("name", sorted(unary()))
def test_a_whole_request_is_answered(shared: Adapter, name: str) -> None:
    shared.client.send(ROOT, name, whole(name)).expect()


@pytest.mark.parametrize("length", [1, 15, 17, 36])
@pytest.mark.parametrize(("name", "path"), fields(FieldDescriptor.TYPE_BYTES))
def test_an_id_of_another_length_is_refused(
    shared: Adapter, name: str, path: Path, length: int
) -> None:
    request = whole(name)
    put(request, path, b"\x01" * length)
    assert path[-1].name in refused(shared, name, request)


@pytest.mark.parametrize(("name", "path"), fields(FieldDescriptor.TYPE_BYTES))
def test_an_empty_id_is_absent(shared: Adapter, name: str, path: Path) -> None:
    request = whole(name)
    put(request, path, b"")
    if path[-1].has_presence:
        shared.client.send(ROOT, name, request).expect()
    else:
        refused(shared, name, request)


@pytest.mark.parametrize(("name", "path"), fields(FieldDescriptor.TYPE_INT32))
def test_a_page_size_is_the_lists_own_or_1_to_1000(shared: Adapter, name: str, path: Path) -> None:
    for size in (0, 1, 1000):
        request = whole(name)
        put(request, path, size)
        shared.client.send(ROOT, name, request).expect()
    for size in (-1, 1001, 2**31 - 1, -(2**31)):
        request = whole(name)
        put(request, path, size)
        refused(shared, name, request)


@pytest.mark.parametrize(("name", "path"), fields(FieldDescriptor.TYPE_ENUM))
def test_a_number_that_an_enum_has_not_is_refused(shared: Adapter, name: str, path: Path) -> None:
    for number in (99, -1, 2**31 - 1):
        request = whole(name)
        put(request, path, number)
        if f"{request.DESCRIPTOR.name}.{path[-1].name}" in LENIENT:
            shared.client.send(ROOT, name, request).expect()
        else:
            refused(shared, name, request)


@pytest.mark.parametrize("text", ["nul \x00 inside", "\x00"])
@pytest.mark.parametrize(("name", "path"), fields(FieldDescriptor.TYPE_STRING))
def test_nul_is_refused_in_texts_and_dropped_from_queries(
    shared: Adapter, name: str, path: Path, text: str
) -> None:
    request = whole(name)
    put(request, path, text)
    owner = path[-1].containing_type.name if path[-1].containing_type else ""
    answer = shared.client.send(ROOT, name, request)
    if f"{owner}.{path[-1].name}" in QUERIES:
        answer.expect()
    elif path[-1].name == "epoch_filter":
        answer.refused(Code.INVALID_ARGUMENT, "bad_request")
    elif path[-1].name not in CURSORS:
        answer.invalid()


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_does_not_know_are_refused(shared: Adapter, number: float) -> None:
    for name in (APPEND, SYNC):
        request = whole(name)
        request.entry.content[0].number_value = number
        refused(shared, name, request)
    request = whole(CREATE)
    request.metadata.fields["n"].number_value = number
    refused(shared, CREATE, request)


@pytest.mark.parametrize("name", sorted(unary()))
def test_bytes_that_are_no_message_are_refused(shared: Adapter, name: str) -> None:
    if unary()[name].input_type.fields:
        refused(shared, name, b"\x0a\xff\xff\xff")
        refused(shared, name, b"\xff" * 40)


@pytest.mark.parametrize("name", sorted(unary().keys() - {"SystemService/GetHealth"}))
def test_who_calls_is_asked_before_the_message_is_read(shared: Adapter, name: str) -> None:
    """A few packed bytes may unfold into hundreds of megabytes."""
    answer = shared.client.send((), name, b"\xff" * 40)
    answer.refused(Code.UNAUTHENTICATED, "unauthorized")


def test_a_text_that_is_not_utf_8_is_refused(shared: Adapter) -> None:
    refused(shared, CREATE, b"\x0a\x02\xc3\x28")


@pytest.mark.parametrize("levels", [51, 1_000, 20_000])
def test_content_that_is_nested_too_deep_is_refused(shared: Adapter, levels: int) -> None:
    raw = b""
    for _ in range(levels):
        raw = nested(LIST_VALUE, nested(VALUES, raw))
    refused(shared, APPEND, nested(ENTRY, nested(CONTENT, raw)))


def test_content_may_be_nested_some_thirty_levels(shared: Adapter) -> None:
    value: Any = "deep"
    for _ in range(15):
        value = {"inner": [value]}
    request = whole(APPEND)
    fill_value(request.entry.content[0], value)
    shared.client.send(ANN, APPEND, request).expect()
    [new] = [args[1] for call, args, _ in shared.fakes.entries.calls if call == "append"][-1:]
    assert new.content == [value]


def test_a_message_above_16_mib_is_refused(shared: Adapter) -> None:
    request = whole(APPEND)
    request.entry.content[0].string_value = "x" * (16 * MIB - 1_000)
    shared.client.send(ANN, APPEND, request).expect()
    request.entry.content[0].string_value = "x" * (16 * MIB)
    answer = shared.client.send(ANN, APPEND, request)
    answer.refused(Code.RESOURCE_EXHAUSTED, "payload_too_large")


@pytest.mark.parametrize("packed", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
def test_a_message_far_above_16_mib_is_not_even_taken_in(
    shared: Adapter, packed: grpc.Compression
) -> None:
    request = whole(APPEND)
    request.entry.content[0].string_value = "x" * (40 * MIB)
    call: Any = shared.channel.unary_unary(path_of(unary()[APPEND]), bytes_of)
    ended = call.future(request, timeout=SECONDS_MAX, metadata=ANN, compression=packed)
    assert ended.code() is Code.RESOURCE_EXHAUSTED


def test_a_packed_message_is_read(shared: Adapter) -> None:
    request = whole(APPEND)
    request.entry.content[0].string_value = "x" * MIB
    call: Any = shared.channel.unary_unary(path_of(unary()[APPEND]), bytes_of)
    packed = grpc.Compression.Gzip
    ended = call.future(request, timeout=SECONDS_MAX, metadata=ANN, compression=packed)
    assert ended.code() is Code.OK


def nested(tag: int, raw: bytes) -> bytes:
    """The bytes of a field that holds a message."""
    size, length = len(raw), b""
    while size > 127:
        length += bytes([size & 127 | 128])
        size >>= 7
    return bytes([tag]) + length + bytes([size]) + raw
