"""The services' side of each operation that a user has: which method, with which arguments."""

from collections.abc import Awaitable, Callable
from typing import Any

from recollect.conversations.entries.entry import (
    CONTENT_ITEMS_MAX,
    CONTENT_TYPE_CHARS_MAX,
    INDEXED_CHARS_MAX,
    SYNC_ITEMS_MAX,
    Channel,
    EpochFilter,
    ForkFilter,
)
from recollect.conversations.entries.service import EntryQuery, EntryService, NewEntry
from recollect.conversations.model import Keep, ListMode
from recollect.conversations.render import (
    to_conversation,
    to_entry,
    to_fork,
    to_hit,
    to_membership,
    to_summary,
    to_sync_outcome,
    to_transfer,
    to_unindexed,
)
from recollect.conversations.service import ConversationService
from recollect.conversations.sharing.service import SharingService
from recollect.conversations.sharing.transfer import TransferRole
from recollect.conversations.sharing.transfer_service import TransferService
from recollect.kernel.ids import ConversationId, EntryId
from recollect.kernel.strict_json import dump
from recollect.search.entries.indexing import IndexingService
from recollect.search.entries.service import EntrySearchService
from recollect.search.model import (
    INDEX_ITEMS_MAX,
    QUERY_CHARS_MAX,
    NewIndexText,
    SearchRequest,
    SearchType,
)
from tests.support.services.arguments import (
    CURSOR_CHARS_MAX,
    CallArguments,
    Inexpressible,
    SentFields,
    needed,
)

Answer = str | bytes | None
ServiceCall = Callable[[CallArguments], Awaitable[Answer]]

TITLE_QUERY_CHARS_MAX = 1_000


async def list_conversations(asked: CallArguments) -> bytes:
    """A page of the caller's conversations."""
    page = await asked.services[ConversationService].list(
        asked.principal,
        mode=asked.query.word("mode", ListMode) or ListMode.LATEST_FORK,
        query=asked.query.text("query", TITLE_QUERY_CHARS_MAX, least=0) or None,
        **asked.page(20),
    )
    return asked.to_page(map(to_summary, page.items), page.next_cursor)


async def create_conversation(asked: CallArguments) -> str:
    """A new conversation."""
    seen = await asked.services[ConversationService].create(
        asked.principal, title=asked.body.title(), metadata=asked.body.metadata()
    )
    return to_conversation(seen)


async def get_conversation(asked: CallArguments) -> str:
    """One conversation."""
    seen = await asked.services[ConversationService].get(asked.principal, asked.conversation_id)
    return to_conversation(seen)


async def update_conversation(asked: CallArguments) -> str:
    """Another title, or none, or the same."""
    title = asked.body.title() if "title" in asked.body.sent else Keep.KEEP
    seen = await asked.services[ConversationService].rename(
        asked.principal, asked.conversation_id, title
    )
    return to_conversation(seen)


async def delete_conversation(asked: CallArguments) -> None:
    """Soft-delete a tree."""
    await asked.services[ConversationService].delete(asked.principal, asked.conversation_id)


async def fork_conversation(asked: CallArguments) -> str:
    """A fork at an entry."""
    seen = await asked.services[ConversationService].fork(
        asked.principal, asked.conversation_id, asked.entry_id, title=asked.body.title()
    )
    return to_conversation(seen)


async def list_forks(asked: CallArguments) -> bytes:
    """The conversations of a tree."""
    page = await asked.services[ConversationService].list_forks(
        asked.principal, asked.conversation_id, **asked.page(None)
    )
    return asked.to_page(map(to_fork, page.items), page.next_cursor)


async def list_entries(asked: CallArguments) -> bytes:
    """The entries of a branch, or of the whole tree."""
    page = await asked.services[EntryService].list(
        asked.principal, asked.conversation_id, entry_query(asked, "latest"), **asked.page(50)
    )
    return asked.to_page(map(to_entry, page.items), page.next_cursor)


async def append_entry(asked: CallArguments) -> str:
    """Append one entry; its content may be one text."""
    content = asked.body.sent.get("content")
    if not isinstance(content, str):
        content = asked.body.items("content", CONTENT_ITEMS_MAX)
    entry = await asked.services[EntryService].append(
        asked.principal, asked.conversation_id, _new_entry(asked.body, content)
    )
    return to_entry(entry)


async def sync_entries(asked: CallArguments) -> str:
    """Make the client's memory equal to a list."""
    content = asked.body.items("content", SYNC_ITEMS_MAX)
    outcome = await asked.services[EntryService].sync(
        asked.principal, asked.conversation_id, _new_entry(asked.body, content)
    )
    return to_sync_outcome(outcome)


async def search(asked: CallArguments) -> bytes:
    """Search the caller's own trees."""
    page = await asked.services[EntrySearchService].search(
        asked.principal, search_request(asked.body)
    )
    return asked.to_page(map(to_hit, page.items), page.next_cursor, degraded=page.degraded)


async def index_entries(asked: CallArguments) -> str:
    """Texts from an indexer."""
    if not 1 <= len(asked.listed) <= INDEX_ITEMS_MAX:
        raise Inexpressible
    texts = [_new_text(item) for item in asked.listed]
    return dump({"indexed": await asked.services[IndexingService].index(asked.principal, texts)})


async def list_unindexed(asked: CallArguments) -> bytes:
    """What an indexer has still to do."""
    page = await asked.services[IndexingService].list_unindexed(
        asked.principal, **asked.page(100, "cursor")
    )
    return asked.to_page(map(to_unindexed, page.items), page.next_cursor)


async def list_memberships(asked: CallArguments) -> bytes:
    """The members of a tree."""
    conversation_id = asked.conversation_id
    page = await asked.services[SharingService].list(
        asked.principal, conversation_id, **asked.page(None)
    )
    items = (to_membership(member, conversation_id) for member in page.items)
    return asked.to_page(items, page.next_cursor)


async def share_conversation(asked: CallArguments) -> str:
    """Add a member, or replace a member's level."""
    member = await asked.services[SharingService].share(
        asked.principal,
        asked.conversation_id,
        needed(asked.body.user("userId")),
        asked.body.level(),
    )
    return to_membership(member, asked.conversation_id)


async def update_membership(asked: CallArguments) -> str:
    """Change a member's level."""
    member = await asked.services[SharingService].change(
        asked.principal, asked.conversation_id, asked.member, asked.body.level()
    )
    return to_membership(member, asked.conversation_id)


async def delete_membership(asked: CallArguments) -> None:
    """Remove a member, or leave."""
    await asked.services[SharingService].remove(
        asked.principal, asked.conversation_id, asked.member
    )


async def list_transfers(asked: CallArguments) -> bytes:
    """The caller's pending transfers."""
    page = await asked.services[TransferService].list(
        asked.principal,
        role=asked.query.word("role", TransferRole) or TransferRole.ALL,
        **asked.page(None),
    )
    return asked.to_page(map(to_transfer, page.items), page.next_cursor)


async def create_transfer(asked: CallArguments) -> str:
    """Offer a tree to a member."""
    transfer = await asked.services[TransferService].create(
        asked.principal,
        ConversationId(needed(asked.body.uuid("conversationId"))),
        needed(asked.body.user("newOwnerUserId")),
    )
    return to_transfer(transfer)


async def get_transfer(asked: CallArguments) -> str:
    """One transfer."""
    return to_transfer(
        await asked.services[TransferService].get(asked.principal, asked.transfer_id)
    )


async def accept_transfer(asked: CallArguments) -> None:
    """Become the owner."""
    await asked.services[TransferService].accept(asked.principal, asked.transfer_id)


async def delete_transfer(asked: CallArguments) -> None:
    """Cancel or reject."""
    await asked.services[TransferService].delete(asked.principal, asked.transfer_id)


def entry_query(asked: CallArguments, epoch: EpochFilter) -> EntryQuery:
    """Which entries; `epoch` is what counts if none was sent."""
    sent = asked.query.sent.get("epoch", epoch)
    if not (sent in ("latest", "all") or (type(sent) is int and 1 <= sent < 2**63)):
        raise Inexpressible
    return EntryQuery(
        channel=asked.query.word("channel", Channel),
        epoch=sent,
        forks=asked.query.word("forks", ForkFilter) or ForkFilter.NONE,
    )


def search_request(body: SentFields) -> SearchRequest:
    """What to look for."""
    return SearchRequest(
        query=needed(body.text("query", QUERY_CHARS_MAX, least=0)),
        type=body.word("searchType", SearchType) or SearchType.AUTO,
        after=body.text("after", CURSOR_CHARS_MAX, least=0) or None,
        limit=body.limit(20),
        include_entry=body.flag("includeEntry", True),
        group_by_conversation=body.flag("groupByConversation", True),
    )


def _new_entry(body: SentFields, content: Any) -> NewEntry:
    conversation, entry = body.uuid("forkedAtConversationId"), body.uuid("forkedAtEntryId")
    return NewEntry(
        content=content,
        content_type=body.text("contentType", CONTENT_TYPE_CHARS_MAX),
        channel=body.word("channel", Channel),
        user_id=body.user("userId"),
        indexed_content=body.text("indexedContent", INDEXED_CHARS_MAX),
        forked_at_conversation_id=ConversationId(conversation) if conversation else None,
        forked_at_entry_id=EntryId(entry) if entry else None,
    )


def _new_text(item: Any) -> NewIndexText:
    if not isinstance(item, dict):
        raise Inexpressible
    members = SentFields(item)
    return NewIndexText(
        ConversationId(needed(members.uuid("conversationId"))),
        EntryId(needed(members.uuid("entryId"))),
        needed(members.text("indexedContent", INDEXED_CHARS_MAX)),
    )


USER_CALLS: dict[str, ServiceCall] = {
    "listConversations": list_conversations,
    "createConversation": create_conversation,
    "getConversation": get_conversation,
    "updateConversation": update_conversation,
    "deleteConversation": delete_conversation,
    "forkConversation": fork_conversation,
    "listForks": list_forks,
    "listEntries": list_entries,
    "appendEntry": append_entry,
    "syncEntries": sync_entries,
    "searchConversations": search,
    "indexEntries": index_entries,
    "listUnindexed": list_unindexed,
    "listMemberships": list_memberships,
    "shareConversation": share_conversation,
    "updateMembership": update_membership,
    "deleteMembership": delete_membership,
    "listOwnershipTransfers": list_transfers,
    "createOwnershipTransfer": create_transfer,
    "getOwnershipTransfer": get_transfer,
    "acceptOwnershipTransfer": accept_transfer,
    "deleteOwnershipTransfer": delete_transfer,
}
