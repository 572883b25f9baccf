"""Deletes an entry of the history: what is left is a marker at its position.

The marker keeps id, position, author, time and role, so forks, cursors and replies that refer to
the entry stay valid. All that was made of its text goes in the same transaction.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from recollect.audit.event_recorder import AuditName, EventRecorder
from recollect.audit.model import EventKind
from recollect.conversations.access import authorize_branch, check_access
from recollect.conversations.entries.content import content_of_marker, extract_text
from recollect.conversations.entries.entry import Channel, Entry
from recollect.conversations.entries.indexing_port import EntryIndexing
from recollect.conversations.forks.rules import is_on_path
from recollect.conversations.forks.visible_path import (
    fetch_text_entry,
    find_point_before,
    load_path,
)
from recollect.conversations.model import Branch, Conversation, Headline, headline
from recollect.conversations.ports import ConversationStores
from recollect.db.transaction import Tx
from recollect.identity.actions import Action
from recollect.identity.model import Principal
from recollect.kernel import strict_json
from recollect.kernel.errors import Forbidden, NotFound
from recollect.kernel.ids import ConversationId, EntryId
from recollect.kernel.runtime import Runtime

ForgetMemories = Callable[[Tx, EntryId, datetime], int]
_NO_HEADLINE = Headline(None, None)


class EntryRemover:
    """Deletes entries inside a transaction of the caller.

    `forget` deletes the memories that have no other source than the entry, and counts them.
    """

    def __init__(
        self,
        stores: ConversationStores,
        runtime: Runtime,
        indexing: EntryIndexing,
        forget: ForgetMemories,
    ) -> None:
        self._stores = stores
        self._runtime = runtime
        self._indexing = indexing
        self._forget = forget
        self._auditor = EventRecorder(stores, runtime)

    def remove(
        self, tx: Tx, principal: Principal, conversation_id: ConversationId, entry_id: EntryId
    ) -> None:
        """Delete an entry that the conversation shows, own or inherited, for all its branches.

        NotFound if the conversation does not show it or it was deleted before. Forbidden for
        somebody else's entry below level manager, and for memory, which only a sync changes.
        """
        branch = authorize_branch(
            tx, self._stores, principal, Action.DELETE_OWN_ENTRY, conversation_id, lock=True
        )
        entry = self._find(tx, principal, branch, entry_id)
        if entry.user_id != principal.user_id:
            check_access(branch, principal, Action.DELETE_OTHERS_ENTRY, conversation_id)
        at = self._runtime.clock.now()
        content = strict_json.load(entry.content)
        self._indexing.remove(tx, entry)
        marker = replace(entry, content=strict_json.dump(content_of_marker(content)), removed_at=at)
        self._stores.entries.mark_removed(tx, marker)
        if entry.text_seq == entry.seq:
            self._replace_headlines(tx, entry, headline(extract_text(content) or ""))
        self._stores.idempotency.blank_answers(tx, [entry.id])
        forgotten = self._forget(tx, entry.id, at)
        self._record(tx, principal, entry, forgotten)

    def _find(self, tx: Tx, principal: Principal, branch: Branch, entry_id: EntryId) -> Entry:
        entry = self._stores.entries.fetch(tx, entry_id)
        path = load_path(tx, self._stores, branch.id)
        if (
            entry is None
            or entry.removed_at is not None
            or not is_on_path(path, entry.conversation_id, entry.seq)
        ):
            raise NotFound("entry", entry_id)
        if entry.channel is Channel.MEMORY:
            # Another client's memory is hidden from the caller, so it must look like no entry.
            if principal.client_id is None or entry.client_id != principal.client_id:
                raise NotFound("entry", entry_id)
            raise Forbidden("memory is not deleted by entry: sync the list without it")
        return entry

    def _replace_headlines(self, tx: Tx, removed: Entry, old: Headline) -> None:
        """Compute again what was taken from the text: the preview of every branch whose last text
        it was, and the title of every branch that was named after it.

        The text before it is the same for all of them: a path through the entry shows the same
        entries before it on every branch.
        """
        path = load_path(tx, self._stores, removed.conversation_id)
        point = find_point_before(tx, self._stores, path, removed)
        before = point.text_seq if point else None
        self._stores.entries.move_text_seq(tx, removed, before)
        last = fetch_text_entry(tx, self._stores, removed.tree_id, before)
        branches = self._stores.conversations.page_forks(
            tx, removed.tree_id, after=None, limit=None
        )
        title = self._new_title(tx, removed, old, branches)
        store = self._stores.conversations
        for branch in branches:
            if branch.last_text_seq == removed.seq:
                store.update_preview(tx, branch.id, _headline_of(last).preview, before)
            if old.title is not None and branch.title == old.title:
                store.update_derived_title(tx, branch.id, title)
        # Of every branch: an answer may quote a title or preview that has been replaced since.
        ids = [branch.id for branch in branches]
        self._stores.idempotency.blank_quoting_answers(tx, ids)

    def _new_title(
        self, tx: Tx, removed: Entry, old: Headline, branches: list[Conversation]
    ) -> str | None:
        """What a title that was taken from the entry becomes: that of the first text that is left
        in its conversation, else the title of the parent, if that is another one."""
        first = self._stores.entries.fetch_first_text(tx, removed.conversation_id)
        if first is not None:
            return _headline_of(first).title
        by_id = {branch.id: branch for branch in branches}
        parent_id = by_id[removed.conversation_id].forked_at_conversation_id
        parent = by_id[parent_id] if parent_id is not None else None
        return parent.title if parent is not None and parent.title != old.title else None

    def _record(self, tx: Tx, principal: Principal, entry: Entry, forgotten: int) -> None:
        self._auditor.record(
            tx,
            principal,
            AuditName(EventKind.CONVERSATION, "deleteEntry"),
            conversation_id=entry.conversation_id,
            target_user_id=entry.user_id,
            params={"entryId": entry.id},
            count=forgotten,
        )


def _headline_of(entry: Entry | None) -> Headline:
    text = extract_text(strict_json.load(entry.content)) if entry else None
    return headline(text) if text else _NO_HEADLINE
