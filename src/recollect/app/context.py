"""What the services of all families share, built once for each process."""

from dataclasses import dataclass

from recollect.agents.runs_service import RunService
from recollect.app.embedding import EmbeddingBackends, open_embedding
from recollect.app.stores import Stores, build_engine, build_stores
from recollect.audit.gate import AdminGate, GateService
from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.context import ServiceContext
from recollect.db.encryption import AesGcmCipher
from recollect.db.engines.base import Engine
from recollect.graph.writer import GraphWriter
from recollect.kernel.clock import Clock, SystemClock
from recollect.kernel.errors import InvalidInput
from recollect.kernel.ids import Ids, Uuid7Ids
from recollect.kernel.retention_rules import PiiRisk, RetentionRules
from recollect.kernel.runtime import Runtime
from recollect.memories.read.audit import ReadAudit
from recollect.memories.usage import UsageTracker
from recollect.memories.write.expiry_calculator import ExpiryCalculator
from recollect.memories.write.screen import ScreeningService
from recollect.memories.write.visibility_rules import VisibilityRule, VisibilityRules
from recollect.memories.write.writer import WriteHooks
from recollect.memories.write_access import MemoryWriteAccess
from recollect.observability.metrics import Metrics
from recollect.people.name_rules import PersonNameScreen
from recollect.people.subject_resolver import SubjectResolver
from recollect.retention.approvals import ApprovalService
from recollect.retention.file.reader import RetentionFileError, load_rules
from recollect.screening.rules import ScreeningRules
from recollect.search.entries.indexing import EntryIndexer
from recollect.search.memories.indexing import MemoryIndexer
from recollect.settings import Settings, linear_search
from recollect.visibility.disclosure import DisclosureSettings
from recollect.visibility.facts import VisibilityFacts
from recollect.visibility.viewers import ViewerFactory


@dataclass(frozen=True, slots=True, kw_only=True)
class AppContext(ServiceContext[Stores]):
    """A service context with all stores, and what more than one family of services works with.

    A part that a single family uses is built by that family's module instead.
    """

    database: Engine
    settings: Settings
    metrics: Metrics
    embedding: EmbeddingBackends
    audit: MemoryAudit
    reads: ReadAudit
    gate: GateService
    admin_gate: AdminGate
    viewers: ViewerFactory
    facts: VisibilityFacts
    access: MemoryWriteAccess
    expiry: ExpiryCalculator
    screening: ScreeningService
    visibility: VisibilityRules
    names: PersonNameScreen
    usage: UsageTracker
    runs: RunService
    approvals: ApprovalService
    graph: GraphWriter
    hooks: WriteHooks
    entry_indexer: EntryIndexer
    memory_indexer: MemoryIndexer


def build_context(
    settings: Settings, metrics: Metrics, *, clock: Clock | None = None, ids: Ids | None = None
) -> AppContext:
    """The context for these settings. Nothing is opened, connected or loaded yet."""
    clock = clock or SystemClock()
    keys = [(key.id, key.to_bytes()) for key in settings.encryption.keys]
    cipher = AesGcmCipher(keys, seals_index=settings.encryption.index == "sealed")
    runtime = Runtime(clock=clock, ids=ids or Uuid7Ids(clock), cipher=cipher)
    engine = build_engine(settings, metrics)
    rules = load_retention_rules(settings)
    stores = build_stores(runtime, engine, sealed_words=not settings.indexes_raw_text, rules=rules)
    base = ServiceContext(engine, stores, runtime, rules)

    audit = MemoryAudit(base)
    gate = GateService(base, require_justification=settings.admin.require_justification)
    privacy = settings.privacy
    disclosure = DisclosureSettings(
        privacy.sensitive_in_groups, privacy.unknown_origin, privacy.public_in_groups
    )
    viewers = ViewerFactory(stores, runtime, disclosure)
    facts = VisibilityFacts(stores)
    expiry = ExpiryCalculator(rules, settings.retention.profile)
    screening_rules = ScreeningRules(
        rules,
        pii_mode=settings.pii.mode,
        reject_min=PiiRisk[settings.pii.reject_min_risk.upper()],
        quarantine_min=settings.quarantine.threshold,
    )
    names = PersonNameScreen(screening_rules)
    approvals = ApprovalService(
        base, audit, expiry=expiry, ttl_minutes=settings.approvals.ttl_minutes
    )
    graph = GraphWriter(stores, runtime)
    memory_indexer = MemoryIndexer(stores, runtime, vectors=settings.makes_memory_vectors)
    return AppContext(
        database=engine,
        stores=stores,
        runtime=runtime,
        rules=rules,
        settings=settings,
        metrics=metrics,
        embedding=open_embedding(settings),
        audit=audit,
        reads=ReadAudit(engine, audit, settings.events.reads),
        gate=gate,
        admin_gate=AdminGate(gate),
        viewers=viewers,
        facts=facts,
        access=MemoryWriteAccess(stores, viewers, facts),
        expiry=expiry,
        screening=ScreeningService(screening_rules),
        visibility=_build_visibility_rules(settings),
        names=names,
        usage=UsageTracker(base),
        runs=RunService(
            base, audit, memories=stores.memory_bulk, cleanup=settings.runs.session_cleanup
        ),
        approvals=approvals,
        graph=graph,
        hooks=WriteHooks(
            indexer=memory_indexer,
            graph=graph,
            people=SubjectResolver(stores, runtime, audit, names=names),
            approvals=approvals,
        ),
        entry_indexer=EntryIndexer(stores, runtime, vectors=settings.makes_vectors),
        memory_indexer=memory_indexer,
    )


def _build_visibility_rules(settings: Settings) -> VisibilityRules:
    return VisibilityRules(
        [
            VisibilityRule(linear_search(rule.pattern), rule.visibility)
            for rule in settings.visibility.rules
        ],
        settings.visibility.default,
    )


def load_retention_rules(settings: Settings) -> RetentionRules:
    """The retention rules of the configured file. Raises InvalidInput, with the place of the fault,
    so that the server does not start with rules it can't use."""
    try:
        return load_rules(settings.retention.file)
    except RetentionFileError as error:
        raise InvalidInput(str(error)) from error
