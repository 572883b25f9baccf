"""The gRPC server: a handler for each method of the descriptors, health and reflection.

It runs on the event loop of the REST server: the services live there, and a call that has to be
handed from thread to thread costs more than one that does not.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import grpc
from google.protobuf.descriptor import FileDescriptor, MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from grpc_health.v1 import health, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from recollect.api.grpc import conversations, entries, sharing
from recollect.api.grpc.dispatch import Dispatch, Method
from recollect.api.grpc.frame import Context, Frame, Sent, reader
from recollect.api.grpc.generated import memories_pb2
from recollect.api.grpc.generated import memory_service_pb2 as pb
from recollect.api.grpc.health import Health
from recollect.api.grpc.memories import MEMORY_METHODS
from recollect.api.grpc.recorder import RecorderMethods
from recollect.api.inputs import BODY_BYTES_MAX
from recollect.ports.identity import Authenticator
from recollect.ports.metrics import Metrics
from recollect.ports.requests import RequestLog
from recollect.services.bundle import Services

METHODS: dict[str, Method] = {
    **conversations.METHODS,
    **entries.METHODS,
    **sharing.METHODS,
}
FILES: tuple[FileDescriptor, ...] = (pb.DESCRIPTOR, memories_pb2.DESCRIPTOR)
_RECORD = "ResponseRecorderService/Record"
_REPLAY = "ResponseRecorderService/Replay"
_OPTIONS = (
    # What is up to twice too large still comes through, so that a refusal is told in our words.
    ("grpc.max_receive_message_length", 2 * BODY_BYTES_MAX),
    ("grpc.max_send_message_length", -1),
    # A port that is taken is refused, not shared with the process that has it.
    ("grpc.so_reuseport", 0),
    # A proxy sends many callers' streams over one connection; one caller needs no more either.
    ("grpc.max_concurrent_streams", 1_000),
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
    # A caller that vanished without a word must not record for ever.
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
)


class GrpcServer:
    """All methods, on as many addresses as it is given."""

    def __init__(
        self,
        services: Services,
        authenticator: Authenticator,
        *,
        metrics: Metrics,
        requests: RequestLog,
    ) -> None:
        self._services = services
        self._dispatch = Dispatch(services, authenticator)
        self._frame = Frame(metrics, requests)
        self._health = Health(services, _service_names())
        self._recorder = RecorderMethods(self._dispatch)
        self._server: grpc.aio.Server | None = None

    async def start(self, *addresses: str) -> list[int]:
        """Listen; the port of each address, 1 for one that has none."""
        server = grpc.aio.server(options=_OPTIONS)
        server.add_generic_rpc_handlers(tuple(self._handlers()))
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        reflection.enable_server_reflection(_service_names(), server)
        ports = [server.add_insecure_port(address) for address in addresses]
        await server.start()
        self._server = server
        return ports

    async def stop(self, grace_seconds: float) -> None:
        """Take no new calls; those at hand may end in time."""
        if self._server is not None:
            self._frame.stopping = True
            self._health.stop()
            await self._server.stop(grace_seconds)

    def _handlers(self) -> Iterator[grpc.GenericRpcHandler]:
        for file in FILES:
            for service in file.services_by_name.values():
                table = {method.name: self._handler(method) for method in service.methods}
                yield grpc.method_handlers_generic_handler(service.full_name, table)

    def _handler(self, described: MethodDescriptor) -> "grpc.RpcMethodHandler[Any, Any]":
        route = f"/{described.containing_service.full_name}/{described.name}"
        name = f"{described.containing_service.name}/{described.name}"
        coding: dict[str, Any] = {
            "request_deserializer": reader(GetMessageClass(described.input_type)),
            "response_serializer": GetMessageClass(described.output_type).SerializeToString,
        }
        if name == _REPLAY:

            async def follow(message: Any, context: Context) -> AsyncIterator[Message]:
                messages = self._recorder.replay(message, context)
                async for reply in self._frame.stream(context, route, messages):
                    yield reply

            return grpc.unary_stream_rpc_method_handler(follow, **coding)
        answer = self._recorder.record if name == _RECORD else self._answer(name)

        async def run(message: Any, context: Context) -> Message:
            return await self._frame.run(
                context, route, lambda: answer(message, context), strict=name in MEMORY_METHODS
            )

        if name == _RECORD:
            return grpc.stream_unary_rpc_method_handler(run, **coding)
        return grpc.unary_unary_rpc_method_handler(run, **coding)

    def _answer(self, name: str) -> Callable[[Any, Context], Awaitable[Message]]:
        own: dict[str, Callable[[Any, Context], Awaitable[Message]]] = {
            "SystemService/GetHealth": self._get_health,
            "ResponseRecorderService/Cancel": self._recorder.cancel,
            "ResponseRecorderService/IsEnabled": self._recorder.is_enabled,
            "ResponseRecorderService/CheckRecordings": self._recorder.check,
        }
        if name in own:
            return own[name]
        if name in MEMORY_METHODS:
            of_memories = MEMORY_METHODS[name]
            return lambda sent, context: self._dispatch.answer_memory(of_memories, sent, context)
        method = METHODS[name]
        return lambda sent, context: self._dispatch.answer(method, sent, context)

    async def _get_health(self, _: Sent[Any], __: Context) -> Message:
        await self._services.status.ping()
        return pb.HealthResponse(status="ok")


def _service_names() -> list[str]:
    ours = [service.full_name for file in FILES for service in file.services_by_name.values()]
    return [*ours, health.SERVICE_NAME, reflection.SERVICE_NAME]
