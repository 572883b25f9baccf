"""A gRPC method as another way to call an operation: from its message to the request and back."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import Message

from recollect.http.call import Call
from recollect.identity.actions import Action
from recollect.rpc.generated.memory_service_pb2 import PageRequest

T = TypeVar("T")
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

    `parse` translates the message to REST's terms, `render` the handler's JSON to a message.
    """

    operation: str
    parse: Callable[[Any], GrpcRequest]
    render: Callable[[Any], Message]


@dataclass(frozen=True, slots=True)
class DeferredReply:
    """A reply that is built later by `build`, because a large one must be built on a thread.

    `size` is about its size in bytes, `trailers` its trailing metadata.
    """

    build: Callable[[], Message]
    size: int
    trailers: Trailers = ()


GrpcHandler = Callable[[Call], Awaitable[Message | DeferredReply]]


@dataclass(frozen=True, slots=True)
class GrpcMethod:
    """A gRPC method of the conversation API: the name of its REST operation, how its message is
    translated, and its handler. `action` replaces the operation's own action over gRPC."""

    operation: str
    parse: Callable[[Any], GrpcRequest]
    handle: GrpcHandler
    action: Action | None = None


def reply_with(
    request: Callable[[Call], Awaitable[T]], render: Callable[[T], Message]
) -> GrpcHandler:
    """A handler that makes the request of the service and renders what it returns."""

    async def handle(call: Call) -> Message:
        return render(await request(call))

    return handle


def reply_later(
    request: Callable[[Call], Awaitable[T]],
    render: Callable[[T], Message],
    estimate_size: Callable[[T], int],
) -> GrpcHandler:
    """The same for a reply that may be large."""

    async def handle(call: Call) -> DeferredReply:
        result = await request(call)
        return DeferredReply(partial(render, result), estimate_size(result))

    return handle


def reply_empty(request: Callable[[Call], Awaitable[None]]) -> GrpcHandler:
    """A handler that makes the request of the service and replies with an empty message."""

    async def handle(call: Call) -> Message:
        await request(call)
        return Empty()

    return handle
