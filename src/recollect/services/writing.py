"""How an entry gets into a conversation: drafts, places and positions.

A draft is the request after every check that needs no stored data. A place is the conversation it
goes to, which may not exist yet. Both run inside one transaction under the tree's lock.
"""

from dataclasses import dataclass, replace
from typing import Any

from recollect.domain import epochs, history, jsontext
from recollect.domain.conversations import Branch, Headline, headline
from recollect.domain.entries import INDEXED_CHARS_MAX, Channel, Entry
from recollect.domain.ids import ConversationId, EntryId, UserId
from recollect.domain.jsontext import JsonText
from recollect.domain.search import IndexedWords, index_words
from recollect.errors import InvalidInput, ValidationFailed
from recollect.policy.actions import Action
from recollect.policy.principals import Principal
from recollect.ports.database import Tx
from recollect.ports.runtime import Runtime
from recollect.ports.stores import EntryView, Stores
from recollect.services.indexing import Indexer
from recollect.services.paths import latest_epoch, page_path
from recollect.services.places import Place, Places

_ALL = 2**31


@dataclass(frozen=True, slots=True)
class NewEntry:
    """An append or sync as it was sent; None is what was not sent."""

    content: Any
    content_type: str | None = None
    channel: Channel | None = None
    user_id: UserId | None = None
    indexed_content: str | None = None
    forked_at_conversation_id: ConversationId | None = None
    forked_at_entry_id: EntryId | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """What is to be stored. `items` is the parsed content, `content` its JSON text."""

    channel: Channel
    content_type: str
    items: list[Any]
    content: JsonText
    user_id: UserId | None
    headline: Headline | None
    indexed_content: str | None
    sent: NewEntry

    def find_words(self) -> IndexedWords | None:
        """The words of the indexed text, if there is one. Takes long on a long text."""
        if self.indexed_content is None:
            return None
        found = index_words(self.indexed_content)
        return found.said_by(assistant=history.is_assistant(self.items))

    @property
    def action(self) -> Action:
        """What policy is asked for an append of this draft."""
        return Action.WRITE_MEMORY if self.channel is Channel.MEMORY else Action.APPEND


@dataclass(frozen=True, slots=True)
class SyncOutcome:
    """What a sync did."""

    epoch: int | None
    no_op: bool
    epoch_incremented: bool
    entry: Entry | None


class Writing:
    """Append and sync."""

    def __init__(
        self, stores: Stores, runtime: Runtime, indexer: Indexer, *, index_raw_text: bool
    ) -> None:
        self._stores = stores
        self._runtime = runtime
        self._indexer = indexer
        self._index_raw_text = index_raw_text
        self._places = Places(stores, runtime)

    def draft(self, principal: Principal, new: NewEntry) -> Draft:
        """Everything about an append that can be said without looking at stored data."""
        _check_user(principal, new)
        channel = _channel(principal, new)
        if channel is Channel.MEMORY:
            return _memory_draft(new)
        keyless = principal.client_id is None and new.channel is None
        if not keyless and new.content_type is None:
            raise _missing_type()
        rules = history.tolerant if keyless else history.strict
        kept = rules(new.content, new.content_type)
        return Draft(
            channel=channel,
            content_type=kept.content_type,
            items=kept.content,
            content=jsontext.dump(kept.content),
            user_id=new.user_id or principal.user_id,
            headline=headline(kept.text) if kept.text else None,
            indexed_content=self._indexed(new.indexed_content, kept.text),
            sent=new,
        )

    def sync_draft(self, principal: Principal, new: NewEntry) -> Draft:
        """The same for a sync, which is of memory always."""
        _check_user(principal, new)
        if new.channel is Channel.HISTORY:
            raise InvalidInput("a sync goes to channel `memory`", field="channel")
        return _memory_draft(new)

    def append(
        self,
        tx: Tx,
        principal: Principal,
        conversation_id: ConversationId,
        draft: Draft,
        found: IndexedWords | None,
    ) -> Entry:
        """Find or make the conversation, then put the entry at its end; `found` are the words of
        its indexed text."""
        place = self._open(tx, principal, draft.action, conversation_id, draft)
        self._check_member(tx, principal, place.branch, draft)
        epoch = self._append_epoch(tx, principal, place, draft)
        self._places.settle(tx, place)
        entry = self._put(tx, principal, place.branch, draft, epoch)
        if found is not None:
            self._indexer.add(tx, entry, found)
        return entry

    def sync(
        self, tx: Tx, principal: Principal, conversation_id: ConversationId, draft: Draft
    ) -> SyncOutcome:
        """Compare with the latest epoch on the visible path and store the difference."""
        place = self._open(tx, principal, Action.SYNC, conversation_id, draft)
        self._check_member(tx, principal, place.branch, draft)
        latest, existing = self._latest_memory(tx, principal, place)
        stored = [(e.content_type, jsontext.load(e.content)) for e in existing]
        plan = epochs.plan_sync(latest, stored, draft.content_type, draft.items)
        if plan.store is not None or existing:
            self._places.settle(tx, place)
        if plan.store is None:
            return SyncOutcome(plan.epoch, plan.no_op, plan.epoch_incremented, None)
        delta = replace(draft, items=plan.store, content=jsontext.dump(plan.store))
        entry = self._put(tx, principal, place.branch, delta, plan.epoch)
        return SyncOutcome(plan.epoch, plan.no_op, plan.epoch_incremented, entry)

    def _open(
        self,
        tx: Tx,
        principal: Principal,
        action: Action,
        conversation_id: ConversationId,
        draft: Draft,
    ) -> Place:
        return self._places.find(
            tx,
            principal,
            action,
            conversation_id,
            parent_id=draft.sent.forked_at_conversation_id,
            entry_id=draft.sent.forked_at_entry_id,
            title=draft.headline.title if draft.headline else None,
        )

    def _check_member(self, tx: Tx, principal: Principal, branch: Branch, draft: Draft) -> None:
        """A trusted client may name any member of the tree, and nobody else."""
        user_id = draft.sent.user_id
        if user_id is None or user_id == principal.user_id:
            return
        if self._stores.memberships.fetch(tx, branch.tree_id, user_id) is None:
            raise InvalidInput("userId must name a member of the conversation", field="userId")

    def _append_epoch(self, tx: Tx, principal: Principal, place: Place, draft: Draft) -> int | None:
        if draft.channel is Channel.HISTORY or principal.client_id is None:
            return None
        path = self._places.path(tx, place)
        return latest_epoch(tx, self._stores, path, principal.client_id) or 1

    def _latest_memory(
        self, tx: Tx, principal: Principal, place: Place
    ) -> tuple[int | None, list[Entry]]:
        if principal.client_id is None:
            return None, []
        path = self._places.path(tx, place)
        latest = latest_epoch(tx, self._stores, path, principal.client_id)
        if latest is None:
            return None, []
        view = EntryView(history=False, memory_of=principal.client_id, epoch=latest)
        return latest, page_path(tx, self._stores, path, view, after_seq=0, limit=_ALL)

    def _put(
        self, tx: Tx, principal: Principal, branch: Branch, draft: Draft, epoch: int | None
    ) -> Entry:
        """Order is position; the clock may stand still or go back, `created_at` does not."""
        seq = branch.last_seq + 1
        at = max(self._runtime.clock.now(), branch.last_at)
        entry = Entry(
            id=EntryId(self._runtime.ids.new()),
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
            indexed_at=self._indexer.held_at(at) if draft.indexed_content else None,
            text_seq=seq if draft.headline else branch.last_text_seq,
        )
        self._stores.conversations.record_append(tx, branch, entry, draft.headline)
        self._stores.entries.insert(tx, entry)
        return entry

    def _indexed(self, given: str | None, text: str | None) -> str | None:
        if given is not None:
            return given
        return text[:INDEXED_CHARS_MAX] if text and self._index_raw_text else None


def _channel(principal: Principal, new: NewEntry) -> Channel:
    if new.channel is not None:
        return new.channel
    if principal.client_id is None:
        return Channel.HISTORY
    if new.content_type is None:
        raise _missing_type()
    return Channel.HISTORY if history.is_history_type(new.content_type) else Channel.MEMORY


def _memory_draft(new: NewEntry) -> Draft:
    if new.content_type is None:
        raise _missing_type()
    if new.indexed_content is not None:
        raise InvalidInput("only history is indexed", field="indexedContent")
    if not isinstance(new.content, list):
        raise ValidationFailed.of("content", "must be a list")
    return Draft(
        channel=Channel.MEMORY,
        content_type=new.content_type,
        items=new.content,
        content=jsontext.dump(new.content),
        user_id=new.user_id,
        headline=None,
        indexed_content=None,
        sent=new,
    )


def _check_user(principal: Principal, new: NewEntry) -> None:
    if new.user_id is None or new.user_id == principal.user_id or principal.trusted:
        return
    raise InvalidInput("userId must be the caller", field="userId")


def _missing_type() -> ValidationFailed:
    return ValidationFailed.of("contentType", "is required")
