"""The whole system inside somebody else's process: the services, the REST API without a port, and
the worker.

Nothing here touches what belongs to that process: its logging, its signals, its event loop, its
limits.
"""

import asyncio
from contextlib import suppress

from starlette.routing import Router

from recollect.api.rest.app import RestSettings, create_app
from recollect.api_keys.service import IssuedKeyService
from recollect.app.authentication import build_authenticator
from recollect.app.context import build_context
from recollect.app.file_descriptors import DescriptorBudget
from recollect.app.jobs import BackgroundJobs
from recollect.app.opening import open_database
from recollect.app.recordings import build_recorder
from recollect.app.services import build_services
from recollect.conversations.eviction import EvictionService
from recollect.kernel.clock import Clock
from recollect.memories.usage import UsageTracker
from recollect.observability.logging import configure_in_process
from recollect.observability.prometheus import PrometheusMetrics
from recollect.observability.request_log import NoRequestLog
from recollect.recordings.service import RecorderService
from recollect.search.memories.fresh_vectors import FreshVectors
from recollect.settings import Settings

_DESCRIPTORS = 256
"""How many files of the process this may take."""


class InProcessApp:
    """One database with all services. Its REST application is called directly, without a port."""

    def __init__(self, settings: Settings, *, clock: Clock | None = None) -> None:
        configure_in_process(settings.log.level)
        metrics = PrometheusMetrics()
        self.context = context = build_context(settings, metrics, clock=clock)
        recorder = build_recorder(context, DescriptorBudget.share_out(_DESCRIPTORS))
        self.services = build_services(context, recorder)
        self.asgi: Router = create_app(
            self.services,
            build_authenticator(settings, context.runtime.clock, self.services[IssuedKeyService]),
            settings=RestSettings(
                emit_after_cursor=settings.api.emit_after_cursor,
                local_mode=settings.auth.mode == "local",
            ),
            metrics=metrics,
            requests=NoRequestLog(),
        )
        self._jobs = BackgroundJobs(context, self.services)
        self._stop = asyncio.Event()
        self._working: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Migrate the schema, open the database and start the worker. Call it once, on the event
        loop on which all later calls are made: connections and locks belong to that loop."""
        await open_database(self.context, migrate=True)
        self.context.database.register_server()
        await self._jobs.schedule()
        await self.services[RecorderService].start()
        if self.context.settings.jobs.embedded_worker:
            self._working = asyncio.create_task(self._jobs.worker.run(self._stop))

    @property
    def shares_its_file(self) -> bool:
        """Does another process use this file of SQLite now?"""
        return self.context.database.has_unexpected_servers()

    async def end_streams(self) -> None:
        """End the responses that are recorded or followed; new ones are refused."""
        await self.services[RecorderService].close()

    async def close_at_exit(self) -> None:
        """Close the database when the process ends: at once, since jobs run again anyway."""
        if self._working is not None:
            self._working.cancel()
        await self.context.database.close()

    async def close(self) -> None:
        """Finish accepted work within the grace period, then close everything. A job that is not
        done by then runs again when the database is opened next."""
        self._stop.set()
        grace_seconds = self.context.settings.server.shutdown_grace_seconds
        await self.services[RecorderService].close()
        await self.services[EvictionService].close()
        if self._working is not None:
            _, late = await asyncio.wait([self._working], timeout=grace_seconds)
            for task in late:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        await self.services[FreshVectors].close()
        await self.services[UsageTracker].close()
        await self.context.database.close()
        await self.context.embedding.close()
