"""The memory services inside somebody else's process: no server, and a worker only while there are
vectors to make.

Nothing here touches what belongs to that process: its logging, its signals, its event loop.
"""

import asyncio

import structlog

from recollect.app.context import build_context
from recollect.app.jobs import build_vector_worker
from recollect.app.opening import open_database
from recollect.app.search import build_memory_index_jobs
from recollect.app.services import build_memory_services
from recollect.kernel.clock import Clock
from recollect.kernel.errors import RecollectError
from recollect.memories.usage import UsageTracker
from recollect.observability.logging import configure_in_process
from recollect.observability.metrics import NoMetrics
from recollect.search.memories.fresh_vectors import FreshVectors
from recollect.settings import Settings

_log = structlog.get_logger("recollect.embedded")


class EmbeddedApp:
    """One database, and the memory services on it."""

    def __init__(self, settings: Settings, *, clock: Clock | None = None) -> None:
        configure_in_process(settings.log.level)
        self.context = build_context(settings, NoMetrics(), clock=clock)
        self.services = build_memory_services(self.context)
        self._indexing = build_memory_index_jobs(self.context)
        self._worker = build_vector_worker(self.context, self._indexing)
        self._vector_task: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._looked_for_missing = False

    async def open(self) -> None:
        """Migrate the schema and open the database. Call it once, on the event loop on which all
        later calls are made: connections and locks belong to that loop."""
        await open_database(self.context, migrate=True)

    def make_vectors(self) -> None:
        """Start to make the vectors that are missing, unless that is under way.

        A search calls this if it missed some. So a process that only writes computes nothing, and
        leaves the work to the first search, or to a server on the same database.
        """
        if self._vector_task is None or self._vector_task.done():
            self._vector_task = asyncio.create_task(self._make_all())

    async def close(self) -> None:
        """Finish accepted work, then close everything. The recorder of uses still writes to the
        database, so it is closed first. Vectors that are still missing are made another time."""
        self._stop.set()
        if self._vector_task is not None:
            await self._vector_task
        await self.services[FreshVectors].close()
        await self.services[UsageTracker].close()
        await self.context.database.close()
        await self.context.embedding.close()

    async def _make_all(self) -> None:
        try:
            await self._mark_missing()
            while not self._stop.is_set() and await self._worker.run_due(self._stop):
                pass
        except RecollectError as error:
            # Searches go on by words, and the next one that misses a vector comes back here.
            _log.warning("vectors can't be made now", error=type(error).__name__)

    async def _mark_missing(self) -> None:
        """Once: what was written while no vectors were made, or for another model, has no job."""
        if not self._looked_for_missing:
            await self._indexing.mark_pending(lacking=self.context.embedding.memory_model)
            self._looked_for_missing = True
