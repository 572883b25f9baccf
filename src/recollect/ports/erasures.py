"""What an erasure needs from storage: find the target, delete, redact, count, verify."""

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
    """One request. `report` has the fields of the report without digest and signature."""

    id: str
    status: ErasureStatus
    created_at: datetime
    finished_at: datetime | None
    target: Target
    report: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cleaning:
    """Which identifiers are redacted in which rows.

    Erasing Ann Smith must not redact another Ann. Each row is therefore redacted by one of three
    matchers:

    - `full`: all identifiers, in rows linked to the target in which no namesake is involved;
    - `rare`: those that no other person's name contains, in linked rows of a namesake (the row is
      about them, written by them, or in a chat they are in);
    - `sure`: e-mail addresses and person ids, which belong to one person only, in all other rows.

    `namesakes`, `namesake_users` and `namesake_chats` say where `rare` takes the place of `full`.
    `unique` are the identifiers that nobody shares and that are long enough for a search of the
    database file's bytes.
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
        """The plan for rows that are not linked: unambiguous identifiers only."""
        return replace(self, full=self.sure, rare=self.sure)

    def of_chat(self, chat_id: str | None) -> Traces:
        """The matcher for rows of a chat or a tree."""
        return self.rare if chat_id in self.namesake_chats else self.full

    def of_person(self, person_id: str | None) -> Traces:
        """The matcher for the row of a person."""
        return self.rare if person_id in self.namesakes else self.full

    def of_user(self, user_id: str | None, chat_id: str | None) -> Traces:
        """The matcher for what a user wrote in a chat."""
        return self.rare if user_id in self.namesake_users else self.of_chat(chat_id)

    def of_memory(self, stored: Stored) -> Traces:
        """The matcher for a memory, by its subjects, author, space and origin."""
        memory = stored.memory
        users = {stored.written_by.id, memory.space.id}
        people = {*memory.subjects, memory.stated_by}
        theirs = bool(people & self.namesakes) or bool(users & self.namesake_users)
        chats = {memory.space.id, memory.learned_in}
        return self.rare if theirs or chats & self.namesake_chats else self.full


@dataclass(frozen=True, slots=True)
class TextOfEntry:
    """An entry, and its text in the full-text index (None: not indexed)."""

    entry: Entry
    indexed: str | None


class ErasedMemoryStore(Protocol):
    """Memories and their versions. Calls handle at most `limit` rows: transactions stay short."""

    def hide(self, tx: Tx, target: Target, erasure_id: str) -> None:
        """Mark linked memories and people with the erasure: no read returns them any more."""
        ...

    def remove_memories(self, tx: Tx, cleaning: Cleaning, *, at: datetime, limit: int) -> int:
        """Delete some of the target's memories; returns how many."""
        ...

    def clean_statements(
        self, tx: Tx, cleaning: Cleaning, *, among: Sequence[str] | None, limit: int
    ) -> list[Stored]:
        """Redact statements of the target about others and make them visible again.

        Only rows in `among`, or all (None). Returns the rows as they are now.
        """
        ...

    def clean_places(
        self, tx: Tx, cleaning: Cleaning, *, everywhere: bool, after_doc: int, limit: int
    ) -> tuple[list[Stored], int | None]:
        """Redact a page of memories of shared chats, or (`everywhere`) of all that may contain an
        unambiguous identifier. Returns the changed rows and the next cursor, None at the end."""
        ...

    def clean_versions(self, tx: Tx, cleaning: Cleaning, *, after: str, limit: int) -> str | None:
        """Redact a page of earlier versions; returns the next cursor, None at the end."""
        ...


class ErasedTreeStore(Protocol):
    """Trees of conversations with their entries."""

    def dirty_elsewhere(self, tx: Tx, cleaning: Cleaning) -> list[TreeId]:
        """Trees that contain an unambiguous identifier, linked to the target or not."""
        ...

    def entries(self, tx: Tx, tree_id: TreeId, *, after_seq: int, limit: int) -> list[TextOfEntry]:
        """A page of a tree's entries, ordered by `seq`."""
        ...

    def lock(self, tx: Tx, tree_id: TreeId) -> None:
        """Lock the tree's row until the transaction ends."""
        ...

    def clean_entry(self, tx: Tx, found: TextOfEntry, cleaning: Cleaning) -> TextOfEntry | None:
        """Replace the target's entry by a marker, redact others; None if nothing changed."""
        ...

    def clean_conversations(
        self, tx: Tx, cleaning: Cleaning, tree_id: TreeId, made_of: Collection[str | None]
    ) -> None:
        """Redact titles, previews and metadata. Titles and previews in `made_of` are replaced."""
        ...

    def leave_tree(self, tx: Tx, target: Target, tree_id: TreeId) -> None:
        """Delete the target's memberships; if they owned the tree, another member becomes owner."""
        ...


class ErasedRestStore(Protocol):
    """Chats, agents, runs, people and claims about them, entities, approvals, rollbacks."""

    def clean_rest(self, tx: Tx, cleaning: Cleaning) -> None:
        """Redact rows that stay, and replace the target as their author by the stand-in."""
        ...

    def drop_people(self, tx: Tx, target: Target) -> None:
        """Delete the people, their names, relationships, participations and user links."""
        ...


class ErasedRecordStore(Protocol):
    """Audit events, jobs, answers kept for idempotency."""

    def clean_records(self, tx: Tx, cleaning: Cleaning) -> None:
        """Redact events; delete jobs and kept answers that mention the target."""
        ...


class ErasureStore(Protocol):
    """Erasure requests; finds targets, counts and verifies."""

    @property
    def memories(self) -> ErasedMemoryStore: ...

    @property
    def trees(self) -> ErasedTreeStore: ...

    @property
    def rest(self) -> ErasedRestStore: ...

    @property
    def records(self) -> ErasedRecordStore: ...

    def insert(self, tx: Tx, erasure: Erasure) -> None: ...

    def fetch(self, tx: Tx, erasure_id: str) -> Erasure | None: ...

    def update(self, tx: Tx, erasure: Erasure) -> None:
        """Store status, report and target."""
        ...

    def knows_user(self, tx: Tx, user_id: UserId) -> bool:
        """Does the user have a person, a membership or an entry?"""
        ...

    def canonical(self, tx: Tx, person_id: PersonId) -> PersonId | None:
        """The id after merges; None if the person is unknown or being erased."""
        ...

    def target_of(
        self, tx: Tx, *, person_id: PersonId | None, user_ids: Sequence[UserId], stand_in: str
    ) -> Target:
        """Everything linked to a canonical person and to these users."""
        ...

    def grown(self, tx: Tx, target: Target) -> Target:
        """The target with what has become linked to its users since."""
        ...

    def cleaning(self, tx: Tx, target: Target) -> Cleaning:
        """Decide which identifiers to redact where. Reads the names of all people."""
        ...

    def counts(self, tx: Tx, target: Target) -> tuple[dict[str, int], int]:
        """Linked rows by store, and how many memories are also about other people."""
        ...

    def block(self, tx: Tx, hashes: Sequence[str], erasure_id: str) -> None:
        """Store hashes of handles that must not be learned again."""
        ...

    def is_blocked(self, tx: Tx, hashes: Sequence[str]) -> bool:
        """Is one of these hashes stored?"""
        ...

    def probe(self, tx: Tx, cleaning: Cleaning) -> list[Check]:
        """Search every table and index for what should be gone; one check a store."""
        ...

    def chosen_ids(self, tx: Tx, cleaning: Cleaning) -> Mapping[str, int]:
        """Ids chosen by callers that contain an identifier, in linked rows that stay, by kind."""
        ...

    def spread(self, tx: Tx, identifiers: Sequence[str]) -> list[str]:
        """Which of these occur in an unencrypted text column of any table."""
        ...

    @property
    def tables(self) -> Sequence[str]: ...


class Storage(Protocol):
    """The physical storage below the tables."""

    async def scrub(self, tables: Sequence[str]) -> None:
        """Remove the remains of deleted rows from the storage of these tables: free pages, dead
        rows, index words. With no table only the log of recent changes. May take minutes."""
        ...

    async def count_bytes(self, needles: Sequence[bytes]) -> Sequence[int] | None:
        """How often each occurs in the database files, ignoring ASCII case; None if the files
        belong to a database server."""
        ...
