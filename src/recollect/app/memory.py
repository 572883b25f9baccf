"""Builds the services of the memory API."""

from recollect.app.doctor import DoctorDeps, build_doctor
from recollect.app.erasing import build_erase_service
from recollect.app.governance import (
    ModerationDeps,
    build_export,
    build_imports,
    build_quarantine,
    build_rollbacks,
)
from recollect.app.housekeeping import build_cleanup
from recollect.app.memory_writing import WriteDeps, build_write_services, screening_rules
from recollect.app.search import EmbeddingBackends, build_memory_finder
from recollect.domain.disclosure import DisclosureSettings
from recollect.domain.retention import RetentionRules
from recollect.errors import InvalidInput
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.providers.identity.orgs import OrgMemberships
from recollect.providers.retention.reader import RetentionFileError, load_rules
from recollect.services.agents import AgentService
from recollect.services.approvals import ApprovalService
from recollect.services.bundle import MemoryServices
from recollect.services.chats import ChatService
from recollect.services.events import EventService, EventStreamPacing
from recollect.services.gate import GateService
from recollect.services.graph import GraphWriter
from recollect.services.graph_reading import GraphService
from recollect.services.idempotency import IdempotencyService
from recollect.services.memory_access import MemoryWriteAccess
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_indexing import MemoryIndexer
from recollect.services.memory_reading import MemoryReader
from recollect.services.memory_search import MemorySearchService
from recollect.services.memory_terms import ExpiryCalculator
from recollect.services.memory_use import UsageTracker
from recollect.services.memory_writing import WriteHooks
from recollect.services.merging import MergeService
from recollect.services.names import PersonNameScreen
from recollect.services.participants import ParticipantService
from recollect.services.people import PeopleService
from recollect.services.person_claims import ClaimService
from recollect.services.person_memories import PersonMemories
from recollect.services.read_audit import ReadAudit
from recollect.services.recall import RecallService
from recollect.services.requesters import RequesterLookup
from recollect.services.retention import RetentionService
from recollect.services.runs import RunService
from recollect.services.sights import ViewerFactory
from recollect.services.subjects import SubjectResolver
from recollect.services.views import VisibilityFacts
from recollect.settings import Settings
from recollect.stores.engines.base import Engine


def build_memory_services(
    settings: Settings,
    engine: Engine,
    stores: Stores,
    runtime: Runtime,
    *,
    finding: EmbeddingBackends,
    rules: RetentionRules,
) -> MemoryServices:
    """All services on one database. `rules` must be those that the stores were built with."""
    audit = MemoryAudit(engine, stores, runtime, rules)
    sights, views = (
        ViewerFactory(stores, runtime, disclosure_settings(settings)),
        VisibilityFacts(stores),
    )
    reads = ReadAudit(engine, audit, settings.events.reads)
    graph = GraphWriter(stores, runtime)
    finder = build_memory_finder(finding, settings, engine, stores, neighbours=graph.closeness)
    use = UsageTracker(engine, stores, runtime)
    search = MemorySearchService(
        engine, stores, runtime, sights=sights, reads=reads, use=use, finder=finder
    )
    runs = RunService(
        engine, stores, runtime, audit, rules=rules, cleanup=settings.runs.session_cleanup
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
    merging = MergeService(engine, stores, runtime, audit, sights=sights)
    return MemoryServices(
        requesters=RequesterLookup(engine, stores, runtime),
        agents=AgentService(engine, stores, runtime, audit),
        people=PeopleService(
            engine,
            stores,
            runtime,
            audit,
            names=names,
            merging=merging,
            auto_merge=settings.people.auto_merge,
        ),
        claims=ClaimService(engine, stores, runtime, audit, names=names),
        person_memories=PersonMemories(engine, stores, sights=sights, views=views, reads=reads),
        merging=merging,
        chats=ChatService(engine, stores, runtime, audit),
        participants=ParticipantService(
            engine, stores, runtime, audit, orgs_of=_configured_orgs(settings).find_orgs
        ),
        memory_reader=MemoryReader(
            engine,
            stores,
            sights=sights,
            views=views,
            audit=audit,
            reads=reads,
            use=use,
            finder=finder,
        ),
        memories=writing.memories,
        memory_batches=writing.batches,
        events=_build_event_service(settings, engine, stores, runtime),
        idempotency=IdempotencyService(engine, stores, runtime),
        runs=runs,
        approvals=approvals,
        retention=RetentionService(runtime, rules=rules, profile=settings.retention.profile),
        doctor=build_doctor(settings, engine, stores, runtime, examined),
        memory_use=use,
        housekeeping=build_cleanup(
            settings, engine, stores, runtime, audit=audit, use=use, rules=rules
        ),
        erasing=build_erase_service(settings, engine, stores, runtime, audit=audit, rules=rules),
        quarantine=build_quarantine(settings, engine, stores, runtime, governed),
        rollbacks=build_rollbacks(settings, engine, stores, runtime, governed),
        export=build_export(settings, engine, stores, runtime, governed),
        imports=build_imports(settings, engine, stores, runtime, governed),
        graph=GraphService(engine, stores, sights),
        memory_search=search,
        recall=RecallService(engine, stores, runtime, search=search, finder=finder),
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
