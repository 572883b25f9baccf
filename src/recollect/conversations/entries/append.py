"""Appends and syncs: how an entry gets into a conversation.

A request becomes an `EntryDraft` before any transaction: every check that needs no stored data is
done by then. `EntryWriter` then stores the draft in one transaction, under the lock of the
conversation tree. The conversation may not exist yet; `AppendTargets` finds or creates it.
"""

from dataclasses import dataclass, replace
from typing import Any

from recollect.conversations.commands import AppendEntry, SyncEntries, WriteEntry
from recollect.conversations.entries import content as history
from recollect.conversations.entries import epochs
from recollect.conversations.entries.append_target import (
    AppendTarget,
    AppendTargets,
)
from recollect.conversations.entries.entry import (
    INDEXED_CHARS_MAX,
    Channel,
    Entry,
)
from recollect.conversations.entries.indexing_port import EntryIndexing
from recollect.conversations.forks.rules import Segment
from recollect.conversations.forks.visible_path import (
    fetch_latest_epoch,
    page_path,
)
from recollect.conversations.model import Branch, Headline, headline
from recollect.conversations.ports import ConversationStores, EntryView
from recollect.db.transaction import Tx
from recollect.identity.actions import Action
from recollect.identity.model import Principal
from recollect.kernel import strict_json
from recollect.kernel.errors import InvalidInput, ValidationFailed
from recollect.kernel.ids import EntryId, UserId
from recollect.kernel.runtime import Runtime
from recollect.kernel.strict_json import JsonText
from recollect.search.model import IndexedWords, index_words

# A sync compares with every entry of the latest epoch, so that read has no page size.
_NO_LIMIT = 2**31


@dataclass(frozen=True, slots=True)
class EntryDraft:
    """A checked request, ready to be stored.

    `items` is the parsed content and `content` its JSON text. `headline` is None for memory, and
    for history without text. `sent` keeps the fields that need stored data to be checked.
    """

    channel: Channel
    content_type: str
    items: list[Any]
    content: JsonText
    user_id: UserId | None
    headline: Headline | None
    indexed_content: str | None
    sent: WriteEntry
    reserved_id: EntryId | None = None

    def find_words(self) -> IndexedWords | None:
        """Tokenize the text to be indexed, if there is one. Slow for a long text, so it is not
        called inside a transaction."""
        if self.indexed_content is None:
            return None
        found = index_words(self.indexed_content)
        return found.with_speaker_trait(assistant=history.is_assistant(self.items))

    @property
    def action(self) -> Action:
        """The action that an append of this draft needs permission for."""
        return Action.WRITE_MEMORY if self.channel is Channel.MEMORY else Action.APPEND


@dataclass(frozen=True, slots=True)
class SyncOutcome:
    """What a sync did. `entry` is the one entry that it stored, if any."""

    epoch: int | None
    no_op: bool
    epoch_incremented: bool
    entry: Entry | None


class EntryWriter:
    """Builds drafts, and stores them inside a transaction of the caller."""

    def __init__(
        self,
        stores: ConversationStores,
        runtime: Runtime,
        indexer: EntryIndexing,
        *,
        index_raw_text: bool,
    ) -> None:
        self._stores = stores
        self._runtime = runtime
        self._indexer = indexer
        self._index_raw_text = index_raw_text
        self._targets = AppendTargets(stores, runtime)

    def build_draft(
        self, principal: Principal, new: AppendEntry, reserved_id: str | None = None
    ) -> EntryDraft:
        """Check an append as far as that goes without stored data.

        The channel decides the rules. Memory needs a content type and is stored as sent. History
        of a client must follow the strict rules. A user without an API key who names no channel
        gets the tolerant rules, which normalize any wrapping of a text.
        """
        _check_user(principal, new)
        channel = _choose_channel(principal, new)
        if channel is Channel.MEMORY:
            return _build_memory_draft(new, reserved_id)
        # Without an API key and without a channel it is a person's chat message from a browser.
        # Whoever names a channel, or has a key, knows the format and gets precise errors instead.
        keyless = principal.client_id is None and new.channel is None
        if not keyless and new.content_type is None:
            raise _missing_content_type()
        kept = (
            history.parse_tolerant(new.content, new.content_type, new.role)
            if keyless
            else history.parse_strict(new.content, new.content_type)
        )
        return EntryDraft(
            channel=channel,
            content_type=kept.content_type,
            items=kept.content,
            content=strict_json.dump(kept.content),
            user_id=new.user_id or principal.user_id,
            headline=headline(kept.text) if kept.text else None,
            indexed_content=self._text_to_index(new.indexed_content, kept.text),
            sent=new,
            reserved_id=EntryId(reserved_id) if reserved_id else None,
        )

    def build_sync_draft(
        self, principal: Principal, new: SyncEntries, reserved_id: str | None = None
    ) -> EntryDraft:
        """The same for a sync, which always writes memory."""
        _check_user(principal, new)
        if new.channel is Channel.HISTORY:
            raise InvalidInput("a sync goes to channel `memory`", field="channel")
        return _build_memory_draft(new, reserved_id)

    def append(
        self, tx: Tx, principal: Principal, draft: EntryDraft, indexed: IndexedWords | None
    ) -> Entry:
        """Store the draft as the newest entry, and create the conversation if its id is unknown.

        `indexed` holds the words of the draft's indexed text.
        """
        # Access comes first: whether a user is a member (the second check) is not told to
        # strangers. All reads come before all writes, for two reasons. A new conversation can't
        # be inserted before we know that an entry will follow. And a function that fails before
        # its first write costs nothing: SQLite commits many requests at once, and a failure after
        # a write would make the whole batch run again (see docs/adr/0003).
        #
        # `_find_target` holds the tree's lock until the commit. Everything derived from the branch
        # depends on it: the next position, the latest epoch and the pending title.
        target = self._find_target(tx, principal, draft.action, draft)
        self._check_member(tx, principal, target.branch, draft)
        made = self._fetch_reserved(tx, target, draft)
        if made is not None:
            return made
        epoch = self._epoch_for_append(tx, principal, target, draft)
        self._targets.insert_new(tx, target)
        entry = self._insert_entry(tx, principal, target.branch, draft, epoch)
        if indexed is not None:
            self._indexer.add(tx, entry, indexed)
        return entry

    def sync(self, tx: Tx, principal: Principal, draft: EntryDraft) -> SyncOutcome:
        """Compare the list with the client's latest epoch on the visible path, and store the
        difference as one entry, or nothing.

        Two equal syncs at once can't both store: the second one waits for the tree's lock, reads
        what the first one stored and finds no difference.
        """
        target = self._find_target(tx, principal, Action.SYNC, draft)
        self._check_member(tx, principal, target.branch, draft)
        made = self._fetch_reserved(tx, target, draft)
        if made is not None:
            return self._outcome_of(tx, target, made)
        latest, existing = self._fetch_latest_memory(tx, principal, target)
        stored = [(e.content_type, strict_json.load(e.content)) for e in existing]
        plan = epochs.plan_sync(latest, stored, draft.content_type, draft.items)
        # An empty list for an unknown id stores nothing, and must not create a conversation
        # either. A new fork differs: it inherits `existing` from its parent, so its id is in use
        # from now on, even if the client's memory is equal and no entry is written.
        if plan.store is not None or existing:
            self._targets.insert_new(tx, target)
        if plan.store is None:
            return SyncOutcome(plan.epoch, plan.no_op, plan.epoch_incremented, None)
        delta = replace(draft, items=plan.store, content=strict_json.dump(plan.store))
        entry = self._insert_entry(tx, principal, target.branch, delta, plan.epoch)
        return SyncOutcome(plan.epoch, plan.no_op, plan.epoch_incremented, entry)

    def _find_target(
        self, tx: Tx, principal: Principal, action: Action, draft: EntryDraft
    ) -> AppendTarget:
        return self._targets.find(
            tx,
            principal,
            action,
            draft.sent.conversation_id,
            parent_id=draft.sent.forked_at_conversation_id,
            entry_id=draft.sent.forked_at_entry_id,
            title=draft.headline.title if draft.headline else None,
        )

    def _check_member(
        self, tx: Tx, principal: Principal, branch: Branch, draft: EntryDraft
    ) -> None:
        """A trusted client may write for any member of the tree, but for nobody else.

        `_check_user` has refused other users' names from clients that are not trusted. A tree
        that does not exist yet has no members, so only the caller passes.
        """
        user_id = draft.sent.user_id
        if user_id is None or user_id == principal.user_id:
            return
        if self._stores.memberships.fetch(tx, branch.tree_id, user_id) is None:
            raise InvalidInput("userId must name a member of the conversation", field="userId")

    def _fetch_reserved(self, tx: Tx, target: AppendTarget, draft: EntryDraft) -> Entry | None:
        """The entry that an earlier attempt of the same request stored. It must have created the
        conversation, too, so there is none in a new one."""
        if draft.reserved_id is None or target.new is not None:
            return None
        return self._stores.entries.fetch(tx, draft.reserved_id)

    def _outcome_of(self, tx: Tx, target: AppendTarget, made: Entry) -> SyncOutcome:
        """What the sync did that stored this entry: an epoch began if its client had an earlier
        one before it."""
        path = self._targets.target_path(tx, target)
        earlier = [Segment(one.conversation_id, min(one.cut, made.seq - 1)) for one in path]
        client_id = made.client_id
        before = fetch_latest_epoch(tx, self._stores, earlier, client_id) if client_id else None
        began = before is not None and before != made.epoch
        return SyncOutcome(made.epoch, no_op=False, epoch_incremented=began, entry=made)

    def _epoch_for_append(
        self, tx: Tx, principal: Principal, target: AppendTarget, draft: EntryDraft
    ) -> int | None:
        # Only memory has epochs. An appended entry joins the client's latest epoch; only a sync
        # begins a new one.
        if draft.channel is Channel.HISTORY or principal.client_id is None:
            return None
        path = self._targets.target_path(tx, target)
        return fetch_latest_epoch(tx, self._stores, path, principal.client_id) or 1

    def _fetch_latest_memory(
        self, tx: Tx, principal: Principal, target: AppendTarget
    ) -> tuple[int | None, list[Entry]]:
        if principal.client_id is None:
            return None, []
        path = self._targets.target_path(tx, target)
        latest = fetch_latest_epoch(tx, self._stores, path, principal.client_id)
        if latest is None:
            return None, []
        view = EntryView(history=False, memory_of=principal.client_id, epoch=latest)
        return latest, page_path(tx, self._stores, path, view, after_seq=0, limit=_NO_LIMIT)

    def _insert_entry(
        self, tx: Tx, principal: Principal, branch: Branch, draft: EntryDraft, epoch: int | None
    ) -> Entry:
        """Insert the entry at the next position of the tree.

        Entries are ordered by position, never by time. `created_at` still never decreases along
        the tree, although the clock may stand still or go back.
        """
        # `last_seq` was read under the tree's lock, so no other transaction can take the same
        # position. The unique index on (tree, seq) would catch a caller without the lock.
        #
        # Positions count per tree and not per conversation. This is what keeps the segments of a
        # visible path in order without a merge (see `visible_path`).
        seq = branch.last_seq + 1
        at = max(self._runtime.clock.now(), branch.last_at)
        entry = Entry(
            id=draft.reserved_id or EntryId(self._runtime.ids.new()),
            conversation_id=branch.id,
            tree_id=branch.tree_id,
            seq=seq,
            channel=draft.channel,
            content_type=draft.content_type,
            content=draft.content,
            created_at=at,
            user_id=draft.user_id,
            client_id=principal.client_id,
            epoch=epoch,
            indexed_content=draft.indexed_content,
            indexed_at=self._indexer.indexed_at(at) if draft.indexed_content else None,
            # An entry without text inherits the last text's position (see `Entry.text_seq`).
            text_seq=seq if draft.headline else branch.last_text_seq,
        )
        self._stores.conversations.record_append(tx, branch, entry, draft.headline)
        self._stores.entries.insert(tx, entry)
        self._confirm_author(tx, principal, branch, entry)
        return entry

    def _confirm_author(self, tx: Tx, principal: Principal, branch: Branch, entry: Entry) -> None:
        """Who writes takes part by their own will. Of others than the caller it is not known yet
        whether they are confirmed."""
        is_known = branch.confirmed and entry.user_id == principal.user_id
        if entry.user_id is not None and not is_known:
            self._stores.memberships.confirm(tx, branch.tree_id, entry.user_id, at=entry.created_at)

    def _text_to_index(self, given: str | None, text: str | None) -> str | None:
        if given is not None:
            return given
        return text[:INDEXED_CHARS_MAX] if text and self._index_raw_text else None


def _choose_channel(principal: Principal, new: WriteEntry) -> Channel:
    if new.channel is not None:
        return new.channel
    # Memory belongs to a client, so a caller without a key can only mean history. A client's
    # content type tells which one it means.
    if principal.client_id is None:
        return Channel.HISTORY
    if new.content_type is None:
        raise _missing_content_type()
    return Channel.HISTORY if history.is_history_type(new.content_type) else Channel.MEMORY


def _build_memory_draft(new: WriteEntry, reserved_id: str | None) -> EntryDraft:
    if new.content_type is None:
        raise _missing_content_type()
    if new.indexed_content is not None:
        raise InvalidInput("only history is indexed", field="indexedContent")
    if not isinstance(new.content, list):
        raise ValidationFailed.for_field("content", "must be a list")
    return EntryDraft(
        channel=Channel.MEMORY,
        content_type=new.content_type,
        items=new.content,
        content=strict_json.dump(new.content),
        user_id=new.user_id,
        headline=None,
        indexed_content=None,
        sent=new,
        reserved_id=EntryId(reserved_id) if reserved_id else None,
    )


def _check_user(principal: Principal, new: WriteEntry) -> None:
    if new.user_id is None or new.user_id == principal.user_id or principal.trusted:
        return
    raise InvalidInput("userId must be the caller", field="userId")


def _missing_content_type() -> ValidationFailed:
    return ValidationFailed.for_field("contentType", "is required")
