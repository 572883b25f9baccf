"""All use cases, as every adapter gets them."""

from dataclasses import dataclass

from recollect.services.admin import AdminService
from recollect.services.agents import AgentService
from recollect.services.conversations import ConversationService
from recollect.services.entries import EntryService
from recollect.services.eviction import EvictionService
from recollect.services.gate import GateService
from recollect.services.indexing import IndexingService
from recollect.services.requesters import Requesters
from recollect.services.search import SearchService
from recollect.services.sharing import SharingService
from recollect.services.status import StatusService
from recollect.services.transfers import TransferService


@dataclass(frozen=True, slots=True)
class Services:
    """One service a noun."""

    conversations: ConversationService
    entries: EntryService
    search: SearchService
    indexing: IndexingService
    sharing: SharingService
    transfers: TransferService
    admin: AdminService
    eviction: EvictionService
    gate: GateService
    status: StatusService
    requesters: Requesters
    agents: AgentService
