"""Builds the services of the memory API."""

from recollect.agents.runs_service import RunService
from recollect.agents.service import AgentService
from recollect.api.services import MemoryServices
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
from recollect.app.search import EmbeddingBackends, build_memory_finder
from recollect.audit.gate import GateService
from recollect.audit.memory_recorder import MemoryAudit
from recollect.audit.service import EventService, EventStreamPacing
from recollect.conversations.ports import Stores
from recollect.db.engines.base import Engine
from recollect.graph.service import GraphService
from recollect.graph.writer import GraphWriter
from recollect.idempotency.service import IdempotencyService
from recollect.identity.orgs import OrgMemberships
from recollect.identity.requesters import RequesterLookup
from recollect.kernel.errors import InvalidInput
from recollect.kernel.retention_rules import RetentionRules
from recollect.kernel.runtime import Runtime
from recollect.memories.merge_counter import MergeCounter
from recollect.memories.read.about_person import PersonMemories
from recollect.memories.read.audit import ReadAudit
from recollect.memories.read.service import MemoryReader
from recollect.memories.usage import UsageTracker
from recollect.memories.write.expiry_calculator import ExpiryCalculator
from recollect.memories.write.writer import WriteHooks
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
from recollect.visibility.write_access import MemoryWriteAccess


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
    merging = MergeService(
        engine, stores, runtime, audit, count_visible=MergeCounter(stores, sights).count_visible
    )
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
            score=finder.score_memory,
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
