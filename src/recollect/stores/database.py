"""Chooses the engine for a database URL, and builds all stores on it."""

from pathlib import Path

from recollect.domain.retention import SHIPPED_RULES, RetentionRules
from recollect.ports.metrics import Metrics
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.stores.agents import SqlAgents
from recollect.stores.approvals import SqlApprovals
from recollect.stores.chats import SqlChats
from recollect.stores.comparing import SqlSimilarity
from recollect.stores.conversations import SqlConversations
from recollect.stores.doctor import SqlDoctor
from recollect.stores.engines.base import Engine
from recollect.stores.entries import SqlEntries
from recollect.stores.erasures import SqlErasures
from recollect.stores.event_reads import SqlEventReads
from recollect.stores.events import SqlEvents
from recollect.stores.graph import SqlGraph
from recollect.stores.idempotency import SqlIdempotency
from recollect.stores.jobs import SqlJobs
from recollect.stores.keeping import SqlModeration
from recollect.stores.locations import SqlLocations
from recollect.stores.maintenance import SqlMaintenance
from recollect.stores.memberships import SqlMemberships
from recollect.stores.memories import SqlMemories
from recollect.stores.memory_bulk import SqlMemoryBulk
from recollect.stores.memory_search import SqlMemorySearch
from recollect.stores.merging import SqlMerges
from recollect.stores.people import SqlPeople
from recollect.stores.person_claims import SqlClaims
from recollect.stores.portable import SqlPortable
from recollect.stores.runs import SqlRuns
from recollect.stores.search import SqlEntrySearch
from recollect.stores.transfers import SqlTransfers
from recollect.stores.users import SqlUsers


def open_engine(
    url: str, *, file: Path | None, readers: int, connections: int, metrics: Metrics
) -> Engine:
    """Build an engine, not started yet. `file` is the SQLite file; None means PostgreSQL.

    Only the chosen engine and its driver are imported.
    """
    if file is not None:
        from recollect.stores.engines.sqlite import SqliteEngine  # noqa: PLC0415

        return SqliteEngine(file, readers=readers, metrics=metrics)
    from recollect.stores.engines.postgres import PostgresEngine  # noqa: PLC0415

    return PostgresEngine(url, connections=connections, metrics=metrics)


def build_stores(
    runtime: Runtime,
    engine: Engine,
    *,
    sealed_words: bool = False,
    rules: RetentionRules = SHIPPED_RULES,
) -> Stores:
    """Build every store; the statements are the same on both engines.

    With `sealed_words` the index words of memories are encrypted like their texts. `rules` give
    the risk of each kind of personal data.
    """
    return Stores(
        conversations=SqlConversations(runtime.cipher),
        entries=SqlEntries(runtime.cipher),
        memberships=SqlMemberships(),
        transfers=SqlTransfers(runtime.cipher),
        events=SqlEvents(),
        event_reads=SqlEventReads(),
        idempotency=SqlIdempotency(runtime.cipher),
        jobs=SqlJobs(runtime.clock, runtime.ids),
        maintenance=SqlMaintenance(runtime.cipher, sealed_words=sealed_words),
        users=SqlUsers(),
        agents=SqlAgents(),
        people=SqlPeople(),
        claims=SqlClaims(),
        merges=SqlMerges(),
        chats=SqlChats(runtime.cipher),
        memories=SqlMemories(runtime.cipher, rules),
        graph=SqlGraph(runtime.cipher),
        search=SqlEntrySearch(runtime.cipher, engine),
        memory_search=SqlMemorySearch(runtime.cipher, engine, sealed=sealed_words),
        memory_bulk=SqlMemoryBulk(),
        keeping=SqlModeration(runtime.cipher),
        doctor=SqlDoctor(runtime.cipher),
        comparing=SqlSimilarity(),
        portable=SqlPortable(runtime.cipher),
        runs=SqlRuns(),
        approvals=SqlApprovals(),
        erasures=SqlErasures(runtime.cipher, rules),
        locations=SqlLocations(),
    )
