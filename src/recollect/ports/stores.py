"""What services ask of storage. Every method runs inside a transaction; none commits.

A listing takes a Scope: there is no way to ask for rows without saying for whom.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.domain.conversations import (
    Branch,
    Conversation,
    Headline,
    ListMode,
    SeenConversation,
)
from recollect.domain.entries import Channel, Entry
from recollect.domain.events import Event, EventFilter
from recollect.domain.forks import Ancestor, Segment
from recollect.domain.ids import (
    ClientId,
    ConversationId,
    EntryId,
    TransferId,
    TreeId,
    UserId,
)
from recollect.domain.jobs import Job, NewJob, QueueState
from recollect.domain.memberships import Membership
from recollect.domain.transfers import Transfer, TransferRole
from recollect.policy.scope import Scope
from recollect.ports.agents import AgentStore, UserStore
from recollect.ports.approvals import ApprovalStore
from recollect.ports.comparing import ComparingStore
from recollect.ports.database import Tx
from recollect.ports.doctor import DoctorStore
from recollect.ports.erasures import ErasureStore
from recollect.ports.events import EventReads
from recollect.ports.graph import GraphStore
from recollect.ports.housekeeping import MemoryBulkStore
from recollect.ports.idempotency import IdempotencyStore
from recollect.ports.keeping import KeepingStore
from recollect.ports.memories import MemoryStore
from recollect.ports.memory_search import MemorySearchStore
from recollect.ports.people import ChatStore, ClaimStore, MergeStore, PersonStore
from recollect.ports.portable import PortableStore
from recollect.ports.recordings import LocationStore
from recollect.ports.runs import RunStore
from recollect.ports.search import SearchStore


@dataclass(frozen=True, slots=True)
class ConversationFilter:
    """What a list of conversations shows besides its scope. `deleted` None means both kinds."""

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
    def empty(self) -> bool:
        """Nothing can be in it."""
        return not (self.history or self.all_clients or self.memory_of is not None)

    def shows(self, entry: Entry) -> bool:
        """Is the entry of the right channel and client, in whatever epoch?"""
        if entry.channel is Channel.HISTORY:
            return self.history
        return self.all_clients or (
            self.memory_of is not None and entry.client_id == self.memory_of
        )


@dataclass(frozen=True, slots=True)
class ForkPoint:
    """An entry as a fork needs it: where it stands, and where the last text before it stands."""

    entry_id: EntryId
    seq: int
    text_seq: int | None


@dataclass(frozen=True, slots=True)
class RotationStep:
    """How far a rotation came: the last id it looked at, None at the end, and what it could not
    open."""

    last_id: str | None
    unreadable: int


class ConversationStore(Protocol):
    """Trees and their branches."""

    def lock(self, tx: Tx, conversation_id: ConversationId) -> None:
        """Hold the tree of this conversation until the transaction ends."""
        ...

    def locate(self, tx: Tx, conversation_id: ConversationId, user_id: UserId) -> Branch | None:
        """Where the conversation stands, and this user's level in its tree."""
        ...

    def insert_tree(self, tx: Tx, tree_id: TreeId, at: datetime) -> bool:
        """False if the id is taken, by a named chat too."""
        ...

    def insert(self, tx: Tx, conversation: Conversation) -> bool:
        """False if the id is taken."""
        ...

    def fetch(self, tx: Tx, conversation_id: ConversationId) -> Conversation | None:
        """The whole conversation, deleted or not."""
        ...

    def among(
        self, tx: Tx, scope: Scope, conversation_ids: Sequence[ConversationId]
    ) -> set[ConversationId]:
        """Those of some conversations that the scope holds."""
        ...

    def chain(self, tx: Tx, conversation_id: ConversationId) -> list[Ancestor]:
        """The conversation itself, its parent, and so on up to the root or to a blank fork."""
        ...

    def page(
        self,
        tx: Tx,
        scope: Scope,
        chosen: ConversationFilter,
        *,
        after: tuple[datetime, str] | None,
        limit: int | None,
    ) -> list[SeenConversation]:
        """By `updated_at` and id, newest first. Without a caller the level shown is owner."""
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
        """Lock and return due trees in order of id, passing over those that others hold."""
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
        """In the transaction of what it tells of."""
        ...

    def insert_once(self, tx: Tx, event: Event) -> None:
        """The same for an event that others may write at this moment too, under the same id."""
        ...

    def fetch(self, tx: Tx, event_id: str) -> Event | None:
        """One event."""
        ...

    def page(self, tx: Tx, chosen: EventFilter, *, after: Event | None, limit: int) -> list[Event]:
        """Newest first."""
        ...

    def add_count(self, tx: Tx, event_id: str, count: int) -> None:
        """Count on an event that tells of work in several transactions, in each of them."""
        ...

    def delete_before(self, tx: Tx, cutoff: datetime, *, limit: int) -> int:
        """Remove a batch of events that are past their retention; how many went."""
        ...


class JobStore(Protocol):
    """The durable queue."""

    def insert(self, tx: Tx, job: NewJob) -> None:
        """Queue it, in the transaction that caused it. A name that is queued already is kept."""
        ...

    def insert_held(self, tx: Tx, job: NewJob) -> None:
        """The same, and until the transaction ends nobody takes the name from the job that has it:
        for work that is not under a lock of its own."""
        ...

    def claim(
        self, tx: Tx, *, types: Sequence[str], claim_id: str, lease_seconds: int, limit: int
    ) -> list[Job]:
        """Take due jobs; nobody else gets them before the lease is over."""
        ...

    def renew(self, tx: Tx, job_id: str, *, claim_id: str, lease_seconds: int) -> bool:
        """Push the lease on. False if the job is not ours any more."""
        ...

    def finish(self, tx: Tx, job_id: str, *, claim_id: str) -> None:
        """Remove a job that is done, if it is still ours."""
        ...

    def fail(
        self, tx: Tx, job_id: str, *, claim_id: str, error: str, retry_at: datetime, stuck: bool
    ) -> None:
        """Note the error and when to try again, or that nobody will."""
        ...

    def detach(self, tx: Tx, job_id: str) -> None:
        """Take the job's name, so that the next cause queues a job of its own."""
        ...

    def rename(self, tx: Tx, job_id: str, *, type_: str, name: str) -> bool:
        """Give the job another type and name; False, and nothing changed, if a job has the name."""
        ...

    def release(self, tx: Tx, job_id: str, *, claim_id: str, retry_at: datetime) -> None:
        """Give an untried job back; the claim does not count as an attempt."""
        ...

    def revive_stuck(self, tx: Tx) -> int:
        """Give every stuck job new attempts; how many there were."""
        ...

    def state(self, tx: Tx, *, types: Sequence[str] | None = None) -> QueueState:
        """How much waits and what is stuck, of all jobs or of some types."""
        ...


class MaintenanceStore(Protocol):
    """Batch work on stored values: rotation of keys, clean-up, checks."""

    def rotate(self, tx: Tx, column: str, *, after: str | None, limit: int) -> RotationStep:
        """Seal anew what the current key did not seal, in the next `limit` rows by id.

        `column` is one of `encrypted_columns`. What can't be opened stays as it is and is counted.
        """
        ...

    def encrypted_columns(self) -> Sequence[str]:
        """Every column that may hold sealed values, as `table.column`."""
        ...

    def delete_vectors(self, tx: Tx, tree_id: TreeId) -> None:
        """Remove the vectors of a tree that was evicted."""
        ...

    def fetch_state(self, tx: Tx, name: str) -> str | None:
        """A word that the servers of this database share."""
        ...

    def put_state(self, tx: Tx, name: str, value: str) -> None:
        """Set it."""
        ...

    def count_by_key(self, tx: Tx) -> Mapping[str, Mapping[str, int]]:
        """Per encrypted column, how many values each key sealed; `plain` are those without."""
        ...

    def count_orphans(self, tx: Tx) -> Mapping[str, int]:
        """Per check, how many rows break it."""
        ...


@dataclass(frozen=True, slots=True)
class Stores:
    """All of them, as the services get them."""

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
    keeping: KeepingStore
    doctor: DoctorStore
    comparing: ComparingStore
    portable: PortableStore
    runs: RunStore
    approvals: ApprovalStore
    erasures: ErasureStore
    locations: LocationStore
