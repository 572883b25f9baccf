"""The gRPC server: one handler for each method of the proto files, plus health and reflection.

It runs on the REST server's event loop, where the services are: passing each call from thread to
thread cost more (decision 0019).
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from operator import methodcaller
from typing import Any

import grpc
from google.protobuf.descriptor import FileDescriptor, MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from recollect.api.grpc.dispatch import GrpcDispatch
from recollect.api.grpc.health import GrpcHealth
from recollect.api.grpc.middleware import GrpcMiddleware
from recollect.api.grpc.public_services import (
    PUBLIC_SERVICE_NAMES,
    PublicServices,
)
from recollect.conversations import grpc as conversations
from recollect.conversations.entries import grpc as entries
from recollect.conversations.sharing import grpc as sharing
from recollect.doctor.health import StatusService
from recollect.http.services import Services
from recollect.identity.ports import Authenticator
from recollect.memories.grpc import MEMORY_METHODS
from recollect.observability.metrics import Metrics
from recollect.observability.request_log import RequestLog
from recollect.recordings.grpc import RecorderMethods
from recollect.recordings.service import RecorderService
from recollect.rpc.context import GrpcContext
from recollect.rpc.generated import memories_pb2
from recollect.rpc.generated import memory_service_pb2 as pb
from recollect.rpc.method import GrpcMethod
from recollect.rpc.request_reader import MESSAGE_BYTES_MAX, RequestReader
from recollect.search import grpc as search

METHODS: dict[str, GrpcMethod] = {
    **conversations.METHODS,
    **entries.METHODS,
    **search.METHODS,
    **sharing.METHODS,
}
FILES: tuple[FileDescriptor, ...] = (pb.DESCRIPTOR, memories_pb2.DESCRIPTOR)
_REPLAY = "ResponseRecorderService/Replay"
_OPTIONS = (
    ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
    ("grpc.max_send_message_length", -1),
    # Binding a port that another process uses must fail, not share it.
    ("grpc.so_reuseport", 0),
    # Enough for the recordings of one client; a proxy opens another connection.
    ("grpc.max_concurrent_streams", 200),
    # BDP probing would let the window of an unread stream grow to megabytes.
    ("grpc.http2.bdp_probe", 0),
    ("grpc.max_connection_idle_ms", 600_000),
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
    # Detects clients that vanished without closing: they must not keep a recording open for ever.
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
)


class GrpcServer:
    """Serves all methods on any number of addresses."""

    def __init__(
        self,
        services: Services,
        authenticator: Authenticator,
        *,
        metrics: Metrics,
        requests: RequestLog,
    ) -> None:
        self._services = services
        self._dispatch = GrpcDispatch(services, authenticator)
        self._frame = GrpcMiddleware(metrics, requests)
        self._open = PublicServices(GrpcHealth(services, _service_names()), _service_names())
        self._recorder = RecorderMethods(services[RecorderService], self._dispatch.authenticate)
        self._server: grpc.aio.Server | None = None

    async def start(self, *addresses: str, connections_max: int) -> list[int]:
        """Listen. Returns the port of each address; 1 for a unix socket."""
        most = ("grpc.max_allowed_incoming_connections", connections_max)
        server = grpc.aio.server(options=(*_OPTIONS, most))
        server.add_generic_rpc_handlers((*self._handlers(), *self._open.handlers()))
        ports = [server.add_insecure_port(address) for address in addresses]
        await server.start()
        self._server = server
        return ports

    async def stop(self, grace_seconds: float) -> None:
        """Take no new calls, and give running ones `grace_seconds` to end."""
        if self._server is not None:
            self._frame.stopping = True
            self._open.stop()
            await self._server.stop(grace_seconds)

    def _handlers(self) -> Iterator[grpc.GenericRpcHandler]:
        for file in FILES:
            for service in file.services_by_name.values():
                table = {method.name: self._handler(method) for method in service.methods}
                yield grpc.method_handlers_generic_handler(service.full_name, table)

    def _handler(self, described: MethodDescriptor) -> "grpc.RpcMethodHandler[Any, Any]":
        route = f"/{described.containing_service.full_name}/{described.name}"
        name = f"{described.containing_service.name}/{described.name}"
        message_class: Any = GetMessageClass(described.input_type)
        # No request deserializer is registered: `RequestReader` parses the bytes itself. The
        # serializer goes by method name, because a large reply is bytes already (`EncodedMessage`).
        serializer = methodcaller("SerializeToString")
        if name == _REPLAY:

            async def follow(_: Any, context: GrpcContext) -> AsyncIterator[Message]:
                messages = self._recorder.replay(RequestReader(message_class, context), context)
                async for reply in self._frame.run_stream(context, route, messages):
                    yield reply

            return grpc.stream_stream_rpc_method_handler(follow, response_serializer=serializer)
        answer = self._resolve_method(name, GetMessageClass(described.output_type))
        strict = name in MEMORY_METHODS

        async def run(_: Any, context: GrpcContext) -> Message:
            inbox = RequestReader(message_class, context)
            return await self._frame.run_unary(
                context, route, lambda: answer(inbox, context), strict=strict
            )

        return grpc.stream_unary_rpc_method_handler(run, response_serializer=serializer)

    def _resolve_method(
        self, name: str, reply_class: type[Message]
    ) -> Callable[[Any, GrpcContext], Awaitable[Message]]:
        own: dict[str, Callable[[Any, GrpcContext], Awaitable[Message]]] = {
            "SystemService/GetHealth": self._get_health,
            "ResponseRecorderService/Record": self._recorder.record,
            "ResponseRecorderService/Cancel": self._recorder.cancel,
            "ResponseRecorderService/IsEnabled": self._recorder.is_enabled,
            "ResponseRecorderService/CheckRecordings": self._recorder.check,
        }
        if name in own:
            return own[name]
        if name in MEMORY_METHODS:
            of_memories = MEMORY_METHODS[name]
            return lambda inbox, context: self._dispatch.handle_memory(of_memories, inbox, context)
        method = METHODS[name]
        return lambda inbox, context: self._dispatch.handle(
            method, inbox, context, reply_class=reply_class
        )

    async def _get_health(self, _: RequestReader[Any], __: GrpcContext) -> Message:
        status = self._services[StatusService]
        await status.ping()
        condition = await status.condition()
        return pb.HealthResponse(
            status=condition.status,
            warnings=list(condition.advice),
            advice=list(condition.advice.values()),
        )


def _service_names() -> list[str]:
    names = [service.full_name for file in FILES for service in file.services_by_name.values()]
    return [*names, *PUBLIC_SERVICE_NAMES]
