"""Entries: append, sync and list."""

import asyncio
from dataclasses import dataclass

from recollect.conversations.access import check_access
from recollect.conversations.commands import AppendEntry, SyncEntries
from recollect.conversations.entries.append import EntryDraft, EntryWriter, SyncOutcome
from recollect.conversations.entries.entry import (
    Channel,
    Entry,
    EntryOrder,
    EpochFilter,
    ForkFilter,
)
from recollect.conversations.entries.indexing_port import EntryIndexing
from recollect.conversations.entries.removal import EntryRemover, ForgetMemories
from recollect.conversations.forks.rules import UNLIMITED, Segment, is_on_path
from recollect.conversations.forks.visible_path import (
    fetch_latest_epoch,
    load_path,
    page_path,
)
from recollect.conversations.model import Branch
from recollect.conversations.ports import ConversationStores, EntryView
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.actions import Action
from recollect.identity.model import Principal
from recollect.kernel.ids import ClientId, ConversationId, EntryId, parse_uuid
from recollect.kernel.pages import Page, unknown_cursor_error
from recollect.search.model import LONG_TEXT_CHARS, IndexedWords


@dataclass(frozen=True, slots=True)
class EntryQuery:
    """The filters of an entry list, and its order. `epoch` filters memory entries only. With `tail`
    the list is the last so many entries, whatever the limit, the oldest of them first."""

    channel: Channel | None = None
    epoch: EpochFilter = "latest"
    forks: ForkFilter = ForkFilter.NONE
    order: EntryOrder = EntryOrder.ASC
    tail: int | None = None

    @property
    def walk_order(self) -> EntryOrder:
        """The order in which the list is read."""
        return self.order if self.tail is None else EntryOrder.DESC

    @property
    def start_seq(self) -> int:
        """The position before which a walk without a cursor begins."""
        return 0 if self.walk_order is EntryOrder.ASC else UNLIMITED


class EntryService:
    """Appends, syncs and lists entries of both channels."""

    def __init__(
        self,
        context: ServiceContext[ConversationStores],
        indexer: EntryIndexing,
        *,
        index_raw_text: bool,
        forget: ForgetMemories,
    ) -> None:
        """`forget`: see `EntryRemover`."""
        self._database = context.database
        self._stores = context.stores
        self._remover = EntryRemover(context.stores, context.runtime, indexer, forget)
        self._writer = EntryWriter(
            context.stores, context.runtime, indexer, index_raw_text=index_raw_text
        )

    async def append(
        self, principal: Principal, command: AppendEntry, *, reserved_id: str | None = None
    ) -> Entry:
        """Append one entry. An unknown id becomes a new conversation, or a fork of another. If an
        earlier attempt of the request stored the entry under `reserved_id`, return that one."""
        draft = self._writer.build_draft(principal, command, reserved_id)
        indexed = await _extract_words(draft)
        return await self._database.write(
            lambda tx: self._writer.append(tx, principal, draft, indexed)
        )

    async def sync(
        self, principal: Principal, command: SyncEntries, *, reserved_id: str | None = None
    ) -> SyncOutcome:
        """Make the client's memory equal to the list. An equal list stores nothing, and neither
        does a later attempt of a request that stored its entry under `reserved_id`."""
        draft = self._writer.build_sync_draft(principal, command, reserved_id)
        return await self._database.write(lambda tx: self._writer.sync(tx, principal, draft))

    async def delete(
        self, principal: Principal, conversation_id: ConversationId, entry_id: EntryId
    ) -> None:
        """Delete an entry of the history; see `EntryRemover.remove`."""
        await self._database.write(
            lambda tx: self._remover.remove(tx, principal, conversation_id, entry_id)
        )

    async def list(
        self,
        principal: Principal,
        conversation_id: ConversationId,
        query: EntryQuery,
        *,
        after: str | None,
        limit: int,
    ) -> Page[Entry]:
        """A page by position, of the visible path or of the whole tree.

        An unknown id gives an empty page, because an append may create it at any moment. A cursor
        for an unknown id is an error. NotFound for a deleted tree, Forbidden to non-members.
        """

        def work(tx: Tx) -> Page[Entry]:
            branch = self._stores.conversations.locate(tx, conversation_id, principal.user_id)
            if branch is None:
                if after:
                    raise unknown_cursor_error()
                return Page([], None)
            check_access(branch, principal, Action.READ, conversation_id)
            view = view_for(principal.client_id, query)
            return list_entries(tx, self._stores, branch, query, view, after=after, limit=limit)

        return await self._database.read(work)


async def _extract_words(draft: EntryDraft) -> IndexedWords | None:
    """Tokenize the draft's text. A long one goes to a thread: it would block the event loop."""
    if len(draft.indexed_content or "") < LONG_TEXT_CHARS:
        return draft.find_words()
    return await asyncio.to_thread(draft.find_words)


def view_for(client_id: ClientId | None, query: EntryQuery) -> EntryView:
    """What the caller may see. Without an API key that is history, whatever was asked for; with
    one, also the memory of that client."""
    if client_id is None or query.channel is Channel.HISTORY:
        return EntryView(history=True)
    return EntryView(history=query.channel is None, memory_of=client_id)


def list_entries(
    tx: Tx,
    stores: ConversationStores,
    branch: Branch,
    query: EntryQuery,
    view: EntryView,
    *,
    after: str | None,
    limit: int,
) -> Page[Entry]:
    """A page of the path or of the tree. `view` is the caller's permission; the epoch filter
    narrows it further, and applies to a path only."""
    # A position orders the whole tree, so one cursor works for a path and for all forks.
    path = load_path(tx, stores, branch.id)
    after_seq = resolve_cursor(tx, stores, branch, query, view, path, after)
    most = (query.tail or limit) + 1
    if query.forks is ForkFilter.ALL:
        found = stores.entries.page_tree(
            tx, branch.tree_id, view, after_seq=after_seq, limit=most, order=query.walk_order
        )
        return to_entry_page(found, query, limit)
    narrowed = _resolve_epoch(tx, stores, path, query, view)
    found = page_path(
        tx, stores, path, narrowed, after_seq=after_seq, limit=most, order=query.walk_order
    )
    return to_entry_page(found, query, limit)


def _resolve_epoch(
    tx: Tx, stores: ConversationStores, path: list[Segment], query: EntryQuery, view: EntryView
) -> EntryView:
    # "latest" is a number that depends on the path. A client without memory on the path has no
    # latest epoch: the view then leaves memory out, since `epoch=None` would mean all epochs.
    epoch: int | None = None
    if isinstance(query.epoch, int):
        epoch = query.epoch
    elif query.epoch == "latest" and view.memory_of is not None:
        epoch = fetch_latest_epoch(tx, stores, path, view.memory_of)
        if epoch is None:
            return EntryView(history=view.history)
    return EntryView(view.history, view.memory_of, view.all_clients, epoch)


def resolve_cursor(
    tx: Tx,
    stores: ConversationStores,
    branch: Branch,
    query: EntryQuery,
    view: EntryView,
    path: list[Segment],
    after: str | None,
) -> int:
    """The position of the cursor's entry; without a cursor that before the first entry.

    A cursor is an entry id. It is valid only if the list could have shown that entry: in the same
    tree, on the path (unless all forks are listed), of a visible channel and client. The epoch
    does not count, because another epoch may have become the latest since the last page.
    """
    if not after:
        return query.start_seq
    id_ = parse_uuid(after)
    entry = stores.entries.fetch(tx, EntryId(id_)) if id_ else None
    if entry is None or not view.has_channel_of(entry) or entry.tree_id != branch.tree_id:
        raise unknown_cursor_error()
    if query.forks is ForkFilter.NONE and not is_on_path(path, entry.conversation_id, entry.seq):
        raise unknown_cursor_error()
    return entry.seq


def to_entry_page(found: list[Entry], query: EntryQuery, limit: int) -> Page[Entry]:
    """Cut a result of up to `limit + 1` entries. The cursor, set if more exist, is the last id.
    Nothing comes after a tail, so it has no cursor."""
    if query.tail is not None:
        return Page(found[: query.tail][::-1], None)
    page = found[:limit]
    return Page(page, page[-1].id if len(found) > limit else None)
