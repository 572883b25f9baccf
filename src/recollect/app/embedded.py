"""The memory services inside somebody else's process: no server, no worker, no vectors.

Nothing here touches what belongs to that process: its logging, its signals, its event loop.
"""

from recollect.app.context import build_context
from recollect.app.opening import open_database
from recollect.app.services import build_memory_services
from recollect.kernel.clock import Clock
from recollect.memories.usage import UsageTracker
from recollect.observability.metrics import NoMetrics
from recollect.search.memories.fresh_vectors import FreshVectors
from recollect.settings import Settings


class EmbeddedApp:
    """One database, and the memory services on it."""

    def __init__(self, settings: Settings, *, clock: Clock | None = None) -> None:
        self.context = build_context(settings, NoMetrics(), clock=clock)
        self.services = build_memory_services(self.context)

    async def open(self) -> None:
        """Migrate the schema and open the database. Call it once, on the event loop on which all
        later calls are made: connections and locks belong to that loop."""
        await open_database(self.context, migrate=True)

    async def close(self) -> None:
        """Finish accepted work, then close everything. The recorder of uses still writes to the
        database, so it is closed first."""
        await self.services[FreshVectors].close()
        await self.services[UsageTracker].close()
        await self.context.database.close()
        await self.context.embedding.close()
