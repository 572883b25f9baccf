"""What an erasure asks of storage: whom it is about, what goes, what is cleaned, what is left."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from recollect.domain.disclosure import PersonId
from recollect.domain.entries import Entry
from recollect.domain.erasure import Check, ErasureStatus, Target
from recollect.domain.ids import TreeId, UserId
from recollect.domain.traces import Traces
from recollect.ports.database import Tx
from recollect.ports.memories import Stored


@dataclass(frozen=True, slots=True)
class Erasure:
    """One request. `report` are the members of its report but for digest and signature."""

    id: str
    status: ErasureStatus
    created_at: datetime
    finished_at: datetime | None
    target: Target
    report: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cleaning:
    """What is replaced, and where less of it is: a name that others have too stays in their rows.

    `full` are all traces, `rare` those that nobody else has, `sure` those that go everywhere. The
    rest says which rows are theirs.
    """

    target: Target
    full: Traces
    rare: Traces
    sure: Traces
    namesakes: frozenset[str] = frozenset()
    namesake_users: frozenset[str] = frozenset()
    namesake_chats: frozenset[str] = frozenset()
    unique: tuple[str, ...] = field(default=())

    def elsewhere(self) -> "Cleaning":
        """What is replaced everywhere, linked or not."""
        return replace(self, full=self.sure, rare=self.sure)

    def of_chat(self, chat_id: str | None) -> Traces:
        """What is replaced in a chat or a tree."""
        return self.rare if chat_id in self.namesake_chats else self.full

    def of_person(self, person_id: str | None) -> Traces:
        """What is replaced in what is told of a person."""
        return self.rare if person_id in self.namesakes else self.full

    def of_user(self, user_id: str | None, chat_id: str | None) -> Traces:
        """What is replaced in something that a user wrote."""
        return self.rare if user_id in self.namesake_users else self.of_chat(chat_id)

    def of_memory(self, stored: Stored) -> Traces:
        """What is replaced in a memory."""
        memory = stored.memory
        users = {stored.written_by.id, memory.space.id}
        people = {*memory.subjects, memory.stated_by}
        theirs = bool(people & self.namesakes) or bool(users & self.namesake_users)
        chats = {memory.space.id, memory.learned_in}
        return self.rare if theirs or chats & self.namesake_chats else self.full


@dataclass(frozen=True, slots=True)
class TextOfEntry:
    """An entry with the text that is indexed of it."""

    entry: Entry
    indexed: str | None


class ErasedMemoryStore(Protocol):
    """Memories and their versions. Each call does a part, so that nobody waits for long."""

    def hide(self, tx: Tx, target: Target, erasure_id: str) -> None:
        """Take all that is linked by id, people among it, out of every read."""
        ...

    def remove_memories(self, tx: Tx, cleaning: Cleaning, *, at: datetime, limit: int) -> int:
        """Remove some of the memories that go; how many."""
        ...

    def clean_statements(
        self, tx: Tx, cleaning: Cleaning, *, among: Sequence[str] | None, limit: int
    ) -> list[Stored]:
        """Clean some of what they said of others, of some or of all rows; as it is now."""
        ...

    def clean_places(
        self, tx: Tx, cleaning: Cleaning, *, everywhere: bool, after_doc: int, limit: int
    ) -> tuple[list[Stored], int | None]:
        """Clean a page of what belongs to chats that stay, or of all that may hold what goes
        everywhere: what changed, and where to go on."""
        ...

    def clean_versions(self, tx: Tx, cleaning: Cleaning, *, after: str, limit: int) -> str | None:
        """Clean a page of earlier versions; where to go on."""
        ...


class ErasedTreeStore(Protocol):
    """Conversations."""

    def dirty_elsewhere(self, tx: Tx, cleaning: Cleaning) -> list[TreeId]:
        """Trees that hold what goes everywhere, also where they took no part."""
        ...

    def entries(self, tx: Tx, tree_id: TreeId, *, after_seq: int, limit: int) -> list[TextOfEntry]:
        """A page of a tree's entries, by position."""
        ...

    def lock(self, tx: Tx, tree_id: TreeId) -> None:
        """Hold a tree until the transaction ends."""
        ...

    def clean_entry(self, tx: Tx, found: TextOfEntry, cleaning: Cleaning) -> TextOfEntry | None:
        """Make it a marker if it is theirs, else replace traces; None if nothing changed."""
        ...

    def clean_conversations(
        self, tx: Tx, cleaning: Cleaning, tree_id: TreeId, made_of: Collection[str | None]
    ) -> None:
        """Titles, previews and metadata; those made of a text that goes, go."""
        ...

    def leave_tree(self, tx: Tx, target: Target, tree_id: TreeId) -> None:
        """Hand a tree on, and drop its members among the target's users."""
        ...


class ErasedRestStore(Protocol):
    """Chats, agents, claims, people."""

    def clean_rest(self, tx: Tx, cleaning: Cleaning) -> None:
        """What stays, without them."""
        ...

    def drop_people(self, tx: Tx, target: Target) -> None:
        """The people themselves, all that names them, and their users."""
        ...


class ErasedRecordStore(Protocol):
    """Events, jobs, kept answers."""

    def clean_records(self, tx: Tx, cleaning: Cleaning) -> None:
        """Events get the stand-in; jobs and answers that tell of them go."""
        ...


class ErasureStore(Protocol):
    """Erasures, and all that they touch."""

    @property
    def memories(self) -> ErasedMemoryStore:
        """Memories."""
        ...

    @property
    def trees(self) -> ErasedTreeStore:
        """Conversations."""
        ...

    @property
    def rest(self) -> ErasedRestStore:
        """All else."""
        ...

    @property
    def records(self) -> ErasedRecordStore:
        """What the server writes down."""
        ...

    def insert(self, tx: Tx, erasure: Erasure) -> None:
        """A new request."""
        ...

    def fetch(self, tx: Tx, erasure_id: str) -> Erasure | None:
        """A request."""
        ...

    def update(self, tx: Tx, erasure: Erasure) -> None:
        """Its state, report and target."""
        ...

    def knows_user(self, tx: Tx, user_id: UserId) -> bool:
        """Is there anything of a user?"""
        ...

    def canonical(self, tx: Tx, person_id: PersonId) -> PersonId | None:
        """The person that an id leads to, unless they are being erased."""
        ...

    def target_of(
        self, tx: Tx, *, person_id: PersonId | None, user_ids: Sequence[UserId], stand_in: str
    ) -> Target:
        """All that is linked to a canonical person and these users."""
        ...

    def grown(self, tx: Tx, target: Target) -> Target:
        """With what has been linked to the target's users since."""
        ...

    def cleaning(self, tx: Tx, target: Target) -> Cleaning:
        """What is to be replaced where. Looks at all people."""
        ...

    def counts(self, tx: Tx, target: Target) -> tuple[dict[str, int], int]:
        """How many rows of each store are linked to the target, and how many facts are joint."""
        ...

    def block(self, tx: Tx, hashes: Sequence[str], erasure_id: str) -> None:
        """Keep hashes of handles that must not be learned again."""
        ...

    def is_blocked(self, tx: Tx, hashes: Sequence[str]) -> bool:
        """Is one of these kept?"""
        ...

    def probe(self, tx: Tx, cleaning: Cleaning) -> list[Check]:
        """Search every table and index for what should be gone."""
        ...

    def chosen_ids(self, tx: Tx, cleaning: Cleaning) -> Mapping[str, int]:
        """How many ids that callers chose hold an identifier, in linked rows that stay, by kind."""
        ...

    def spread(self, tx: Tx, identifiers: Sequence[str]) -> list[str]:
        """Which of these are part of any plain text that is stored."""
        ...

    @property
    def tables(self) -> Sequence[str]:
        """The names of all tables."""
        ...


class Storage(Protocol):
    """What lies under the tables."""

    async def scrub(self, tables: Sequence[str]) -> None:
        """Leave nothing behind of what was removed from these tables; with none named, of what was
        removed since the last time. May take minutes."""
        ...

    async def count_bytes(self, needles: Sequence[bytes]) -> Sequence[int] | None:
        """How often each is in the files of the database, whatever its case; None if the files are
        not ours to read."""
        ...
