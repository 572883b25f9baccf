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

from recollect.api.grpc.frame import Context
from recollect.api.grpc.health import Health
from recollect.api.grpc.inbox import Strangers
from recollect.api.grpc.status import status_of
from recollect.errors import RecollectError

OPEN_SERVICES = (HEALTH, REFLECTION)
M = TypeVar("M", bound=Message)


class OpenServices:
    """The handlers of health and reflection."""

    def __init__(self, health: Health, names: Collection[str]) -> None:
        self._health = health
        self._reflection: Any = reflection.ReflectionServicer(names)
        self._strangers = Strangers()

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
            REFLECTION, {"ServerReflectionInfo": many(self._tell, response_serializer=reply)}
        )

    def stop(self) -> None:
        """End all waiting reads and watches."""
        self._strangers.stop()
        self._health.stop()

    async def _check(self, _: Any, context: Context) -> health_pb2.HealthCheckResponse:
        request = await self._one(health_pb2.HealthCheckRequest, context)
        return await self._health.Check(request, context)

    async def _watch(
        self, _: Any, context: Context
    ) -> AsyncIterator[health_pb2.HealthCheckResponse]:
        request = await self._one(health_pb2.HealthCheckRequest, context)
        async for state in self._health.Watch(request, context):
            yield state

    async def _tell(
        self, _: Any, context: Context
    ) -> AsyncIterator[reflection_pb2.ServerReflectionResponse]:
        async for reply in self._reflection.ServerReflectionInfo(self._all(context), context):
            yield reply

    async def _all(self, context: Context) -> AsyncIterator[reflection_pb2.ServerReflectionRequest]:
        kind = reflection_pb2.ServerReflectionRequest
        while (request := await self._following(kind, context)) is not None:
            yield request

    async def _one(self, kind: type[M], context: Context) -> M:
        message = await self._following(kind, context)
        if message is None:
            text = "the call ended without a message"
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, text)
        return message

    async def _following(self, kind: type[M], context: Context) -> M | None:
        try:
            return await self._strangers.following(kind, context)
        except RecollectError as error:
            refusal = status_of(error, strict=False), error.message
        return await context.abort(*refusal)
