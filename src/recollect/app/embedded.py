"""The memory services inside somebody else's process: no server, no worker, no vectors.

Nothing here touches what belongs to that process: its logging, its signals, its event loop.
"""

import asyncio

from recollect.app.database import build_engine, prepare_schema
from recollect.app.memories import (
    build_memory_services,
    disclosure_settings,
    load_retention_rules,
)
from recollect.app.search import open_embedding
from recollect.app.stores import build_stores
from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.encryption import AesGcmCipher
from recollect.kernel.clock import Clock, SystemClock
from recollect.kernel.ids import Uuid7Ids
from recollect.kernel.runtime import Runtime
from recollect.memories.read.audit import ReadAudit
from recollect.memories.usage import UsageTracker
from recollect.observability.metrics import NoMetrics
from recollect.settings import Settings
from recollect.visibility.viewers import ViewerFactory


class EmbeddedApp:
    """One database, and the memory services on it."""

    def __init__(self, settings: Settings, *, clock: Clock | None = None) -> None:
        clock = clock or SystemClock()
        keys = [(key.id, key.to_bytes()) for key in settings.encryption.keys]
        runtime = Runtime(clock=clock, ids=Uuid7Ids(clock), cipher=AesGcmCipher(keys))
        self.clock = clock
        self.engine = build_engine(settings, NoMetrics())
        rules = load_retention_rules(settings)
        self.stores = build_stores(
            runtime, self.engine, sealed_words=not settings.indexes_raw_text, rules=rules
        )
        self.finding = open_embedding(settings)
        self.services = build_memory_services(
            settings, self.engine, self.stores, runtime, finding=self.finding, rules=rules
        )
        self.sights = ViewerFactory(self.stores, runtime, disclosure_settings(settings))
        self.audit = MemoryAudit(self.engine, self.stores, runtime, rules)
        self.reads = ReadAudit(self.engine, self.audit, settings.events.reads)

    async def open(self) -> None:
        """Migrate the schema and open the database. Call it once, on the event loop on which all
        later calls are made: connections and locks belong to that loop."""
        await asyncio.to_thread(prepare_schema, self.engine, migrate=True)
        self.engine.start()

    async def close(self) -> None:
        """Finish accepted work, then close everything. The recorder of uses still writes to the
        database, so it is closed first."""
        await self.services[UsageTracker].close()
        await self.engine.close()
        await self.finding.close()
