"""A gRPC method as another way to call an operation: from its message to the request and back."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import Message

from recollect.http.call import Call
from recollect.identity.actions import Action
from recollect.rpc.generated.memory_service_pb2 import PageRequest

Trailers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class GrpcRequest:
    """A gRPC message translated to REST's terms: path ids, query parameters and a JSON body.

    Empty query texts count as absent. A limit of None means the list's default; so does 0 in the
    conversation API.
    """

    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str | list[str]] = field(default_factory=dict)
    body: Any = None
    after: str = ""
    limit: int | None = None

    @classmethod
    def for_page(
        cls,
        page: PageRequest,
        *,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, str | list[str]] | None = None,
    ) -> "GrpcRequest":
        """The request for a page of a list."""
        return cls(path or {}, query or {}, after=page.page_token, limit=page.page_size or None)


@dataclass(frozen=True, slots=True)
class MemoryGrpcMethod:
    """A gRPC method of the memory API. It shares the handler of the operation that it names.

    `ask` translates the message to REST's terms, `tell` the handler's JSON to a message.
    """

    operation: str
    ask: Callable[[Any], GrpcRequest]
    tell: Callable[[Any], Message]


@dataclass(frozen=True, slots=True)
class DeferredReply:
    """A reply that is built later by `tell`, because a large one must be built on a thread.

    `size` is about its size in bytes, `trailers` its trailing metadata.
    """

    tell: Callable[[], Message]
    size: int
    trailers: Trailers = ()


GrpcHandler = Callable[[Call], Awaitable[Message | DeferredReply]]


@dataclass(frozen=True, slots=True)
class GrpcMethod:
    """A gRPC method of the conversation API: the name of its REST operation, how its message is
    translated, and its handler. `action` replaces the operation's own action over gRPC."""

    operation: str
    ask: Callable[[Any], GrpcRequest]
    handle: GrpcHandler
    action: Action | None = None
