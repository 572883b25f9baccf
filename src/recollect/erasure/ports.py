"""What an erasure needs from storage: find the target, delete, redact, count, verify."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from recollect.conversations.entries.entry import Entry
from recollect.db.transaction import Tx
from recollect.erasure.identifier_matcher import IdentifierMatcher
from recollect.erasure.model import ErasureCheck, ErasureStatus, ErasureTarget
from recollect.kernel.ids import PersonId, TreeId, UserId
from recollect.memories.model import StoredMemory


@dataclass(frozen=True, slots=True)
class Erasure:
    """One request. `report` has the fields of the report without digest and signature."""

    id: str
    status: ErasureStatus
    created_at: datetime
    finished_at: datetime | None
    target: ErasureTarget
    report: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RedactionPlan:
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

    target: ErasureTarget
    full: IdentifierMatcher
    rare: IdentifierMatcher
    sure: IdentifierMatcher
    namesakes: frozenset[str] = frozenset()
    namesake_users: frozenset[str] = frozenset()
    namesake_chats: frozenset[str] = frozenset()
    unique: tuple[str, ...] = field(default=())

    def for_unlinked_rows(self) -> "RedactionPlan":
        """The plan for rows that are not linked: unambiguous identifiers only."""
        return replace(self, full=self.sure, rare=self.sure)

    def matcher_for_chat(self, chat_id: str | None) -> IdentifierMatcher:
        """The matcher for rows of a chat or a tree."""
        return self.rare if chat_id in self.namesake_chats else self.full

    def matcher_for_person(self, person_id: str | None) -> IdentifierMatcher:
        """The matcher for the row of a person."""
        return self.rare if person_id in self.namesakes else self.full

    def matcher_for_user(self, user_id: str | None, chat_id: str | None) -> IdentifierMatcher:
        """The matcher for what a user wrote in a chat."""
        return self.rare if user_id in self.namesake_users else self.matcher_for_chat(chat_id)

    def matcher_for_memory(self, stored: StoredMemory) -> IdentifierMatcher:
        """The matcher for a memory, by its subjects, author, space and origin."""
        memory = stored.memory
        users = {stored.written_by.id, memory.space.id}
        people = {*memory.subjects, memory.stated_by}
        theirs = bool(people & self.namesakes) or bool(users & self.namesake_users)
        chats = {memory.space.id, memory.learned_in}
        return self.rare if theirs or chats & self.namesake_chats else self.full


@dataclass(frozen=True, slots=True)
class EntryWithIndexedText:
    """An entry, and its text in the full-text index (None: not indexed)."""

    entry: Entry
    indexed: str | None


class MemoryErasureStore(Protocol):
    """Memories and their versions. Calls handle at most `limit` rows: transactions stay short."""

    def hide_linked(self, tx: Tx, target: ErasureTarget, erasure_id: str) -> None:
        """Mark linked memories and people with the erasure: no read returns them any more."""
        ...

    def delete_memories(self, tx: Tx, cleaning: RedactionPlan, *, at: datetime, limit: int) -> int:
        """Delete some of the target's memories; returns how many."""
        ...

    def redact_statements(
        self, tx: Tx, cleaning: RedactionPlan, *, among: Sequence[str] | None, limit: int
    ) -> list[StoredMemory]:
        """Redact statements of the target about others and make them visible again.

        Only rows in `among`, or all (None). Returns the rows as they are now.
        """
        ...

    def redact_page(
        self, tx: Tx, cleaning: RedactionPlan, *, everywhere: bool, after_doc: int, limit: int
    ) -> tuple[list[StoredMemory], int | None]:
        """Redact a page of memories of shared chats, or (`everywhere`) of all that may contain an
        unambiguous identifier. Returns the changed rows and the next cursor, None at the end."""
        ...

    def redact_versions(
        self, tx: Tx, cleaning: RedactionPlan, *, after: str, limit: int
    ) -> str | None:
        """Redact a page of earlier versions; returns the next cursor, None at the end."""
        ...


class ConversationErasureStore(Protocol):
    """Trees of conversations with their entries."""

    def find_unlinked_trees(self, tx: Tx, cleaning: RedactionPlan) -> list[TreeId]:
        """Trees that contain an unambiguous identifier, linked to the target or not."""
        ...

    def fetch_entries(
        self, tx: Tx, tree_id: TreeId, *, after_seq: int, limit: int
    ) -> list[EntryWithIndexedText]:
        """A page of a tree's entries, ordered by `seq`."""
        ...

    def lock_tree(self, tx: Tx, tree_id: TreeId) -> None:
        """Lock the tree's row until the transaction ends."""
        ...

    def redact_entry(
        self, tx: Tx, found: EntryWithIndexedText, cleaning: RedactionPlan
    ) -> EntryWithIndexedText | None:
        """Replace the target's entry by a marker, redact others; None if nothing changed."""
        ...

    def redact_conversations(
        self, tx: Tx, cleaning: RedactionPlan, tree_id: TreeId, made_of: Collection[str | None]
    ) -> None:
        """Redact titles, previews and metadata. Titles and previews in `made_of` are replaced."""
        ...

    def remove_from_tree(self, tx: Tx, target: ErasureTarget, tree_id: TreeId) -> None:
        """Delete the target's memberships; if they owned the tree, another member becomes owner."""
        ...


class PeopleErasureStore(Protocol):
    """Chats, agents, runs, people and claims about them, entities, approvals, rollbacks."""

    def redact_rows(self, tx: Tx, cleaning: RedactionPlan) -> None:
        """Redact rows that stay, and replace the target as their author by the stand-in."""
        ...

    def delete_people(self, tx: Tx, target: ErasureTarget) -> None:
        """Delete the people, their names, relationships, participations and user links."""
        ...


class AuditErasureStore(Protocol):
    """Audit events, jobs, answers kept for idempotency."""

    def redact_records(self, tx: Tx, cleaning: RedactionPlan) -> None:
        """Redact events; delete jobs and kept answers that mention the target."""
        ...


class ErasureStore(Protocol):
    """Erasure requests; finds targets, counts and verifies."""

    @property
    def memories(self) -> MemoryErasureStore: ...

    @property
    def trees(self) -> ConversationErasureStore: ...

    @property
    def people(self) -> PeopleErasureStore: ...

    @property
    def audit(self) -> AuditErasureStore: ...

    def insert(self, tx: Tx, erasure: Erasure) -> None: ...

    def fetch(self, tx: Tx, erasure_id: str) -> Erasure | None: ...

    def update(self, tx: Tx, erasure: Erasure) -> None:
        """Store status, report and target."""
        ...

    def has_user(self, tx: Tx, user_id: UserId) -> bool:
        """Does the user have a person, a membership or an entry?"""
        ...

    def resolve_person(self, tx: Tx, person_id: PersonId) -> PersonId | None:
        """The id after merges; None if the person is unknown or being erased."""
        ...

    def find_target(
        self, tx: Tx, *, person_id: PersonId | None, user_ids: Sequence[UserId], stand_in: str
    ) -> ErasureTarget:
        """Everything linked to a canonical person and to these users."""
        ...

    def extend_target(self, tx: Tx, target: ErasureTarget) -> ErasureTarget:
        """The target with what has become linked to its users since."""
        ...

    def plan_redaction(self, tx: Tx, target: ErasureTarget) -> RedactionPlan:
        """Decide which identifiers to redact where. Reads the names of all people."""
        ...

    def count_linked(self, tx: Tx, target: ErasureTarget) -> tuple[dict[str, int], int]:
        """Linked rows by store, and how many memories are also about other people."""
        ...

    def block_handles(self, tx: Tx, hashes: Sequence[str], erasure_id: str) -> None:
        """Store hashes of handles that must not be learned again."""
        ...

    def is_blocked(self, tx: Tx, hashes: Sequence[str]) -> bool:
        """Is one of these hashes stored?"""
        ...

    def check_tables(self, tx: Tx, cleaning: RedactionPlan) -> list[ErasureCheck]:
        """Search every table and index for what should be gone; one check a store."""
        ...

    def count_custom_ids(self, tx: Tx, cleaning: RedactionPlan) -> Mapping[str, int]:
        """Ids chosen by callers that contain an identifier, in linked rows that stay, by kind."""
        ...

    def find_in_plain_text(self, tx: Tx, identifiers: Sequence[str]) -> list[str]:
        """Which of these occur in an unencrypted text column of any table."""
        ...

    @property
    def table_names(self) -> Sequence[str]: ...
