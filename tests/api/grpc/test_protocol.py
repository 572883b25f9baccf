"""The protocol is the contract's, and the server answers all of it."""

from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)

from tests.api.grpc import contract
from tests.api.grpc.client import SECONDS_MAX, Client
from tests.support.grpc.protocol import PACKAGE, new_request, path_of, protocol

every_method = pytest.mark.parametrize("name", sorted(protocol().methods))
Field = FieldDescriptorProto


def described() -> FileDescriptorProto:
    """The file of the conversation family."""
    [file] = [file for file in protocol().described.file if file.name == contract.FILE]
    return file


def messages() -> dict[str, DescriptorProto]:
    """The messages that the files declare, by name."""
    return {message.name: message for message in described().message_type}


def fields() -> Iterator[tuple[str, FieldDescriptorProto]]:
    """Every field as `Message.field`."""
    for name, message in messages().items():
        for field in message.field:
            yield f"{name}.{field.name}", field


def type_of(field: FieldDescriptorProto) -> str:
    """A field's type as it is written."""
    named = field.type_name.removeprefix(".").removeprefix(f"{PACKAGE}.")
    return named or Field.Type.Name(field.type).removeprefix("TYPE_").lower()


def test_fields_have_the_contracts_numbers() -> None:
    declared = {
        name: {field.name: field.number for field in message.field}
        for name, message in messages().items()
    }
    assert declared == contract.MESSAGES


def test_numbers_that_are_gone_are_reserved() -> None:
    reserved = {
        name: {number for r in message.reserved_range for number in range(r.start, r.end)}
        for name, message in messages().items()
        if message.reserved_range
    }
    assert reserved == contract.RESERVED


def test_fields_are_optional_and_repeated_as_the_contract_says() -> None:
    optional: dict[str, set[str]] = {}
    repeated: dict[str, set[str]] = {}
    for name, message in messages().items():
        for field in message.field:
            if field.proto3_optional:
                optional.setdefault(name, set()).add(field.name)
            if field.label == Field.Label.LABEL_REPEATED:
                repeated.setdefault(name, set()).add(field.name)
    assert optional == contract.OPTIONAL
    assert repeated == contract.REPEATED


def test_ids_are_bytes_and_other_types_are_the_contracts() -> None:
    types = {name: type_of(field) for name, field in fields()}
    assert {name: types[name] for name in contract.TYPES} == contract.TYPES
    ids = {"id", "conversation_id", "conversation_ids", "entry_id", "transfer_id"}
    forked = {"forked_at_entry_id", "forked_at_conversation_id"}
    as_bytes = {name for name, kind in types.items() if kind == "bytes"}
    assert as_bytes == {name for name in types if name.rpartition(".")[2] in ids | forked}


def test_enums_have_the_contracts_names_and_numbers() -> None:
    declared = {
        enum.name: {value.name: value.number for value in enum.value}
        for enum in described().enum_type
    }
    for name, words in contract.ENUMS.items():
        prefix = "".join(f"_{c}" if c.isupper() else c for c in name).strip("_").upper()
        numbers = {word: number for number, word in enumerate(words, 1)}
        assert declared[name] == numbers | {f"{prefix}_UNSPECIFIED": 0}
    assert declared.keys() == contract.ENUMS.keys()


def test_services_have_the_contracts_methods() -> None:
    def written(kind: str, streams: bool) -> str:
        return ("stream " if streams else "") + kind.removeprefix(f"{PACKAGE}.")

    declared = {
        name: (
            written(method.input_type.full_name, method.client_streaming),
            written(method.output_type.full_name, method.server_streaming),
        )
        for name, method in protocol().methods.items()
        if method.containing_service.file.name == contract.FILE
    }
    assert declared == contract.METHODS


@every_method
def test_every_method_is_answered(client: Client, name: str) -> None:
    open_to_all = name == "SystemService/GetHealth"
    expected = grpc.StatusCode.OK if open_to_all else grpc.StatusCode.UNAUTHENTICATED
    assert status_of(client, name) is expected


def test_a_method_or_service_that_there_is_not_is_unimplemented(client: Client) -> None:
    for path in (
        f"/{PACKAGE}.EntriesService/Nothing",
        "/memory.v2.EntriesService/ListEntries",
        "/",
    ):
        call: Any = client.channel.unary_unary(path)
        with pytest.raises(grpc.RpcError) as refused:
            call(b"", timeout=SECONDS_MAX)
        assert code_of(refused.value) is grpc.StatusCode.UNIMPLEMENTED


def test_reflection_tells_every_service_and_its_messages(client: Client) -> None:
    database = ProtoReflectionDescriptorDatabase(client.channel)
    services = {f"{PACKAGE}.{name.partition('/')[0]}" for name in protocol().methods}
    others = {"grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"}
    assert set(database.get_services()) == services | others
    file = database.FindFileContainingSymbol(f"{PACKAGE}.EntriesService")
    assert {message.name for message in file.message_type} == contract.MESSAGES.keys()


def status_of(client: Client, name: str) -> grpc.StatusCode:
    """How a call without credentials ends. On the wire a single message is a stream of one, so the
    same call serves every kind of method."""
    method = protocol().methods[name]
    message = new_request(method).SerializeToString()
    call: Any = client.channel.stream_stream(path_of(method))
    answers = call(iter([message]), timeout=SECONDS_MAX)
    try:
        list(answers)
    except grpc.RpcError as error:
        return code_of(error)
    return grpc.StatusCode.OK


def code_of(error: Any) -> grpc.StatusCode:
    """The status of a refusal."""
    code: grpc.StatusCode = error.code()
    return code
