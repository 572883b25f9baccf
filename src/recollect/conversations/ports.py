"""Store protocols of conversations, events, jobs and maintenance, and the bundle of all stores.

Every method runs inside the given transaction; none commits. A listing takes a Scope, so nobody
can ask for rows without saying whose they may be.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.agents.ports import AgentStore, UserStore
from recollect.agents.run_ports import RunStore
from recollect.audit.model import Event, EventFilter
from recollect.audit.ports import EventReads
from recollect.conversations.entries.entry import Channel, Entry
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
from recollect.db.key_rotation import RotationStep
from recollect.db.transaction import Tx
from recollect.doctor.ports import DoctorStore
from recollect.erasure.ports import ErasureStore
from recollect.graph.ports import GraphStore
from recollect.idempotency.ports import IdempotencyStore
from recollect.identity.scope import TreeScope
from recollect.jobs.model import Job, NewJob, QueueState
from recollect.kernel.ids import (
    ClientId,
    ConversationId,
    EntryId,
    TransferId,
    TreeId,
    UserId,
)
from recollect.memories.bulk_ports import MemoryBulkStore
from recollect.memories.ports import MemoryStore
from recollect.memories.reconcile.ports import SimilarityStore
from recollect.people.ports import ChatStore, ClaimStore, MergeStore, PersonStore
from recollect.portability.ports import PortableStore
from recollect.recordings.ports import LocationStore
from recollect.retention.approval_ports import ApprovalStore
from recollect.retention.moderation_ports import ModerationStore
from recollect.search.memories.ports import MemorySearchStore
from recollect.search.ports import SearchStore


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
        """False if the id is taken, also if a named chat has it."""
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
        chosen: ConversationFilter,
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

    def record_append(self, tx: Tx, branch: Branch, entry: Entry, shown: Headline | None) -> None:
        """Move the tree's position, and on history the branch's time; a text also sets the
        preview, and the title where that is pending."""
        ...

    def update_title(self, tx: Tx, conversation_id: ConversationId, title: str | None) -> None:
        """Set or clear it; the first history entry will not set it any more."""
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
        self, tx: Tx, segment: Segment, view: EntryView, *, after_seq: int, limit: int
    ) -> list[Entry]:
        """Entries of one segment of a path by position. Reads no other client's memory."""
        ...

    def page_tree(
        self, tx: Tx, tree_id: TreeId, view: EntryView, *, after_seq: int, limit: int
    ) -> list[Entry]:
        """Entries of all branches by position."""
        ...

    def fetch_last_epoch(self, tx: Tx, segment: Segment, client_id: ClientId) -> int | None:
        """The epoch of this client's newest memory entry in the segment."""
        ...

    def fetch_before(
        self, tx: Tx, conversation_id: ConversationId, before_seq: int
    ) -> ForkPoint | None:
        """The newest entry of any channel below a position."""
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

    def insert(self, tx: Tx, membership: Membership) -> None:
        """Begin a membership and a participation."""
        ...

    def update_level(self, tx: Tx, membership: Membership) -> None:
        """Set the level of an existing membership."""
        ...

    def delete(self, tx: Tx, tree_id: TreeId, user_id: UserId, *, at: datetime) -> None:
        """End a membership and its participation."""
        ...


class TransferStore(Protocol):
    """Pending transfers."""

    def insert(self, tx: Tx, transfer: Transfer) -> bool:
        """False if the tree has one already."""
        ...

    def fetch(self, tx: Tx, transfer_id: TransferId) -> Transfer | None:
        """One transfer with the root's title."""
        ...

    def fetch_for_tree(self, tx: Tx, tree_id: TreeId) -> Transfer | None:
        """The tree's pending transfer."""
        ...

    def page(
        self,
        tx: Tx,
        user_id: UserId,
        role: TransferRole,
        *,
        after: tuple[datetime, str] | None,
        limit: int | None,
    ) -> list[Transfer]:
        """Transfers that the user takes part in, newest first."""
        ...

    def delete(self, tx: Tx, transfer_id: TransferId) -> None:
        """Remove it, if it is there."""
        ...


class EventStore(Protocol):
    """The audit log."""

    def insert(self, tx: Tx, event: Event) -> None:
        """Insert it in the transaction of the change that it records."""
        ...

    def insert_once(self, tx: Tx, event: Event) -> None:
        """Insert it unless its id exists: others may write the same event at this moment."""
        ...

    def fetch(self, tx: Tx, event_id: str) -> Event | None:
        """One event."""
        ...

    def page(self, tx: Tx, chosen: EventFilter, *, after: Event | None, limit: int) -> list[Event]:
        """Newest first."""
        ...

    def add_count(self, tx: Tx, event_id: str, count: int) -> None:
        """Add to the count of an event that records work done in several transactions."""
        ...

    def delete_before(self, tx: Tx, cutoff: datetime, *, limit: int) -> int:
        """Delete up to `limit` events older than `cutoff`; returns how many."""
        ...


class JobStore(Protocol):
    """The durable job queue."""

    def insert(self, tx: Tx, job: NewJob) -> None:
        """Queue the job in the transaction that caused it, unless its name is queued already."""
        ...

    def insert_and_lock(self, tx: Tx, job: NewJob) -> None:
        """Like `insert`, and lock the job that has the name until the transaction ends.

        So a worker can't clear the name in between and miss this cause: for work that is not
        protected by a lock of its own.
        """
        ...

    def claim(
        self, tx: Tx, *, types: Sequence[str], claim_id: str, lease_seconds: int, limit: int
    ) -> list[Job]:
        """Take due jobs; no other worker gets them before the lease ends."""
        ...

    def renew(self, tx: Tx, job_id: str, *, claim_id: str, lease_seconds: int) -> bool:
        """Extend the lease. False if another worker has the job now."""
        ...

    def finish(self, tx: Tx, job_id: str, *, claim_id: str) -> None:
        """Delete a job that is done, if this claim still holds it."""
        ...

    def fail(
        self, tx: Tx, job_id: str, *, claim_id: str, error: str, retry_at: datetime, stuck: bool
    ) -> None:
        """Store the error and when to try again; a `stuck` job is not tried again."""
        ...

    def clear_name(self, tx: Tx, job_id: str) -> None:
        """Clear the job's name, so that the next cause queues a new job."""
        ...

    def rename(self, tx: Tx, job_id: str, *, type_: str, name: str) -> bool:
        """Set the job's type and name. False, with nothing changed, if another job has the name."""
        ...

    def release(self, tx: Tx, job_id: str, *, claim_id: str, retry_at: datetime) -> None:
        """Return an untried job to the queue; the claim does not count as an attempt."""
        ...

    def revive_stuck(self, tx: Tx) -> int:
        """Make every stuck job due with new attempts; returns how many there were."""
        ...

    def fetch_queue_state(self, tx: Tx, *, types: Sequence[str] | None = None) -> QueueState:
        """How many jobs wait and are stuck, of all types or of some."""
        ...


class MaintenanceStore(Protocol):
    """Key rotation, clean-up of vectors, shared state and consistency checks."""

    def rotate(self, tx: Tx, column: str, *, after: str | None, limit: int) -> RotationStep:
        """Encrypt values of the next `limit` rows by id with the current key where they are not.

        `column` is one of `encrypted_columns`. A value that can't be decrypted stays as it is and
        is counted.
        """
        ...

    def encrypted_columns(self) -> Sequence[str]:
        """Every column that may hold encrypted values, as `table.column`."""
        ...

    def delete_vectors(self, tx: Tx, tree_id: TreeId) -> None:
        """Remove the vectors of a tree that was evicted."""
        ...

    def fetch_state(self, tx: Tx, name: str) -> str | None:
        """A named value that all servers of this database share."""
        ...

    def put_state(self, tx: Tx, name: str, value: str) -> None:
        """Insert or update a shared value."""
        ...

    def count_by_key(self, tx: Tx) -> Mapping[str, Mapping[str, int]]:
        """For each encrypted column, the number of values by key id; `plain` counts the rest."""
        ...

    def count_orphans(self, tx: Tx) -> Mapping[str, int]:
        """For each consistency check, how many rows break it."""
        ...


@dataclass(frozen=True, slots=True)
class Stores:
    """All stores, as the services get them."""

    conversations: ConversationStore
    entries: EntryStore
    memberships: MembershipStore
    transfers: TransferStore
    events: EventStore
    event_reads: EventReads
    idempotency: IdempotencyStore
    jobs: JobStore
    maintenance: MaintenanceStore
    users: UserStore
    agents: AgentStore
    people: PersonStore
    claims: ClaimStore
    merges: MergeStore
    chats: ChatStore
    memories: MemoryStore
    graph: GraphStore
    search: SearchStore
    memory_search: MemorySearchStore
    memory_bulk: MemoryBulkStore
    keeping: ModerationStore
    doctor: DoctorStore
    comparing: SimilarityStore
    portable: PortableStore
    runs: RunStore
    approvals: ApprovalStore
    erasures: ErasureStore
    locations: LocationStore
