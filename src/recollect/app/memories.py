"""Builds the services of the memory API."""

from recollect.agents.requesters import RequesterLookup
from recollect.agents.runs_service import RunService
from recollect.agents.service import AgentService
from recollect.app.cleanup import build_cleanup
from recollect.app.doctor import DoctorDeps, build_doctor
from recollect.app.erasure import build_erase_service
from recollect.app.governance import (
    ModerationDeps,
    build_export,
    build_imports,
    build_quarantine,
    build_rollbacks,
)
from recollect.app.memory_writing import (
    WriteDeps,
    build_write_services,
    screening_rules,
)
from recollect.app.search import EmbeddingBackends, build_memory_search
from recollect.app.stores import Stores
from recollect.audit.gate import GateService
from recollect.audit.memory_recorder import MemoryAudit
from recollect.audit.service import EventService, EventStreamPacing
from recollect.db.engines.base import Engine
from recollect.graph.service import GraphService
from recollect.graph.writer import GraphWriter
from recollect.http.services import Services
from recollect.idempotency.service import IdempotencyService
from recollect.identity.orgs import OrgMemberships
from recollect.kernel.errors import InvalidInput
from recollect.kernel.retention_rules import RetentionRules
from recollect.kernel.runtime import Runtime
from recollect.memories.agent_removal import AgentWithMemoriesRemoval
from recollect.memories.merge_counter import MergeCounter
from recollect.memories.read.about_person import PersonMemories
from recollect.memories.read.audit import ReadAudit
from recollect.memories.read.service import MemoryReader
from recollect.memories.usage import UsageTracker
from recollect.memories.write.expiry_calculator import ExpiryCalculator
from recollect.memories.write.writer import WriteHooks
from recollect.memories.write_access import MemoryWriteAccess
from recollect.people.chats_service import ChatService
from recollect.people.claims_service import ClaimService
from recollect.people.merge_service import MergeService
from recollect.people.name_rules import PersonNameScreen
from recollect.people.participants_service import ParticipantService
from recollect.people.service import PeopleService
from recollect.people.subject_resolver import SubjectResolver
from recollect.retention.approvals import ApprovalService
from recollect.retention.file.reader import RetentionFileError, load_rules
from recollect.retention.service import RetentionService
from recollect.search.memories.indexing import MemoryIndexer
from recollect.search.memories.service import MemorySearchService
from recollect.search.recall.service import RecallService
from recollect.settings import Settings
from recollect.visibility.disclosure import DisclosureSettings
from recollect.visibility.facts import VisibilityFacts
from recollect.visibility.viewers import ViewerFactory


def build_memory_services(
    settings: Settings,
    engine: Engine,
    stores: Stores,
    runtime: Runtime,
    *,
    finding: EmbeddingBackends,
    rules: RetentionRules,
) -> Services:
    """All services on one database. `rules` must be those that the stores were built with."""
    audit = MemoryAudit(engine, stores, runtime, rules)
    sights, views = (
        ViewerFactory(stores, runtime, disclosure_settings(settings)),
        VisibilityFacts(stores),
    )
    reads = ReadAudit(engine, audit, settings.events.reads)
    graph = GraphWriter(stores, runtime)
    use = UsageTracker(engine, stores, runtime)
    searching = build_memory_search(
        finding,
        settings,
        engine,
        stores,
        runtime,
        viewers=sights,
        reads=reads,
        usage=use,
    )
    search = MemorySearchService(searching)
    runs = RunService(
        engine,
        stores,
        runtime,
        audit,
        memories=stores.memory_bulk,
        rules=rules,
        cleanup=settings.runs.session_cleanup,
    )
    approvals = ApprovalService(
        engine,
        stores,
        runtime,
        audit,
        terms=ExpiryCalculator(rules, settings.retention.profile),
        ttl_minutes=settings.approvals.ttl_minutes,
    )
    names = PersonNameScreen(screening_rules(settings, rules))
    hooks = WriteHooks(
        indexer=MemoryIndexer(stores, runtime, vectors=settings.makes_memory_vectors),
        graph=graph,
        people=SubjectResolver(stores, runtime, audit, names=names),
        approvals=approvals,
    )
    access = MemoryWriteAccess(stores, sights, views)
    around = WriteDeps(audit, access, rules, runs, hooks)
    writing = build_write_services(settings, engine, stores, runtime, around)
    governed = ModerationDeps(
        audit, access, sights, views, hooks, writing.parts.screening, rules, names
    )
    embedder = finding.embedder if settings.makes_memory_vectors else None
    model = embedder.model if embedder else ""
    examined = DoctorDeps(audit, hooks, rules, writing.parts.screening, model)
    merging = MergeService(
        engine, stores, runtime, audit, count_visible=MergeCounter(stores, sights).count_visible
    )
    return Services(
        RequesterLookup(engine, stores, runtime),
        AgentService(
            engine, stores, runtime, audit, removal=AgentWithMemoriesRemoval(stores, runtime, audit)
        ),
        PeopleService(
            engine,
            stores,
            runtime,
            audit,
            names=names,
            merging=merging,
            auto_merge=settings.people.auto_merge,
        ),
        ClaimService(engine, stores, runtime, audit, names=names),
        PersonMemories(engine, stores, sights=sights, views=views, reads=reads),
        merging,
        ChatService(engine, stores, runtime, audit),
        ParticipantService(
            engine, stores, runtime, audit, orgs_of=_configured_orgs(settings).find_orgs
        ),
        MemoryReader(
            engine,
            stores,
            sights=sights,
            views=views,
            audit=audit,
            reads=reads,
            use=use,
            score=search.score_memory,
        ),
        writing.memories,
        writing.batches,
        _build_event_service(settings, engine, stores, runtime),
        IdempotencyService(engine, stores, runtime),
        runs,
        approvals,
        RetentionService(runtime, rules=rules, profile=settings.retention.profile),
        build_doctor(settings, engine, stores, runtime, examined),
        use,
        build_cleanup(settings, engine, stores, runtime, audit=audit, use=use, rules=rules),
        build_erase_service(settings, engine, stores, runtime, audit=audit, rules=rules),
        build_quarantine(settings, engine, stores, runtime, governed),
        build_rollbacks(settings, engine, stores, runtime, governed),
        build_export(settings, engine, stores, runtime, governed),
        build_imports(settings, engine, stores, runtime, governed),
        GraphService(engine, stores, sights),
        search,
        RecallService(searching),
    )


def _configured_orgs(settings: Settings) -> OrgMemberships:
    return OrgMemberships(settings.orgs.members, local=settings.auth.mode == "local")


def disclosure_settings(settings: Settings) -> DisclosureSettings:
    """The privacy settings that decide about disclosure."""
    privacy = settings.privacy
    return DisclosureSettings(privacy.sensitive_in_groups, privacy.unknown_origin)


def load_retention_rules(settings: Settings) -> RetentionRules:
    """The retention rules of the configured file. Raises InvalidInput, with the place of the fault,
    so that the server does not start with rules it can't use."""
    try:
        return load_rules(settings.retention.file)
    except RetentionFileError as error:
        raise InvalidInput(str(error)) from error


def _build_event_service(
    settings: Settings, engine: Engine, stores: Stores, runtime: Runtime
) -> EventService:
    strict = settings.admin.require_justification
    return EventService(
        engine,
        stores,
        runtime,
        GateService(engine, stores, runtime, require_justification=strict),
        pace=EventStreamPacing(
            poll_seconds=settings.events.poll_ms / 1000,
            silence_seconds=settings.events.heartbeat_seconds,
            streams_max=settings.events.streams_max,
        ),
    )
