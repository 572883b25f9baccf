"""What an erasure needs from storage: find the target, delete, redact, count, verify."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from recollect.conversations.entries.entry import Entry
from recollect.erasure.identifier_matcher import IdentifierMatcher
from recollect.erasure.model import ErasureStatus, ErasureTarget
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
      both also redact the parts of the target's names that nobody else bears;
    - `sure`: e-mail addresses and person ids, which belong to one person only, in all other rows.

    `ids` finds all of these in ids that callers chose, where a part of a name has no capital.
    `namesakes`, `namesake_users` and `namesake_chats` say where `rare` takes the place of `full`.
    `unique` are the identifiers that nobody shares and that are long enough for a search of the
    database file's bytes.
    """

    target: ErasureTarget
    full: IdentifierMatcher
    rare: IdentifierMatcher
    sure: IdentifierMatcher
    ids: IdentifierMatcher
    namesakes: frozenset[str] = frozenset()
    namesake_users: frozenset[str] = frozenset()
    namesake_chats: frozenset[str] = frozenset()
    unique: tuple[str, ...] = field(default=())
    name_parts_left: int = 0
    """Parts of the names that are redacted nowhere: too common, too short, or borne by others."""

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

    def matcher_for_entry(self, entry: Entry) -> IdentifierMatcher:
        """The matcher for an entry that stays."""
        return self.matcher_for_user(entry.user_id, entry.tree_id)

    def filter_matching_ids(self, ids: Iterable[str]) -> list[str]:
        """The ids that contain an identifier of the target."""
        return [id_ for id_ in ids if self.ids.has_match(id_)]

    def matcher_for_memory(self, stored: StoredMemory) -> IdentifierMatcher:
        """The matcher for a memory, by its subjects, author, space and origin."""
        memory = stored.memory
        users = {stored.written_by.id, memory.space.id}
        people = {*memory.subjects, memory.stated_by}
        of_namesake = bool(people & self.namesakes) or bool(users & self.namesake_users)
        chats = {memory.space.id, memory.learned_in}
        return self.rare if of_namesake or chats & self.namesake_chats else self.full


@dataclass(frozen=True, slots=True)
class EntryWithIndexedText:
    """An entry, and its text in the full-text index (None: not indexed)."""

    entry: Entry
    indexed: str | None
