"""The protocol as a client gets it: made from the files in `contracts/proto`, in a descriptor pool
of its own, so that nothing of the server's own modules takes part."""

import tempfile
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from grpc_tools import protoc

SOURCES = Path(__file__).parents[3] / "contracts" / "proto"
PACKAGE = "memory.v1"
FileSet = FileDescriptorSet


class Protocol:
    """Methods by `Service/Method`, messages by name."""

    def __init__(self, described: FileSet) -> None:
        self.described = described
        self._pool = DescriptorPool()
        for file in described.file:
            self._pool.Add(file)
        self.methods = {
            f"{method.containing_service.name}/{method.name}": method for method in self._methods()
        }

    def message(self, name: str) -> Message:
        """A new message of our package."""
        return GetMessageClass(self._pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))()

    def _methods(self) -> Iterator[MethodDescriptor]:
        for file in self.described.file:
            described = self._pool.FindFileByName(file.name)
            for service in described.services_by_name.values():
                yield from service.methods


@cache
def protocol() -> Protocol:
    """What protoc makes of the files today."""
    sources = sorted(str(path.relative_to(SOURCES)) for path in SOURCES.rglob("*.proto"))
    includes = [f"-I{SOURCES}", f"-I{files('grpc_tools') / '_proto'}"]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "described"
        flags = ["--include_imports", f"--descriptor_set_out={out}"]
        assert protoc.main(["protoc", *includes, *flags, *sources]) == 0
        return Protocol(FileSet.FromString(out.read_bytes()))


def path_of(method: MethodDescriptor) -> str:
    """Where the method is called."""
    return f"/{method.containing_service.full_name}/{method.name}"


def new_request(method: MethodDescriptor) -> Any:
    """An empty request of the method."""
    return GetMessageClass(method.input_type)()


def is_json(field: FieldDescriptor) -> bool:
    """Does the field hold JSON, as a Struct or a Value?"""
    kind = field.message_type
    return kind is not None and kind.full_name.startswith("google.protobuf.")


def is_struct(field: FieldDescriptor) -> bool:
    """Does the field hold a JSON object?"""
    return field.message_type is not None and field.message_type.name == "Struct"
