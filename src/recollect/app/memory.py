"""Builds the services of the memory API."""

from recollect.app.doctor import Examined, doctor
from recollect.app.erasing import erasing
from recollect.app.governance import Governed, export, imports, quarantine, rollbacks
from recollect.app.housekeeping import housekeeping
from recollect.app.memory_writing import Around, memory_writing, screening_rules
from recollect.app.search import Finding, memory_finder
from recollect.domain.disclosure import DisclosureSettings
from recollect.domain.retention import RetentionRules
from recollect.errors import InvalidInput
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.providers.identity.orgs import Orgs
from recollect.providers.retention.reader import RetentionFileError, load_rules
from recollect.services.agents import AgentService
from recollect.services.approvals import ApprovalService
from recollect.services.bundle import MemoryServices
from recollect.services.chats import ChatService
from recollect.services.events import EventService, Pace
from recollect.services.gate import GateService
from recollect.services.graph import Graph
from recollect.services.graph_reading import GraphService
from recollect.services.idempotency import IdempotencyService
from recollect.services.memory_access import MemoryAccess
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_indexing import MemoryIndexer
from recollect.services.memory_reading import MemoryReader
from recollect.services.memory_search import MemorySearchService
from recollect.services.memory_terms import Terms
from recollect.services.memory_use import MemoryUse
from recollect.services.memory_writing import Hooks
from recollect.services.merging import MergeService
from recollect.services.names import Names
from recollect.services.participants import ParticipantService
from recollect.services.people import PeopleService
from recollect.services.person_claims import ClaimService
from recollect.services.person_memories import PersonMemories
from recollect.services.read_audit import ReadAudit
from recollect.services.recall import RecallService
from recollect.services.requesters import Requesters
from recollect.services.retention import RetentionService
from recollect.services.runs import RunService
from recollect.services.sights import Sights
from recollect.services.subjects import Subjects
from recollect.services.views import Views
from recollect.settings import Settings
from recollect.stores.engines.base import Engine


def memory_services(
    settings: Settings,
    engine: Engine,
    stores: Stores,
    runtime: Runtime,
    *,
    finding: Finding,
    rules: RetentionRules,
) -> MemoryServices:
    """All services on one database. `rules` must be those that the stores were built with."""
    audit = MemoryAudit(engine, stores, runtime, rules)
    sights, views = Sights(stores, runtime, disclosure_settings(settings)), Views(stores)
    reads = ReadAudit(engine, audit, settings.events.reads)
    graph = Graph(stores, runtime)
    finder = memory_finder(finding, settings, engine, stores, neighbours=graph.closeness)
    use = MemoryUse(engine, stores, runtime)
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
        terms=Terms(rules, settings.retention.profile),
        ttl_minutes=settings.approvals.ttl_minutes,
    )
    names = Names(screening_rules(settings, rules))
    hooks = Hooks(
        indexer=MemoryIndexer(stores, runtime, vectors=settings.makes_memory_vectors),
        graph=graph,
        people=Subjects(stores, runtime, audit, names=names),
        approvals=approvals,
    )
    access = MemoryAccess(stores, sights, views)
    around = Around(audit, access, rules, runs, hooks)
    writing = memory_writing(settings, engine, stores, runtime, around)
    governed = Governed(audit, access, sights, views, hooks, writing.parts.screening, rules, names)
    embedder = finding.embedder if settings.makes_memory_vectors else None
    model = embedder.model if embedder else ""
    examined = Examined(audit, hooks, rules, writing.parts.screening, model)
    merging = MergeService(engine, stores, runtime, audit, sights=sights)
    return MemoryServices(
        requesters=Requesters(engine, stores, runtime),
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
            engine, stores, runtime, audit, orgs_of=_configured_orgs(settings).of
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
        events=_events(settings, engine, stores, runtime),
        idempotency=IdempotencyService(engine, stores, runtime),
        runs=runs,
        approvals=approvals,
        retention=RetentionService(runtime, rules=rules, profile=settings.retention.profile),
        doctor=doctor(settings, engine, stores, runtime, examined),
        memory_use=use,
        housekeeping=housekeeping(
            settings, engine, stores, runtime, audit=audit, use=use, rules=rules
        ),
        erasing=erasing(settings, engine, stores, runtime, audit=audit, rules=rules),
        quarantine=quarantine(settings, engine, stores, runtime, governed),
        rollbacks=rollbacks(settings, engine, stores, runtime, governed),
        export=export(settings, engine, stores, runtime, governed),
        imports=imports(settings, engine, stores, runtime, governed),
        graph=GraphService(engine, stores, sights),
        memory_search=search,
        recall=RecallService(engine, stores, runtime, search=search, finder=finder),
    )


def _configured_orgs(settings: Settings) -> Orgs:
    return Orgs(settings.orgs.members, local=settings.auth.mode == "local")


def disclosure_settings(settings: Settings) -> DisclosureSettings:
    """The privacy settings that decide about disclosure."""
    privacy = settings.privacy
    return DisclosureSettings(privacy.sensitive_in_groups, privacy.unknown_origin)


def retention_rules(settings: Settings) -> RetentionRules:
    """The retention rules of the configured file. Raises InvalidInput, with the place of the fault,
    so that the server does not start with rules it can't use."""
    try:
        return load_rules(settings.retention.file)
    except RetentionFileError as error:
        raise InvalidInput(str(error)) from error


def _events(settings: Settings, engine: Engine, stores: Stores, runtime: Runtime) -> EventService:
    strict = settings.admin.require_justification
    return EventService(
        engine,
        stores,
        runtime,
        GateService(engine, stores, runtime, require_justification=strict),
        pace=Pace(
            poll_seconds=settings.events.poll_ms / 1000,
            silence_seconds=settings.events.heartbeat_seconds,
            streams_max=settings.events.streams_max,
        ),
    )
