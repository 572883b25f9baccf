"""Chooses the engine for a database URL, prepares its schema, and builds all stores on it."""

from dataclasses import dataclass
from pathlib import Path

from recollect.agents.runs_store import RunStore
from recollect.agents.store import AgentStore
from recollect.api_keys.store import IssuedKeyStore
from recollect.audit.queries import SqlEventReads
from recollect.audit.store import SqlEvents
from recollect.conversations.store.conversations import SqlConversations
from recollect.conversations.store.entries import SqlEntries
from recollect.conversations.store.memberships import SqlMemberships
from recollect.conversations.store.transfers import SqlTransfers
from recollect.db import migrations
from recollect.db.engines.base import Engine
from recollect.db.key_rotation import MaintenanceStore
from recollect.doctor.store.bundle import DoctorStores
from recollect.doctor.store.doctor import DoctorStore
from recollect.doctor.store.encryption import EncryptionReportStore
from recollect.erasure.store.requests import ErasureStore
from recollect.graph.store import GraphStore
from recollect.idempotency.store import SqlIdempotency
from recollect.identity.store import UserStore
from recollect.jobs.store import SqlJobs
from recollect.kernel.retention_rules import SHIPPED_RULES, RetentionRules
from recollect.kernel.runtime import Runtime
from recollect.memories.reconcile.store import SimilarityStore
from recollect.memories.store.bulk import MemoryBulkStore
from recollect.memories.store.memories import MemoryStore
from recollect.observability.metrics import Metrics
from recollect.people.store.chats import ChatStore
from recollect.people.store.claims import ClaimStore
from recollect.people.store.merges import MergeStore
from recollect.people.store.people import PersonStore
from recollect.portability.store.portable import PortableStore
from recollect.recordings.store import SqlLocations
from recollect.retention.approvals_store import ApprovalStore
from recollect.retention.quarantine_store import QuarantineStore
from recollect.rollback.store import RollbackStore
from recollect.search.store.entries import SqlEntrySearch
from recollect.search.store.index_form import IndexFormStore
from recollect.search.store.memories import MemorySearchStore
from recollect.search.store.nearest import NearestSearch, ScanNearestSearch
from recollect.search.store.nearest_postgres import HnswNearestSearch
from recollect.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores(DoctorStores):
    """All stores."""


def build_engine(settings: Settings, metrics: Metrics) -> Engine:
    """The engine for the configured database URL, not started yet."""
    database = settings.database
    return open_engine(
        database.url,
        file=database.sqlite_path,
        readers=database.readers,
        connections=database.pool_size,
        metrics=metrics,
    )


def open_engine(
    url: str, *, file: Path | None, readers: int, connections: int, metrics: Metrics
) -> Engine:
    """Build an engine, not started yet. `file` is the SQLite file; None means PostgreSQL.

    Only the chosen engine and its driver are imported.
    """
    if file is not None:
        from recollect.db.engines.sqlite import SqliteEngine  # noqa: PLC0415

        return SqliteEngine(file, readers=readers, metrics=metrics)
    from recollect.db.engines.postgres import PostgresEngine  # noqa: PLC0415

    return PostgresEngine(url, connections=connections, metrics=metrics)


def prepare_schema(engine: Engine, *, migrate: bool) -> None:
    """Migrate the schema, or raise Conflict if it is out of date."""
    if migrate:
        migrations.migrate(engine)
    else:
        migrations.require_current(engine)


def build_stores(
    runtime: Runtime,
    engine: Engine,
    *,
    sealed_words: bool = False,
    rules: RetentionRules = SHIPPED_RULES,
) -> Stores:
    """Build every store; the statements are the same on both engines.

    With `sealed_words` and a key, the index words of memories are encrypted like their texts, and
    raw texts of entries are in no index. `rules` give the risk of each kind of personal data.
    """
    # PostgreSQL has an index of near vectors; SQLite reads them all.
    nearest: NearestSearch = ScanNearestSearch() if engine.name == "sqlite" else HnswNearestSearch()
    return Stores(
        conversations=SqlConversations(runtime.cipher),
        entries=SqlEntries(runtime.cipher),
        memberships=SqlMemberships(),
        transfers=SqlTransfers(runtime.cipher),
        events=SqlEvents(),
        event_reads=SqlEventReads(),
        issued_keys=IssuedKeyStore(),
        idempotency=SqlIdempotency(runtime.cipher),
        jobs=SqlJobs(runtime.clock, runtime.ids),
        maintenance=MaintenanceStore(runtime.cipher),
        users=UserStore(),
        agents=AgentStore(),
        people=PersonStore(),
        claims=ClaimStore(),
        merges=MergeStore(),
        chats=ChatStore(runtime.cipher),
        memories=MemoryStore(runtime.cipher, rules),
        graph=GraphStore(runtime.cipher),
        search=SqlEntrySearch(runtime.cipher, engine, nearest),
        memory_search=MemorySearchStore(runtime.cipher, engine, sealed=sealed_words),
        index_form=IndexFormStore(runtime.cipher, sealed_words=sealed_words),
        memory_bulk=MemoryBulkStore(),
        quarantine=QuarantineStore(runtime.cipher),
        rollbacks=RollbackStore(),
        doctor=DoctorStore(runtime.cipher),
        encryption=EncryptionReportStore(runtime.cipher),
        similarity=SimilarityStore(),
        portable=PortableStore(runtime.cipher),
        runs=RunStore(),
        approvals=ApprovalStore(),
        erasures=ErasureStore(runtime.cipher, rules),
        locations=SqlLocations(),
    )
