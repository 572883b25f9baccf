"""The bundle of all services, as the APIs get them."""

from dataclasses import dataclass

from recollect.services.admin import AdminService
from recollect.services.agents import AgentService
from recollect.services.approvals import ApprovalService
from recollect.services.chats import ChatService
from recollect.services.conversations import ConversationService
from recollect.services.doctor import DoctorService
from recollect.services.entries import EntryService
from recollect.services.erase import EraseService
from recollect.services.events import EventService
from recollect.services.eviction import EvictionService
from recollect.services.export import ExportService
from recollect.services.forwarding import ForwardingService
from recollect.services.gate import GateService
from recollect.services.graph_reading import GraphService
from recollect.services.housekeeping import CleanupService
from recollect.services.idempotency import IdempotencyService
from recollect.services.imports import ImportService
from recollect.services.indexing import IndexingService
from recollect.services.memories import MemoryService
from recollect.services.memory_batches import BatchService
from recollect.services.memory_reading import MemoryReader
from recollect.services.memory_search import MemorySearchService
from recollect.services.memory_use import UsageTracker
from recollect.services.merging import MergeService
from recollect.services.participants import ParticipantService
from recollect.services.people import PeopleService
from recollect.services.person_claims import ClaimService
from recollect.services.person_memories import PersonMemories
from recollect.services.quarantine import QuarantineService
from recollect.services.recall import RecallService
from recollect.services.recorder import RecorderService
from recollect.services.requesters import RequesterLookup
from recollect.services.retention import RetentionService
from recollect.services.rollback import RollbackService
from recollect.services.runs import RunService
from recollect.services.search import EntrySearchService
from recollect.services.sharing import SharingService
from recollect.services.status import StatusService
from recollect.services.transfers import TransferService


@dataclass(frozen=True, kw_only=True)
class MemoryServices:
    """The services of the memory API."""

    requesters: RequesterLookup
    agents: AgentService
    people: PeopleService
    claims: ClaimService
    person_memories: PersonMemories
    merging: MergeService
    chats: ChatService
    participants: ParticipantService
    memory_reader: MemoryReader
    memories: MemoryService
    memory_batches: BatchService
    events: EventService
    idempotency: IdempotencyService
    runs: RunService
    approvals: ApprovalService
    retention: RetentionService
    memory_use: UsageTracker
    housekeeping: CleanupService
    doctor: DoctorService
    erasing: EraseService
    quarantine: QuarantineService
    rollbacks: RollbackService
    export: ExportService
    imports: ImportService
    graph: GraphService
    memory_search: MemorySearchService
    recall: RecallService


@dataclass(frozen=True, kw_only=True)
class Services(MemoryServices):
    """All services: those of the memory and of the conversation API."""

    conversations: ConversationService
    entries: EntryService
    search: EntrySearchService
    indexing: IndexingService
    sharing: SharingService
    transfers: TransferService
    admin: AdminService
    eviction: EvictionService
    gate: GateService
    status: StatusService
    recorder: RecorderService
    forwarding: ForwardingService
