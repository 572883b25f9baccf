"""The bundle of all services, as the APIs get them."""

from dataclasses import dataclass

from recollect.agents.runs_service import RunService
from recollect.agents.service import AgentService
from recollect.audit.gate import GateService
from recollect.audit.service import EventService
from recollect.conversations.admin_service import AdminService
from recollect.conversations.entries.indexing import IndexingService
from recollect.conversations.entries.service import EntryService
from recollect.conversations.eviction import EvictionService
from recollect.conversations.service import ConversationService
from recollect.conversations.sharing.service import SharingService
from recollect.conversations.sharing.transfer_service import TransferService
from recollect.doctor.health import StatusService
from recollect.doctor.service import DoctorService
from recollect.erasure.service import EraseService
from recollect.graph.service import GraphService
from recollect.idempotency.service import IdempotencyService
from recollect.identity.requesters import RequesterLookup
from recollect.memories.read.about_person import PersonMemories
from recollect.memories.read.service import MemoryReader
from recollect.memories.service import MemoryService
from recollect.memories.usage import UsageTracker
from recollect.memories.write.batch import BatchService
from recollect.people.chats_service import ChatService
from recollect.people.claims_service import ClaimService
from recollect.people.merge_service import MergeService
from recollect.people.participants_service import ParticipantService
from recollect.people.service import PeopleService
from recollect.portability.export_service import ExportService
from recollect.portability.import_service import ImportService
from recollect.recordings.forwarding import ForwardingService
from recollect.recordings.service import RecorderService
from recollect.retention.approvals import ApprovalService
from recollect.retention.cleanup_service import CleanupService
from recollect.retention.quarantine import QuarantineService
from recollect.retention.service import RetentionService
from recollect.rollback.service import RollbackService
from recollect.search.entries.service import EntrySearchService
from recollect.search.memories.service import MemorySearchService
from recollect.search.recall.service import RecallService


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
