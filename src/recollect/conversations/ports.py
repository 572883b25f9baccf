"""Store protocols of conversations, events, jobs and maintenance, and the bundle of all stores.

Every method runs inside the given transaction; none commits. A listing takes a Scope, so nobody
can ask for rows without saying whose they may be.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from recollect.api_keys.store import IssuedKeyStores
from recollect.conversations.entries.entry import Channel, Entry, EntryOrder
from recollect.conversations.forks.rules import Ancestor, Segment
from recollect.conversations.model import (
    Branch,
    Conversation,
    ConversationWithLevel,
    Headline,
    ListMode,
)
from recollect.conversations.sharing.membership import Membership
from recollect.conversations.sharing.transfer import Transfer, TransferRole
from recollect.db.transaction import Tx
from recollect.identity.scope import TreeScope
from recollect.kernel.ids import (
    ClientId,
    ConversationId,
    EntryId,
    TransferId,
    TreeId,
    UserId,
)


@dataclass(frozen=True, slots=True)
class ConversationFilter:
    """Filters of a list of conversations. `deleted` None means deleted and live ones."""

    mode: ListMode = ListMode.LATEST_FORK
    owner_user_id: str | None = None
    deleted: bool | None = False
    deleted_from: datetime | None = None
    deleted_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class EntryView:
    """Which entries of a path a caller may see: `history`, and the memory of one client or of all.

    `epoch` None shows every epoch. `all_clients` is for administrators only.
    """

    history: bool = True
    memory_of: ClientId | None = None
    all_clients: bool = False
    epoch: int | None = None

    @property
    def is_empty(self) -> bool:
        """Does the view exclude every entry?"""
        return not (self.history or self.all_clients or self.memory_of is not None)

    def has_channel_of(self, entry: Entry) -> bool:
        """Does the view include the entry's channel and client? The epoch is not checked."""
        if entry.channel is Channel.HISTORY:
            return self.history
        return self.all_clients or (
            self.memory_of is not None and entry.client_id == self.memory_of
        )


@dataclass(frozen=True, slots=True)
class ForkPoint:
    """The entry a fork starts from: its position, and that of the last text up to it."""

    entry_id: EntryId
    seq: int
    text_seq: int | None


class ConversationStore(Protocol):
    """Conversation trees and their branches."""

    def lock(self, tx: Tx, conversation_id: ConversationId) -> None:
        """Lock the tree of this conversation until the transaction ends."""
        ...

    def locate(self, tx: Tx, conversation_id: ConversationId, user_id: UserId) -> Branch | None:
        """The conversation's branch and tree, and this user's access level in the tree."""
        ...

    def insert_tree(self, tx: Tx, tree_id: TreeId, at: datetime) -> bool:
        """False if the id is taken, also if another chat has it (see `is_other_chat`)."""
        ...

    def is_other_chat(self, tx: Tx, conversation_id: ConversationId) -> bool:
        """Is this the id of a chat that an outside system named, or of one whose memories were
        imported without it?"""
        ...

    def insert(self, tx: Tx, conversation: Conversation) -> bool:
        """False if the id is taken."""
        ...

    def fetch(self, tx: Tx, conversation_id: ConversationId) -> Conversation | None:
        """The whole conversation, deleted or not."""
        ...

    def filter_ids(
        self, tx: Tx, scope: TreeScope, conversation_ids: Sequence[ConversationId]
    ) -> set[ConversationId]:
        """Those of the given conversations that are in the scope."""
        ...

    def fetch_chain(self, tx: Tx, conversation_id: ConversationId) -> list[Ancestor]:
        """The conversation itself, its parent, and so on up to the root or to a blank fork."""
        ...

    def page(
        self,
        tx: Tx,
        scope: TreeScope,
        filters: ConversationFilter,
        *,
        after: tuple[datetime, str] | None,
        limit: int | None,
    ) -> list[ConversationWithLevel]:
        """By `updated_at` and id, newest first. For a scope without a user the level is owner."""
        ...

    def page_forks(
        self, tx: Tx, tree_id: TreeId, *, after: Conversation | None, limit: int | None
    ) -> list[Conversation]:
        """The root, then forks by fork point, newest first within one point."""
        ...

    def record_append(
        self, tx: Tx, branch: Branch, entry: Entry, headline: Headline | None
    ) -> None:
        """Move the tree's position, and on history the branch's time; a text also sets the
        preview, and the title where that is pending."""
        ...

    def update_title(self, tx: Tx, conversation_id: ConversationId, title: str | None) -> None:
        """Set or clear it; the first history entry will not set it any more."""
        ...

    def update_derived_title(
        self, tx: Tx, conversation_id: ConversationId, title: str | None
    ) -> None:
        """Set a title that comes from an entry; without one the next text sets it."""
        ...

    def update_preview(
        self, tx: Tx, conversation_id: ConversationId, preview: str | None, text_seq: int | None
    ) -> None:
        """Set the preview, and the position of the text that it comes from."""
        ...

    def update_metadata(
        self, tx: Tx, conversation_id: ConversationId, metadata: dict[str, Any]
    ) -> None:
        """Replace all of it."""
        ...

    def update_owner(self, tx: Tx, tree_id: TreeId, owner: UserId) -> None:
        """On every conversation of the tree."""
        ...

    def update_deleted(self, tx: Tx, tree_id: TreeId, at: datetime | None) -> None:
        """On the tree and all its conversations."""
        ...

    def count_deleted_before(self, tx: Tx, cutoff: datetime) -> int:
        """How many soft-deleted trees are due for eviction."""
        ...

    def claim_deleted_before(
        self, tx: Tx, cutoff: datetime, *, after: TreeId | None, limit: int
    ) -> list[TreeId]:
        """Lock and return due trees in order of id, skipping those that others have locked."""
        ...

    def delete_trees(self, tx: Tx, tree_ids: Sequence[TreeId]) -> None:
        """Remove trees with entries, vectors, memberships and transfers. Events stay."""
        ...


class EntryStore(Protocol):
    """Entries of the two channels."""

    def insert(self, tx: Tx, entry: Entry) -> None:
        """Positions are unique in a tree; the caller holds its lock."""
        ...

    def fetch(self, tx: Tx, entry_id: EntryId) -> Entry | None:
        """One entry, whatever its channel."""
        ...

    def fetch_at(self, tx: Tx, tree_id: TreeId, seq: int) -> Entry | None:
        """The entry at a position."""
        ...

    def page_segment(
        self,
        tx: Tx,
        segment: Segment,
        view: EntryView,
        *,
        after_seq: int,
        limit: int,
        order: EntryOrder = EntryOrder.ASC,
    ) -> list[Entry]:
        """Entries of one segment of a path, behind a position in that order. Reads no other
        client's memory."""
        ...

    def page_tree(
        self,
        tx: Tx,
        tree_id: TreeId,
        view: EntryView,
        *,
        after_seq: int,
        limit: int,
        order: EntryOrder = EntryOrder.ASC,
    ) -> list[Entry]:
        """Entries of all branches, behind a position in that order."""
        ...

    def fetch_last_epoch(self, tx: Tx, segment: Segment, client_id: ClientId) -> int | None:
        """The epoch of this client's newest memory entry in the segment."""
        ...

    def fetch_before(
        self, tx: Tx, conversation_id: ConversationId, before_seq: int
    ) -> ForkPoint | None:
        """The newest entry of any channel below a position."""
        ...

    def fetch_first_text(self, tx: Tx, conversation_id: ConversationId) -> Entry | None:
        """The first history entry with text that is stored in this conversation."""
        ...

    def mark_removed(self, tx: Tx, marker: Entry) -> None:
        """Replace an entry by its marker: other content, no indexed text."""
        ...

    def move_text_seq(self, tx: Tx, removed: Entry, to: int | None) -> None:
        """Point the entries that had the removed one as their last text to an earlier one."""
        ...


class MembershipStore(Protocol):
    """Who belongs to a tree, now and in the past."""

    def fetch(self, tx: Tx, tree_id: TreeId, user_id: UserId) -> Membership | None:
        """One user's membership."""
        ...

    def page(
        self, tx: Tx, tree_id: TreeId, *, after: tuple[datetime, str] | None, limit: int | None
    ) -> list[Membership]:
        """By `created_at` and user."""
        ...

    def insert(self, tx: Tx, membership: Membership, *, confirmed: bool) -> None:
        """Begin a membership and a participation. Who is not confirmed is only invited."""
        ...

    def confirm(self, tx: Tx, tree_id: TreeId, user_id: UserId, *, at: datetime) -> None:
        """Confirm the participation of a member, if it is not confirmed yet."""
        ...

    def update_level(self, tx: Tx, membership: Membership) -> None:
        """Set the level of an existing membership."""
        ...

    def delete(self, tx: Tx, tree_id: TreeId, user_id: UserId, *, at: datetime) -> None:
        """End a membership and its participation."""
        ...


class TransferStore(Protocol):
    """Transfers that were offered, also those that have lapsed and are not removed yet."""

    def insert(self, tx: Tx, transfer: Transfer) -> bool:
        """False if the tree has one already."""
        ...

    def fetch(self, tx: Tx, transfer_id: TransferId) -> Transfer | None:
        """One transfer with the root's title."""
        ...

    def fetch_for_tree(self, tx: Tx, tree_id: TreeId) -> Transfer | None:
        """The tree's transfer; it has one at most."""
        ...

    def page(
        self,
        tx: Tx,
        user_id: UserId,
        role: TransferRole,
        *,
        made_after: datetime,
        after: tuple[datetime, str] | None,
        limit: int | None,
    ) -> list[Transfer]:
        """Transfers that the user takes part in and that were made later, newest first."""
        ...

    def delete(self, tx: Tx, transfer_id: TransferId) -> None:
        """Remove it, if it is there."""
        ...

    def delete_before(self, tx: Tx, cutoff: datetime) -> None:
        """Remove those that were made at this instant or earlier."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationStores(IssuedKeyStores):
    """The stores of this package and of those below."""

    conversations: ConversationStore
    entries: EntryStore
    memberships: MembershipStore
    transfers: TransferStore
