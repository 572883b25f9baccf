"""The standard gRPC health service."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import suppress
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from recollect.doctor.health import StatusService
from recollect.http.services import Services
from recollect.kernel.errors import RecollectError
from recollect.rpc.context import GrpcContext

_WATCH_SECONDS = 5
WATCHERS_MAX = 100
_State = health_pb2.HealthCheckResponse


class GrpcHealth(health_pb2_grpc.HealthServicer):
    """SERVING means that the database answers, as over REST. Watchers get changes within seconds,
    and NOT_SERVING when the server stops."""

    def __init__(self, services: Services, names: Collection[str]) -> None:
        super().__init__()
        self._services = services
        self._names = names
        self._stopping = asyncio.Event()
        self._watchers = 0
        self._seen: tuple[float, Any] = (-_WATCH_SECONDS, None)

    def stop(self) -> None:
        """End all watches: they would keep the server from stopping."""
        self._stopping.set()

    async def Check(  # noqa: N802 - the protocol's name
        self, request: health_pb2.HealthCheckRequest, context: GrpcContext
    ) -> health_pb2.HealthCheckResponse:
        """The status now, from the database."""
        if not self._is_known(request.service):
            await context.abort(grpc.StatusCode.NOT_FOUND, "no such service")
        return _State(status=await self._fetch_status())

    async def Watch(  # noqa: N802 - the protocol's name
        self, request: health_pb2.HealthCheckRequest, context: GrpcContext
    ) -> AsyncIterator[health_pb2.HealthCheckResponse]:
        """Stream status changes. It needs no credentials, so the number of watchers is limited."""
        if self._watchers >= WATCHERS_MAX:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "too many watchers: use Check")
        self._watchers += 1
        try:
            async for state in self._watch_states(request):
                yield state
        finally:
            self._watchers -= 1

    async def _watch_states(
        self, request: health_pb2.HealthCheckRequest
    ) -> AsyncIterator[health_pb2.HealthCheckResponse]:
        last_sent = None
        while not self._stopping.is_set():
            known = self._is_known(request.service)
            status = await self._recent_status() if known else _State.SERVICE_UNKNOWN
            if status != last_sent:
                yield _State(status=status)
            last_sent = status
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), _WATCH_SECONDS)
        yield _State(status=_State.NOT_SERVING)

    async def _recent_status(self) -> Any:
        """The status, at most a few seconds old: all watchers share one query."""
        now = asyncio.get_running_loop().time()
        if now - self._seen[0] >= _WATCH_SECONDS / 2:
            self._seen = (now, await self._fetch_status())
        return self._seen[1]

    def _is_known(self, service: str) -> bool:
        return not service or service in self._names

    async def _fetch_status(self) -> Any:
        try:
            await self._services[StatusService].ping()
        except RecollectError:
            return _State.NOT_SERVING
        return _State.SERVING
