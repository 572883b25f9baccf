"""Interfaces of the stores of people and chats. Every read that searches for people takes a
Requester, so that no query can forget the visibility check."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.ids import (
    AgentId,
    ChatId,
    MemoryId,
    OrgId,
    PersonId,
    UserId,
)
from recollect.kernel.owner import Owner
from recollect.people.chat import Chat, Participant, ParticipantKind
from recollect.people.model import Alias, ClaimId, MergePlan, Person, Relationship


@dataclass(frozen=True, slots=True)
class ParticipantKeys:
    """All ids under which one participant may be stored in chats."""

    users: frozenset[UserId] = frozenset()
    people: frozenset[PersonId] = frozenset()
    agent: AgentId | None = None

    @classmethod
    def for_requester(cls, requester: Requester) -> "ParticipantKeys":
        """The keys of the caller."""
        person_id = requester.person_id
        people = frozenset({person_id}) if person_id is not None else frozenset[PersonId]()
        return cls(requester.user_ids, people, requester.agent_id)


@dataclass(frozen=True, slots=True)
class PersonMerge:
    """A merge that was not undone. `moved` is the store's own record of the rows it changed."""

    id: str
    primary_id: PersonId
    secondary_id: PersonId
    at: datetime
    by: Owner
    moved: Mapping[str, Any]

    @property
    def counts(self) -> dict[str, int]:
        """How many rows of each kind moved, visible to a caller or not."""
        return {
            kind: sum(len(self.moved.get(part, ())) for part in parts)
            for kind, parts in _COUNTED_PARTS.items()
        }


@dataclass(frozen=True, slots=True)
class MergeImpact:
    """What a merge moved, for one requester. `memories` has, for each kind of row that belongs to
    memories, the memory of each row, without a visibility check: the caller counts those that a
    viewer may see. `others` counts the other rows, only those that the requester may see."""

    memories: Mapping[str, Sequence[MemoryId]]
    others: Mapping[str, int]


_COUNTED_PARTS = {
    "subjects": ("subjects", "joint_subjects"),
    "statements": ("statements",),
    "participations": ("stays", "joint_stays"),
    "claims": (
        "aliases",
        "alias_claims",
        "relationships",
        "relationships_to",
        "relationship_claims",
    ),
    "users": ("users",),
    "edges": ("edges_from", "edges_to"),
}


@dataclass(frozen=True, slots=True)
class PossibleDuplicate:
    """Two people who may be the same, and why: equal `name`, `handle` or `alias`."""

    one: PersonId
    other: PersonId
    reason: str


class ChatStore(Protocol):
    """Chats and participations. Conversation trees and named chats are read alike, through the
    views `chats` and `presences`; only named chats are written here."""

    def fetch(self, tx: Tx, chat_id: ChatId) -> Chat | None:
        """The chat. The kind of a conversation tree follows from its current human members."""
        ...

    def is_tree(self, tx: Tx, chat_id: ChatId) -> bool:
        """Is it the id of a conversation tree? Deleted ones count."""
        ...

    def lock(self, tx: Tx, chat_id: ChatId) -> None:
        """Lock a named chat until the transaction ends."""
        ...

    def insert(self, tx: Tx, chat: Chat) -> bool:
        """Insert a named chat; False if the id is taken."""
        ...

    def update(self, tx: Tx, chat: Chat) -> None:
        """Store kind, title and provider of a named chat."""
        ...

    def page(
        self, tx: Tx, seat: ParticipantKeys, *, after: tuple[datetime, str] | None, limit: int
    ) -> list[Chat]:
        """Chats where the participant takes part now, the newest first."""
        ...

    def participants(
        self, tx: Tx, chat_id: ChatId, *, include_left: bool = False
    ) -> list[Participant]:
        """Participations ordered by `joined_at`, kind and id; current ones unless
        `include_left`."""
        ...

    def is_participant(self, tx: Tx, chat_id: ChatId, seat: ParticipantKeys) -> bool:
        """Does the participant take part now? False if there is no such chat."""
        ...

    def join(self, tx: Tx, chat_id: ChatId, newcomer: Participant) -> None:
        """Open a participation in a named chat. The newcomer must not have an open one."""
        ...

    def leave(
        self, tx: Tx, chat_id: ChatId, kind: ParticipantKind, *, member_id: str, at: datetime
    ) -> bool:
        """End the open participation; False if there is none."""
        ...

    def current_people(self, tx: Tx, chat_id: ChatId) -> frozenset[PersonId]:
        """Canonical ids of the people who take part now. Users without a person are left out."""
        ...

    def current_chats(
        self, tx: Tx, *, users: frozenset[UserId], people: frozenset[PersonId], agent: str | None
    ) -> frozenset[ChatId]:
        """Chats where any of these takes part now."""
        ...

    def creator_orgs(self, tx: Tx, chat_ids: Sequence[ChatId]) -> Mapping[ChatId, frozenset[OrgId]]:
        """The orgs of each chat's creator."""
        ...


class PersonStore(Protocol):
    """People. An id that is passed in may be that of a merged person; every person that is returned
    is canonical."""

    def insert(self, tx: Tx, person: Person) -> None:
        """Insert a person with their orgs, without links to users."""
        ...

    def fetch(self, tx: Tx, person_id: PersonId) -> Person | None:
        """The person, without a visibility check."""
        ...

    def fetch_many(self, tx: Tx, person_ids: Collection[PersonId]) -> dict[PersonId, Person]:
        """Those people that exist, by the ids that were passed in; no visibility check."""
        ...

    def lock(self, tx: Tx, person_ids: Collection[PersonId]) -> None:
        """Lock the rows, in the order of their ids, until the transaction ends."""
        ...

    def update(self, tx: Tx, person: Person) -> None:
        """Store name, time zone, metadata and `updated_at`."""
        ...

    def delete(self, tx: Tx, person_id: PersonId) -> None:
        """Delete a canonical person, with claims about and by them, their participations, the
        people merged into them, and all references from memories."""
        ...

    def is_in_memories(self, tx: Tx, person_id: PersonId, *, outside: Collection[UserId]) -> bool:
        """Is a memory about them or stated by them, outside the spaces of these users?"""
        ...

    def has_other_references(self, tx: Tx, requester: Requester, person_id: PersonId) -> bool:
        """Does anything that is not the requester's refer to the person: a memory outside the
        requester's spaces, a claim of somebody else, or a participation in a chat that the
        requester neither created nor takes part in?"""
        ...

    def people_by_user(self, tx: Tx, user_ids: Collection[UserId]) -> dict[UserId, PersonId]:
        """The person of each user who has one."""
        ...

    def filter_sharing_chat(
        self, tx: Tx, requester: Requester, person_ids: Collection[PersonId]
    ) -> frozenset[PersonId]:
        """Those of these canonical people who share a current chat with the caller."""
        ...

    def page(
        self, tx: Tx, requester: Requester, *, after: tuple[datetime, str] | None, limit: int
    ) -> list[Person]:
        """People whose name the caller may see, the newest first."""
        ...

    def search(
        self,
        tx: Tx,
        requester: Requester,
        form: str,
        *,
        after: tuple[int, datetime, str] | None,
        limit: int,
    ) -> list[tuple[int, Person]]:
        """Those of them whose name, or an alias that the caller may see, contains the normal form;
        each with a rank: 0 equal, 1 at the beginning of a word, 2 anywhere else."""
        ...

    def find_namesakes(
        self, tx: Tx, requester: Requester, form: str
    ) -> list[tuple[PersonId, Owner]]:
        """People with exactly this name, each with the creator of the name. The name of a person
        who was merged away still finds the canonical person."""
        ...


class ClaimStore(Protocol):
    """Aliases and relationships, one for each person, word and stater."""

    def put_alias(self, tx: Tx, alias: Alias) -> Alias:
        """Insert the alias, unless the stater has one of that normal form and kind; return the
        stored one."""
        ...

    def put_relationship(self, tx: Tx, relationship: Relationship) -> Relationship:
        """Insert the claim, unless the stater has one of that key between the two; return the
        stored one."""
        ...

    def aliases(self, tx: Tx, person_ids: Collection[PersonId]) -> list[Alias]:
        """All aliases of canonical people, oldest first."""
        ...

    def relationships(self, tx: Tx, person_ids: Collection[PersonId]) -> list[Relationship]:
        """All relationships of canonical people, oldest first."""
        ...

    def delete_aliases(self, tx: Tx, claim_ids: Collection[ClaimId]) -> None: ...

    def delete_relationship(self, tx: Tx, claim_id: ClaimId) -> None: ...

    def find_aliases(self, tx: Tx, requester: Requester, form: str) -> list[Alias]:
        """Aliases of exactly this normal form that count when the caller resolves a name: handles,
        the caller's own claims, what people claim of themselves, and what was claimed in a chat
        where the caller takes part now."""
        ...

    def find_relationships(self, tx: Tx, requester: Requester, key: str) -> list[Relationship]:
        """The caller's own claims, under this key, of what somebody is to the caller."""
        ...


class MergeStore(Protocol):
    """Merges of people, which can be undone."""

    def merge(
        self, tx: Tx, plan: MergePlan, *, merge_id: str, by: Owner, at: datetime
    ) -> PersonMerge:
        """Move all rows of the secondary to the primary, and store a record of them."""
        ...

    def load_impact(self, tx: Tx, requester: Requester, merge: PersonMerge) -> MergeImpact:
        """What the merge moved, as far as the requester may know."""
        ...

    def fetch_active(self, tx: Tx, secondary_id: PersonId) -> PersonMerge | None:
        """The merge by which this person was merged away, unless it was undone."""
        ...

    def undo(self, tx: Tx, merge: PersonMerge, *, at: datetime) -> None:
        """Move back to the secondary those rows that are still where the merge put them."""
        ...

    def find_duplicates(
        self, tx: Tx, requester: Requester, *, after: tuple[str, str] | None, limit: int
    ) -> list[PossibleDuplicate]:
        """Pairs with an equal name, handle or alias among the people whom the caller may change, by
        names and by aliases that the caller may see; ordered by the two ids."""
        ...
