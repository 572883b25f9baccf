"""Builds the services of conversations: entries, sharing, search, indexing and eviction."""

from datetime import timedelta

from recollect.app.context import AppContext
from recollect.app.search import build_entry_search
from recollect.conversations.admin_service import AdminService
from recollect.conversations.entries.service import EntryService
from recollect.conversations.eviction import EvictionService
from recollect.conversations.service import ConversationService
from recollect.conversations.sharing.service import SharingService
from recollect.conversations.sharing.transfer_service import TransferService
from recollect.http.services import Services
from recollect.recordings.forwarding import ForwardingService
from recollect.recordings.http_forwarder import HttpForwarder
from recollect.recordings.service import RecorderService
from recollect.search.entries.indexing import IndexingService


def build_conversation_services(context: AppContext, recorder: RecorderService) -> Services:
    """A deleted tree cancels its recordings, so the recorder is built before these."""
    settings, indexer = context.settings, context.entry_indexer
    return Services(
        ForwardingService(HttpForwarder()),
        ConversationService(context, forget=recorder.cancel_for_tree),
        EntryService(
            context,
            indexer,
            index_raw_text=settings.indexes_raw_text,
            forget=lambda tx, id_, at: context.stores.memory_bulk.remove_drawn_from(tx, id_, at=at),
        ),
        build_entry_search(context),
        IndexingService(context, indexer),
        SharingService(context, local=settings.auth.mode == "local"),
        TransferService(context, lifetime=timedelta(days=settings.transfers.ttl_days)),
        AdminService(context, forget=recorder.cancel_for_tree),
        EvictionService(
            context,
            batch_size=settings.eviction.batch_size,
            batch_delay_ms=settings.eviction.batch_delay_ms,
        ),
    )
