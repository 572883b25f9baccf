"""Chooses the engine for a database URL, and builds all stores on it."""

from pathlib import Path

from recollect.agents.runs_store import SqlRuns
from recollect.agents.store import SqlAgents
from recollect.audit.queries import SqlEventReads
from recollect.audit.store import SqlEvents
from recollect.conversations.ports import Stores
from recollect.conversations.store.conversations import SqlConversations
from recollect.conversations.store.entries import SqlEntries
from recollect.conversations.store.memberships import SqlMemberships
from recollect.conversations.store.transfers import SqlTransfers
from recollect.db.engines.base import Engine
from recollect.db.key_rotation import SqlMaintenance
from recollect.doctor.store.doctor import SqlDoctor
from recollect.erasure.store.requests import SqlErasures
from recollect.graph.store import SqlGraph
from recollect.idempotency.store import SqlIdempotency
from recollect.identity.store import SqlUsers
from recollect.jobs.store import SqlJobs
from recollect.kernel.retention_rules import SHIPPED_RULES, RetentionRules
from recollect.kernel.runtime import Runtime
from recollect.memories.reconcile.store import SqlSimilarity
from recollect.memories.store.bulk import SqlMemoryBulk
from recollect.memories.store.memories import SqlMemories
from recollect.observability.metrics import Metrics
from recollect.people.store.chats import SqlChats
from recollect.people.store.claims import SqlClaims
from recollect.people.store.merges import SqlMerges
from recollect.people.store.people import SqlPeople
from recollect.portability.store.portable import SqlPortable
from recollect.recordings.store import SqlLocations
from recollect.retention.approvals_store import SqlApprovals
from recollect.retention.moderation_store import SqlModeration
from recollect.search.store.entries import SqlEntrySearch
from recollect.search.store.memories import SqlMemorySearch


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
