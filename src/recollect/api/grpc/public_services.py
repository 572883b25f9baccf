"""The gRPC services that need no credentials: health and reflection.

Their messages are read by an `AnonymousReader`, and their calls are not logged.
"""

from collections.abc import AsyncIterator, Collection, Iterator
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message
from grpc_health.v1 import health_pb2
from grpc_health.v1.health import SERVICE_NAME as HEALTH
from grpc_reflection.v1alpha import reflection_pb2
from grpc_reflection.v1alpha.reflection import SERVICE_NAME as REFLECTION
from grpc_reflection.v1alpha.reflection import aio as reflection

from recollect.api.grpc.health import GrpcHealth
from recollect.api.grpc.status import grpc_status
from recollect.kernel.errors import RecollectError
from recollect.rpc.context import GrpcContext
from recollect.rpc.request_reader import AnonymousReader

PUBLIC_SERVICE_NAMES = (HEALTH, REFLECTION)
M = TypeVar("M", bound=Message)


class PublicServices:
    """The handlers of health and reflection."""

    def __init__(self, health: GrpcHealth, names: Collection[str]) -> None:
        self._health = health
        self._reflection: Any = reflection.ReflectionServicer(names)
        self._anonymous_reader = AnonymousReader()

    def handlers(self) -> Iterator[grpc.GenericRpcHandler]:
        """The handlers, to register with the gRPC server."""
        state = health_pb2.HealthCheckResponse.SerializeToString
        reply = reflection_pb2.ServerReflectionResponse.SerializeToString
        one, many = grpc.stream_unary_rpc_method_handler, grpc.stream_stream_rpc_method_handler
        yield grpc.method_handlers_generic_handler(
            HEALTH,
            {
                "Check": one(self._check, response_serializer=state),
                "Watch": many(self._watch, response_serializer=state),
            },
        )
        yield grpc.method_handlers_generic_handler(
            REFLECTION, {"ServerReflectionInfo": many(self._reflect, response_serializer=reply)}
        )

    def stop(self) -> None:
        """End all waiting reads and watches."""
        self._anonymous_reader.stop()
        self._health.stop()

    async def _check(self, _: Any, context: GrpcContext) -> health_pb2.HealthCheckResponse:
        request = await self._read_one(health_pb2.HealthCheckRequest, context)
        return await self._health.Check(request, context)

    async def _watch(
        self, _: Any, context: GrpcContext
    ) -> AsyncIterator[health_pb2.HealthCheckResponse]:
        request = await self._read_one(health_pb2.HealthCheckRequest, context)
        async for state in self._health.Watch(request, context):
            yield state

    async def _reflect(
        self, _: Any, context: GrpcContext
    ) -> AsyncIterator[reflection_pb2.ServerReflectionResponse]:
        async for reply in self._reflection.ServerReflectionInfo(self._read_all(context), context):
            yield reply

    async def _read_all(
        self, context: GrpcContext
    ) -> AsyncIterator[reflection_pb2.ServerReflectionRequest]:
        kind = reflection_pb2.ServerReflectionRequest
        while (request := await self._read_next(kind, context)) is not None:
            yield request

    async def _read_one(self, kind: type[M], context: GrpcContext) -> M:
        message = await self._read_next(kind, context)
        if message is None:
            text = "the call ended without a message"
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, text)
        return message

    async def _read_next(self, kind: type[M], context: GrpcContext) -> M | None:
        try:
            return await self._anonymous_reader.read_next(kind, context)
        except RecollectError as error:
            refusal = grpc_status(error, strict=False), error.message
        return await context.abort(*refusal)
