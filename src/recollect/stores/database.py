"""Which engine serves a URL, and the stores on it."""

from pathlib import Path

from recollect.ports.metrics import Metrics
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.stores.agents import SqlAgents
from recollect.stores.conversations import SqlConversations
from recollect.stores.engines.base import Engine
from recollect.stores.engines.postgres import PostgresEngine
from recollect.stores.engines.sqlite import SqliteEngine
from recollect.stores.entries import SqlEntries
from recollect.stores.events import SqlEvents
from recollect.stores.jobs import SqlJobs
from recollect.stores.maintenance import SqlMaintenance
from recollect.stores.memberships import SqlMemberships
from recollect.stores.search import SqlSearch
from recollect.stores.transfers import SqlTransfers
from recollect.stores.users import SqlUsers


def open_engine(
    url: str, *, file: Path | None, readers: int, connections: int, metrics: Metrics
) -> Engine:
    """An engine that is not started yet. `file` is set when the URL names one."""
    if file is not None:
        return SqliteEngine(file, readers=readers, metrics=metrics)
    return PostgresEngine(url, connections=connections, metrics=metrics)


def build_stores(runtime: Runtime, engine: Engine) -> Stores:
    """The same statements on every engine."""
    return Stores(
        conversations=SqlConversations(runtime.cipher),
        entries=SqlEntries(runtime.cipher),
        memberships=SqlMemberships(),
        transfers=SqlTransfers(runtime.cipher),
        events=SqlEvents(),
        jobs=SqlJobs(runtime.clock, runtime.ids),
        maintenance=SqlMaintenance(runtime.cipher),
        users=SqlUsers(),
        agents=SqlAgents(),
        search=SqlSearch(runtime.cipher, engine),
    )
