"""The composition root: builds the application from settings, starts it and stops it."""

import asyncio
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import structlog
from starlette.routing import Router
from starlette.types import ASGIApp

from recollect import __version__
from recollect.api.grpc.server import GrpcServer
from recollect.api.rest.app import RestSettings, create_app
from recollect.api.rest.connection_limit import ConnectionLimit
from recollect.api.rest.grpc_relay import shared_port_protocol
from recollect.app.cleanup import build_cleanup_schedule
from recollect.app.database import build_engine, prepare_schema
from recollect.app.erasure import build_erase_jobs
from recollect.app.file_descriptors import raise_descriptor_limit
from recollect.app.grpc import GrpcListener
from recollect.app.memories import build_memory_services, load_retention_rules
from recollect.app.reconciling import build_reconcile_jobs
from recollect.app.recordings import advertised_address, build_recorder
from recollect.app.search import (
    build_index_deps,
    build_search_deps,
    open_embedding,
)
from recollect.app.stores import build_stores
from recollect.audit.gate import GateService
from recollect.conversations.admin_service import AdminService
from recollect.conversations.entries.service import EntryService
from recollect.conversations.eviction import EvictionService
from recollect.conversations.service import ConversationService
from recollect.conversations.sharing.service import SharingService
from recollect.conversations.sharing.transfer_service import TransferService
from recollect.db import migrations
from recollect.db.encryption import AesGcmCipher
from recollect.doctor.health import DoctorReport, StatusService
from recollect.http.services import Services
from recollect.idempotency.cleanup import IdempotencyJobs
from recollect.identity.authenticator import CredentialAuthenticator
from recollect.identity.settings import BoundAgent, IdentitySettings
from recollect.identity.tokens.local_key import signing_secret
from recollect.jobs.worker import Worker
from recollect.kernel.clock import Clock, SystemClock
from recollect.kernel.errors import InvalidInput
from recollect.kernel.ids import Ids, Uuid7Ids
from recollect.kernel.runtime import Runtime
from recollect.memories.usage import UsageTracker
from recollect.observability import logging as logs
from recollect.observability.metrics import Metrics
from recollect.observability.prometheus import PrometheusMetrics
from recollect.observability.request_log import BufferedRequestLog
from recollect.observability.request_log_port import NoRequestLog, RequestLog
from recollect.recordings.forwarding import ForwardingService
from recollect.recordings.http_forwarder import HttpForwarder
from recollect.recordings.service import RecorderService
from recollect.retention.cleanup_jobs import CleanupJobs
from recollect.retention.cleanup_service import CleanupService
from recollect.retention.maintenance_jobs import MaintenanceJobs
from recollect.search.entries.index_jobs import IndexJobs
from recollect.search.entries.indexing import EntryIndexer, IndexingService
from recollect.search.entries.service import EntrySearchService
from recollect.search.memories.indexing import MemoryIndexer, MemoryIndexJobs
from recollect.settings import Settings

CLOSE_SECONDS_MIN = 5
_log = structlog.get_logger("recollect.app")


class App:
    """One process: its database, services, worker, REST and gRPC servers."""

    def __init__(self, settings: Settings, runtime: Runtime, metrics: PrometheusMetrics) -> None:
        # Built from the bottom up: engine, stores, indexers, services, jobs, servers. `start` opens
        # the database, and starts the servers and the worker.
        self.settings = settings
        self.descriptors = raise_descriptor_limit()
        self.engine = build_engine(settings, metrics)
        self.rules = load_retention_rules(settings)
        self.stores = build_stores(
            runtime, self.engine, sealed_words=not settings.indexes_raw_text, rules=self.rules
        )
        self.finding = open_embedding(settings)
        self.indexer = EntryIndexer(self.stores, runtime, vectors=settings.makes_vectors)
        self.memory_indexer = MemoryIndexer(
            self.stores, runtime, vectors=settings.makes_memory_vectors
        )
        self.services = _build_services(self, runtime, metrics)
        self._build_jobs(runtime, metrics)
        self.requests = _build_request_log(settings)
        self.authenticator = _build_authenticator(settings, runtime.clock)
        self.grpc = GrpcListener(
            GrpcServer(self.services, self.authenticator, metrics=metrics, requests=self.requests),
            settings,
            connections_max=min(settings.grpc.max_connections, self.descriptors.grpc),
        )
        self.http_protocol = shared_port_protocol(
            lambda: self.grpc.socket_path,
            ConnectionLimit(
                descriptors_max=self.descriptors.http, relayed_max=self.grpc.connections_max
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

    def _build_jobs(self, runtime: Runtime, metrics: PrometheusMetrics) -> None:
        """Build the handlers of background jobs, and the worker that runs them."""
        settings = self.settings
        self.jobs = MaintenanceJobs(
            self.engine,
            self.stores,
            runtime,
            audit_retention=timedelta(days=settings.audit.retention_days),
            beside=self.finding.beside,
        )
        memory_embedder = self.finding.embedder if settings.makes_memory_vectors else None
        self.reconcile_jobs = build_reconcile_jobs(
            settings,
            self.engine,
            self.stores,
            runtime,
            rules=self.rules,
            model=memory_embedder.model if memory_embedder else "",
        )
        self.memory_index_jobs = MemoryIndexJobs(
            self.engine,
            self.stores,
            runtime,
            metrics,
            self.memory_indexer,
            memory_embedder,
            self.reconcile_jobs.queue,
        )
        self.index_jobs = IndexJobs(
            self.engine,
            self.stores,
            runtime,
            metrics,
            self.indexer,
            build_index_deps(self.finding, settings),
            self.memory_index_jobs,
        )
        self.housekeeping_jobs = CleanupJobs(
            self.engine,
            self.stores,
            runtime,
            self.services[CleanupService],
            build_cleanup_schedule(settings, self.rules),
        )
        self.erase_jobs = build_erase_jobs(
            settings,
            self.engine,
            self.stores,
            runtime,
            rules=self.rules,
            indexers=(self.indexer, self.memory_indexer),
        )
        self.answer_jobs = IdempotencyJobs(self.engine, self.stores, runtime)
        self.worker = Worker(
            self.engine,
            self.stores,
            runtime,
            metrics,
            {
                **self.jobs.handlers(),
                **self.index_jobs.handlers(),
                **self.answer_jobs.handlers(),
                **self.housekeeping_jobs.handlers(),
                **self.memory_index_jobs.handlers(),
                **self.reconcile_jobs.handlers(),
                **self.erase_jobs.handlers(),
            },
            attempts_max=settings.jobs.attempts_max,
            lease_seconds=settings.jobs.lease_seconds,
            poll_seconds=settings.jobs.poll_ms / 1000,
        )

    def set_listen_address(self, host: str, port: int) -> None:
        """Set the address that other nodes use to reach this one."""
        self.services[RecorderService].set_address(advertised_address(self.settings, host, port))

    async def start(self) -> None:
        """Open the database, migrating it if so configured, and start gRPC and the worker."""
        await self.open()
        await self._schedule_jobs()
        await self.services[RecorderService].start()
        await self.grpc.start()
        if self.settings.jobs.embedded_worker:
            self._working = asyncio.create_task(self.worker.run(self._stop))

    async def end_streams(self) -> None:
        """End running recordings and replays: they would keep a stopping server waiting."""
        await self.services[RecorderService].close()

    async def open(self, *, migrate: bool | None = None) -> None:
        """Open the database without starting anything else. A second call does nothing."""
        if self._open:
            return
        migrate = self._migrates if migrate is None else migrate
        await asyncio.to_thread(prepare_schema, self.engine, migrate=migrate)
        self.engine.start()
        self._open = True

    async def close(self) -> None:
        """Finish accepted work within the grace period, then close everything."""
        # The order matters: first what lets new work in (streams, forwarding, gRPC), then what
        # works by itself (eviction, the job at hand), then the last writes of usage counts, and
        # the database after everything that uses it.
        self._stop.set()
        grace_seconds = self.settings.server.shutdown_grace_seconds
        await self.end_streams()
        await self.services[ForwardingService].close()
        await self.grpc.stop()
        await _close_in_time(self.services[EvictionService].close(), grace_seconds)
        if self._working is not None:
            await _finish_task(self._working, grace_seconds)
        await _close_in_time(self.services[UsageTracker].close(), grace_seconds)
        await _close_in_time(self.engine.close(), grace_seconds)
        await self.finding.close()
        await asyncio.to_thread(self.requests.close)

    async def run_worker(self, stop: asyncio.Event) -> None:
        """Run jobs until `stop` is set. Raises what ended the worker, if it failed."""
        await self.open()
        await self._schedule_jobs()
        working = asyncio.create_task(self.worker.run(stop))
        told = asyncio.create_task(stop.wait())
        await asyncio.wait({working, told}, return_when=asyncio.FIRST_COMPLETED)
        told.cancel()
        await _finish_task(working, self.settings.server.shutdown_grace_seconds)
        if not working.cancelled():
            working.result()

    async def _schedule_jobs(self) -> None:
        await self.jobs.schedule()
        await self.index_jobs.schedule()
        await self.answer_jobs.schedule()
        await self.housekeeping_jobs.schedule()

    async def doctor(self) -> DoctorReport:
        """Check the stored data without changing it; an old schema is refused, not migrated."""
        await self.open(migrate=False)
        return await self.services[StatusService].examine()

    async def retry_stuck_jobs(self) -> int:
        """Make stuck jobs due again with new attempts; returns how many there were."""
        await self.open(migrate=False)
        return await self.engine.write(self.stores.jobs.revive_stuck)

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
    clock = clock or SystemClock()
    keys = [(key.id, key.to_bytes()) for key in settings.encryption.keys]
    runtime = Runtime(clock=clock, ids=ids or Uuid7Ids(clock), cipher=AesGcmCipher(keys))
    return App(settings, runtime, PrometheusMetrics())


def migrate(settings: Settings) -> migrations.MigrationReport:
    """Migrate the database to the newest schema, and do nothing else."""
    return migrations.migrate(build_engine(settings, PrometheusMetrics()))


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


def _build_services(app: App, runtime: Runtime, metrics: Metrics) -> Services:
    settings, engine, stores = app.settings, app.engine, app.stores
    recorder = build_recorder(settings, engine, stores, runtime, descriptors=app.descriptors)
    memory_services = build_memory_services(
        settings, engine, stores, runtime, finding=app.finding, rules=app.rules
    )
    return memory_services | Services(
        recorder,
        ForwardingService(HttpForwarder()),
        ConversationService(engine, stores, runtime, forget=recorder.cancel_for_tree),
        EntryService(
            engine, stores, runtime, app.indexer, index_raw_text=settings.indexes_raw_text
        ),
        EntrySearchService(
            engine, stores, runtime, build_search_deps(app.finding, settings, engine, stores)
        ),
        IndexingService(engine, stores, runtime, app.indexer),
        SharingService(engine, stores, runtime),
        TransferService(engine, stores, runtime),
        AdminService(engine, stores, runtime, forget=recorder.cancel_for_tree),
        EvictionService(
            engine,
            stores,
            runtime,
            batch_size=settings.eviction.batch_size,
            batch_delay_ms=settings.eviction.batch_delay_ms,
        ),
        GateService(
            engine, stores, runtime, require_justification=settings.admin.require_justification
        ),
        StatusService(engine, stores, runtime, metrics, version=__version__, engine=engine.name),
    )


def _build_authenticator(settings: Settings, clock: Clock) -> CredentialAuthenticator:
    auth = settings.auth
    try:
        return CredentialAuthenticator(
            IdentitySettings(
                mode=auth.mode,
                secret=signing_secret(settings),
                jwks_url=auth.jwks_url,
                issuer=auth.issuer,
                audience=auth.audience,
                roles_claim=auth.roles_claim or None,
                api_keys={
                    client: [key.get_secret_value() for key in keys]
                    for client, keys in auth.api_keys.items()
                },
                trusted_clients=auth.trusted_clients,
                bound_agents={
                    client: BoundAgent(grant.agent, grant.act_for_owner)
                    for client, grant in auth.agents.items()
                },
                org_members=settings.orgs.members,
                role_users={role: grant.users for role, grant in auth.roles.items()},
                role_clients={role: grant.clients for role, grant in auth.roles.items()},
                role_tokens={role: grant.token_roles for role, grant in auth.roles.items()},
            ),
            clock=clock,
        )
    except ValueError as error:
        raise InvalidInput(str(error)) from error
