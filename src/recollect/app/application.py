"""The server: builds its parts from the settings, starts them and stops them."""

import asyncio
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import structlog
from starlette.routing import Router
from starlette.types import ASGIApp

from recollect.api.grpc.server import GrpcServer
from recollect.api.rest.app import RestSettings, create_app
from recollect.api.rest.connection_limit import ConnectionLimit
from recollect.api.rest.grpc_relay import shared_port_protocol
from recollect.api_keys.service import IssuedKeyService
from recollect.app.authentication import build_authenticator
from recollect.app.context import build_context
from recollect.app.file_descriptors import raise_descriptor_limit
from recollect.app.grpc import GrpcListener
from recollect.app.jobs import BackgroundJobs
from recollect.app.opening import open_database, open_to_examine
from recollect.app.recordings import advertised_address, build_recorder
from recollect.app.services import build_services
from recollect.app.stores import build_engine
from recollect.app.telemetry import build_metrics, measure_queue_regularly
from recollect.conversations.eviction import EvictionService
from recollect.db import migrations
from recollect.doctor.health import DoctorReport, StatusService
from recollect.idempotency.service import IdempotencyService
from recollect.kernel.clock import Clock
from recollect.kernel.ids import Ids
from recollect.memories.usage import UsageTracker
from recollect.observability import logging as logs
from recollect.observability.prometheus import PrometheusMetrics
from recollect.observability.request_log import BufferedRequestLog, NoRequestLog, RequestLog
from recollect.recordings.forwarding import ForwardingService
from recollect.recordings.service import RecorderService
from recollect.screening.injection.signs import message_signs, text_signs
from recollect.screening.pii.postal import address_pattern
from recollect.screening.sensitivity import confidence_phrases, harmless_phrases, sensitive_phrases
from recollect.search.memories.fresh_vectors import FreshVectors
from recollect.settings import Settings

CLOSE_SECONDS_MIN = 5
_log = structlog.get_logger("recollect.app")


class App:
    """One process: its database, services, worker, REST and gRPC servers."""

    def __init__(
        self, settings: Settings, *, clock: Clock | None = None, ids: Ids | None = None
    ) -> None:
        # Built from the bottom up. Nothing runs before `start`: that opens the database, then the
        # servers and the worker.
        self.metrics = metrics = build_metrics(settings)
        descriptors = raise_descriptor_limit()
        self.context = context = build_context(settings, metrics, clock=clock, ids=ids)
        self.services = build_services(context, build_recorder(context, descriptors))
        self.jobs = BackgroundJobs(context, self.services)

        self.requests = _build_request_log(settings)
        self.authenticator = build_authenticator(
            settings, context.runtime.clock, self.services[IssuedKeyService]
        )
        self.grpc = GrpcListener(
            GrpcServer(self.services, self.authenticator, metrics=metrics, requests=self.requests),
            settings,
            connections_max=min(settings.grpc.max_connections, descriptors.grpc),
        )
        self.http_protocol = shared_port_protocol(
            lambda: self.grpc.socket_path,
            ConnectionLimit(
                descriptors_max=descriptors.http, relayed_max=self.grpc.connections_max
            ),
        )
        self.asgi: Router = create_app(
            self.services,
            self.authenticator,
            settings=RestSettings(
                emit_after_cursor=settings.api.emit_after_cursor,
                local_mode=settings.auth.mode == "local",
            ),
            metrics=metrics,
            requests=self.requests,
            lifespan=self._lifespan,
        )
        self._migrates = settings.database.migrates_at_start
        self._open = False
        self._stop = asyncio.Event()
        self._working: asyncio.Task[None] | None = None
        self._measuring: asyncio.Task[None] | None = None

    def set_listen_address(self, host: str, port: int) -> None:
        """Set the address that other nodes use to reach this one."""
        self.services[RecorderService].set_address(
            advertised_address(self.context.settings, host, port)
        )

    async def start(self) -> None:
        """Open the database, migrating it if so configured, and start gRPC and the worker."""
        await self.open()
        await asyncio.to_thread(self.context.database.register_server)
        await self._log_warnings()
        if self.context.database.is_only_server():
            await self.services[IdempotencyService].release_abandoned()
        await asyncio.to_thread(_load_large_patterns)
        await self.jobs.schedule()
        await self.services[RecorderService].start()
        await self.grpc.start()
        if self.context.settings.jobs.embedded_worker:
            self._working = asyncio.create_task(self.jobs.worker.run(self._stop))

    async def end_streams(self) -> None:
        """End running recordings and replays: they would keep a stopping server waiting."""
        await self.services[RecorderService].close()

    async def open(self, *, migrate: bool | None = None) -> None:
        """Open the database without starting anything else. A second call does nothing. Raises
        InvalidInput, and leaves the database as it is, if a key is wrong or missing."""
        if not self._open:
            migrate = self._migrates if migrate is None else migrate
            await open_database(self.context, migrate=migrate)
            self._open = True
            if self.context.settings.otel.enabled:
                self._measuring = asyncio.create_task(
                    measure_queue_regularly(
                        self.services[StatusService], self.context.settings.otel.metric_seconds
                    )
                )

    async def close(self) -> None:
        """Finish accepted work within the grace period, then close everything."""
        # The order matters: first what lets new work in (streams, forwarding, gRPC), then what
        # works by itself (eviction, the job at hand), then the last writes of fresh vectors and
        # usage counts, and the database after everything that uses it.
        self._stop.set()
        grace_seconds = self.context.settings.server.shutdown_grace_seconds
        await self.end_streams()
        await self.services[ForwardingService].close()
        await self.grpc.stop()
        await _close_in_time(self.services[EvictionService].close(), grace_seconds)
        if self._working is not None:
            await _finish_task(self._working, grace_seconds)
        await _close_in_time(self.services[FreshVectors].close(), grace_seconds)
        await _close_in_time(self.services[UsageTracker].close(), grace_seconds)
        if self._measuring is not None:
            self._measuring.cancel()
        await _close_in_time(self.context.database.close(), grace_seconds)
        await self.context.embedding.close()
        await asyncio.to_thread(self.requests.close)
        await asyncio.to_thread(self.metrics.close)

    async def run_worker(self, stop: asyncio.Event) -> None:
        """Run jobs until `stop` is set. Raises what ended the worker, if it failed."""
        await self.open()
        await self.jobs.schedule()
        working = asyncio.create_task(self.jobs.worker.run(stop))
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait({working, stopped}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        await _finish_task(working, self.context.settings.server.shutdown_grace_seconds)
        if not working.cancelled():
            working.result()

    async def doctor(self) -> DoctorReport:
        """Check the stored data without changing it; an old schema is refused, not migrated."""
        await self._open_to_examine()
        return await self.services[StatusService].examine()

    async def retry_stuck_jobs(self) -> int:
        """Make stuck jobs due again with new attempts; returns how many there were."""
        await self._open_to_examine()
        return await self.context.database.write(self.context.stores.jobs.revive_stuck)

    async def _log_warnings(self) -> None:
        condition = await self.services[StatusService].condition()
        for warning, advice in condition.advice.items():
            _log.warning(advice, warning=warning)

    async def _open_to_examine(self) -> None:
        if not self._open:
            await open_to_examine(self.context)
            self._open = True

    @asynccontextmanager
    async def _lifespan(self, _: ASGIApp) -> AsyncIterator[None]:
        await self.start()
        try:
            yield
        finally:
            await self.close()


def build(settings: Settings, *, clock: Clock | None = None, ids: Ids | None = None) -> App:
    """Build an application, not started yet, and configure logging for the process."""
    logs.configure(settings.log.level, _log_format(settings))
    return App(settings, clock=clock, ids=ids)


def migrate(
    settings: Settings, show: migrations.ShowStep | None = None
) -> migrations.MigrationReport:
    """Migrate the database to the newest schema, and do nothing else. `show` is told each step."""
    return migrations.migrate(build_engine(settings, PrometheusMetrics()), show)


def _load_large_patterns() -> None:
    """Load the patterns that take long to read or compile, and are loaded at first use otherwise.

    The first use is the first write: every request on the event loop would wait for it.
    """
    sets = (sensitive_phrases, harmless_phrases, confidence_phrases, text_signs, message_signs)
    for load in (*sets, address_pattern):
        load()


async def _finish_task(working: asyncio.Task[None], seconds: float) -> None:
    """Wait for a task to end, then cancel it. A cancelled job runs again after its lease."""
    await asyncio.wait([working], timeout=seconds)
    if not working.done():
        working.cancel()
        await asyncio.wait([working])


async def _close_in_time(closing: Coroutine[Any, Any, None], seconds: float) -> None:
    """Await a close, but not for ever: a database that hangs must not keep the process alive."""
    try:
        await asyncio.wait_for(closing, max(seconds, CLOSE_SECONDS_MIN))
    except TimeoutError:
        _log.warning("the database did not close in time; the outcome of its last work is unknown")


def _log_format(settings: Settings) -> logs.Format:
    if settings.log.format == "auto":
        return "console" if sys.stderr.isatty() else "json"
    return "console" if settings.log.format == "text" else "json"


def _build_request_log(settings: Settings) -> RequestLog:
    if settings.log.level in ("warning", "error"):
        return NoRequestLog()
    return BufferedRequestLog(sys.stderr, _log_format(settings))
