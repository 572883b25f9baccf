"""A caller with a channel: requests by method and fields, answers with their status."""

from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.message_factory import GetMessageClass

from tests.support.grpc.api import Metadata, bytes_of, metadata_of
from tests.support.grpc.messages import fill
from tests.support.grpc.protocol import new_request, path_of, protocol
from tests.support.world import User

SECONDS_MAX = 30


@dataclass(frozen=True, slots=True)
class Answer:
    """How a call ended."""

    code: grpc.StatusCode
    message: Any
    text: str
    trailers: dict[str, str]

    @property
    def error_code(self) -> str | None:
        """REST's word for the error."""
        return self.trailers.get("error-code")

    def expect(self) -> Any:
        """The message of a call that succeeded."""
        assert self.code is grpc.StatusCode.OK, (self.code, self.text, self.trailers)
        return self.message

    def refused(self, code: grpc.StatusCode, error_code: str) -> str:
        """The text of a refusal with this status and this word."""
        assert (self.code, self.error_code) == (code, error_code), self.text
        assert self.text
        return self.text

    def invalid(self) -> str:
        """The text of a refusal because of a request's syntax."""
        return self.refused(grpc.StatusCode.INVALID_ARGUMENT, "validation_error")


class Client:
    """Calls methods as `Service/Method`."""

    def __init__(self, channel: grpc.Channel) -> None:
        self.channel = channel

    def ask(self, caller: User | Metadata, name: str, **members: Any) -> Answer:
        """Call with these fields; ids as text, enums as words."""
        request = new_request(protocol().methods[name])
        fill(request, members)
        return self.send(caller, name, request)

    def send(self, caller: User | Metadata, name: str, request: Any) -> Answer:
        """Call with a message, or with bytes that need not be one."""
        try:
            message, done = self._call(name).with_call(
                request, timeout=SECONDS_MAX, metadata=_metadata(caller)
            )
        except grpc.RpcError as error:
            return _refusal(error)
        return Answer(grpc.StatusCode.OK, message, "", _texts(done.trailing_metadata()))

    def begin(self, caller: User | Metadata, name: str, **members: Any) -> Any:
        """A call whose end is not waited for."""
        request = new_request(protocol().methods[name])
        fill(request, members)
        return self._call(name).future(request, timeout=SECONDS_MAX, metadata=_metadata(caller))

    def _call(self, name: str) -> Any:
        method = protocol().methods[name]
        answer_of = GetMessageClass(method.output_type).FromString
        return self.channel.unary_unary(path_of(method), bytes_of, answer_of)


def _metadata(caller: User | Metadata) -> Metadata:
    return caller if isinstance(caller, tuple) else metadata_of(caller.credentials)


def _refusal(error: Any) -> Answer:
    trailers = _texts(error.trailing_metadata())
    return Answer(error.code(), None, error.details(), trailers)


def _texts(metadata: Any) -> dict[str, str]:
    return {name: str(value) for name, value in metadata or ()}
