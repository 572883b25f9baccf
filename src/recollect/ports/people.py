"""What services ask of storage about people and chats. Reads that find people take a Requester:
there is no way to look for somebody without saying for whom."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from recollect.domain.agents import AgentId, Owner
from recollect.domain.chats import Chat, Participant, ParticipantKind
from recollect.domain.disclosure import PersonId
from recollect.domain.ids import UserId
from recollect.domain.memories import MemoryId
from recollect.domain.people import Alias, ClaimId, MergePlan, Person, Relationship
from recollect.domain.spaces import ChatId, OrgId
from recollect.policy.requesters import Requester
from recollect.ports.database import Tx


@dataclass(frozen=True, slots=True)
class Seat:
    """All names under which somebody may take part in chats."""

    users: frozenset[UserId] = frozenset()
    people: frozenset[PersonId] = frozenset()
    agent: AgentId | None = None

    @classmethod
    def of(cls, requester: Requester) -> "Seat":
        """The caller's."""
        person_id = requester.person_id
        people = frozenset({person_id}) if person_id is not None else frozenset[PersonId]()
        return cls(requester.user_ids, people, requester.agent_id)


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge that stands. `moved` is the store's own record of what it changed."""

    id: str
    primary_id: PersonId
    secondary_id: PersonId
    at: datetime
    by: Owner
    moved: Mapping[str, Any]

    @property
    def counts(self) -> dict[str, int]:
        """How many things of each kind moved, whoever may see them."""
        return {
            kind: sum(len(self.moved.get(part, ())) for part in parts)
            for kind, parts in _COUNTED.items()
        }


@dataclass(frozen=True, slots=True)
class MovedParts:
    """What a merge moved, for one who asks. Of things that hang on memories, `memories` has the
    memory of each, seen or not: that is for a sight to say. `others` counts what they may see."""

    memories: Mapping[str, Sequence[MemoryId]]
    others: Mapping[str, int]


_COUNTED = {
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
class Likeness:
    """Two people who may be one, and by what: `name`, `handle` or `alias`."""

    one: PersonId
    other: PersonId
    reason: str


class ChatStore(Protocol):
    """Trees and named chats alike: the views `chats` and `presences`."""

    def fetch(self, tx: Tx, chat_id: ChatId) -> Chat | None:
        """A chat; the kind of a tree follows from its human members now."""
        ...

    def is_tree(self, tx: Tx, chat_id: ChatId) -> bool:
        """Is it the id of a conversation tree, a deleted one too?"""
        ...

    def lock(self, tx: Tx, chat_id: ChatId) -> None:
        """Hold a named chat until the transaction ends."""
        ...

    def insert(self, tx: Tx, chat: Chat) -> bool:
        """A named chat; False if the id is taken by another one."""
        ...

    def update(self, tx: Tx, chat: Chat) -> None:
        """Kind, title and provider of a named chat."""
        ...

    def page(
        self, tx: Tx, seat: Seat, *, after: tuple[datetime, str] | None, limit: int
    ) -> list[Chat]:
        """Where somebody takes part now, the newest first."""
        ...

    def participants(
        self, tx: Tx, chat_id: ChatId, *, include_left: bool = False
    ) -> list[Participant]:
        """Who takes part, by `joined_at`, kind and id."""
        ...

    def takes_part(self, tx: Tx, chat_id: ChatId, seat: Seat) -> bool:
        """Does somebody take part now? False where there is no such chat."""
        ...

    def join(self, tx: Tx, chat_id: ChatId, newcomer: Participant) -> None:
        """Open a stay in a named chat; the newcomer has no open one."""
        ...

    def leave(
        self, tx: Tx, chat_id: ChatId, kind: ParticipantKind, *, member_id: str, at: datetime
    ) -> bool:
        """End the open stay; False if there is none."""
        ...

    def people_in(self, tx: Tx, chat_id: ChatId) -> frozenset[PersonId]:
        """Canonical ids of those who take part now; users without a person have none."""
        ...

    def chats_of(
        self, tx: Tx, *, users: frozenset[UserId], people: frozenset[PersonId], agent: str | None
    ) -> frozenset[ChatId]:
        """Where any of these takes part now."""
        ...

    def creator_orgs(self, tx: Tx, chat_ids: Sequence[ChatId]) -> Mapping[ChatId, frozenset[OrgId]]:
        """The orgs of each chat's creator."""
        ...


class PersonStore(Protocol):
    """People. Every id that is given may be a merged one, every person that comes is canonical."""

    def insert(self, tx: Tx, person: Person) -> None:
        """With their orgs and without links to users."""
        ...

    def fetch(self, tx: Tx, person_id: PersonId) -> Person | None:
        """Whoever asks: for deciding what to show."""
        ...

    def fetch_many(self, tx: Tx, person_ids: Collection[PersonId]) -> dict[PersonId, Person]:
        """Those that exist, by the ids that were given."""
        ...

    def lock(self, tx: Tx, person_ids: Collection[PersonId]) -> None:
        """Hold their rows until the transaction ends."""
        ...

    def update(self, tx: Tx, person: Person) -> None:
        """Name, time zone and metadata."""
        ...

    def delete(self, tx: Tx, person_id: PersonId) -> None:
        """A canonical person with all claims on and by them, their stays in chats, the ids merged
        into them, and their part in memories."""
        ...

    def is_in_memories(self, tx: Tx, person_id: PersonId, *, outside: Collection[UserId]) -> bool:
        """Is a memory about them or stated by them, outside the spaces of these users?"""
        ...

    def others_refer(self, tx: Tx, requester: Requester, person_id: PersonId) -> bool:
        """Does anything that is not the requester's: a memory outside their space, a claim of
        somebody else, or a stay in a chat that they neither made nor take part in now?"""
        ...

    def people_of(self, tx: Tx, user_ids: Collection[UserId]) -> dict[UserId, PersonId]:
        """The people of those users who have one."""
        ...

    def meet(
        self, tx: Tx, requester: Requester, person_ids: Collection[PersonId]
    ) -> frozenset[PersonId]:
        """Which of these canonical people now take part in a chat where the caller does."""
        ...

    def page(
        self, tx: Tx, requester: Requester, *, after: tuple[datetime, str] | None, limit: int
    ) -> list[Person]:
        """Everybody whose name the caller may see, the newest first."""
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
        """Of these, those with the normal form in their name, or in a claim that the caller may
        see, each with its rank: 0 it is equal, 1 it begins a word, 2 the rest."""
        ...

    def namesakes(self, tx: Tx, requester: Requester, form: str) -> list[tuple[PersonId, Owner]]:
        """Of these, those of exactly this name, with who gave it. A name stays with a person that
        was merged away, and leads on."""
        ...


class ClaimStore(Protocol):
    """Aliases and relationships, one for each person, term and stater."""

    def put_alias(self, tx: Tx, alias: Alias) -> Alias:
        """The stater's alias of that spelling and kind: the stored one, else this."""
        ...

    def put_relationship(self, tx: Tx, relationship: Relationship) -> Relationship:
        """The stater's claim of that word between the two: the stored one, else this."""
        ...

    def aliases(self, tx: Tx, person_ids: Collection[PersonId]) -> list[Alias]:
        """All aliases of canonical people, oldest first."""
        ...

    def relationships(self, tx: Tx, person_ids: Collection[PersonId]) -> list[Relationship]:
        """All that was claimed of canonical people, oldest first."""
        ...

    def delete_aliases(self, tx: Tx, claim_ids: Collection[ClaimId]) -> None:
        """Take aliases back."""
        ...

    def delete_relationship(self, tx: Tx, claim_id: ClaimId) -> None:
        """Take a relationship back."""
        ...

    def spelled(self, tx: Tx, requester: Requester, form: str) -> list[Alias]:
        """Aliases of exactly this normal form that may lead the caller to somebody: handles, the
        caller's own claims, what people say of themselves, and what was said in a chat where the
        caller takes part now."""
        ...

    def related(self, tx: Tx, requester: Requester, key: str) -> list[Relationship]:
        """The caller's own claims under this key of what somebody is to the caller."""
        ...


class MergeStore(Protocol):
    """Two people become one, and two again."""

    def merge(self, tx: Tx, plan: MergePlan, *, merge_id: str, by: Owner, at: datetime) -> Merge:
        """Move everything of the secondary to the primary and keep a record of it."""
        ...

    def parts(self, tx: Tx, requester: Requester, merge: Merge) -> MovedParts:
        """What the record of a merge names."""
        ...

    def standing(self, tx: Tx, secondary_id: PersonId) -> Merge | None:
        """The merge that took this person away, unless it was undone."""
        ...

    def undo(self, tx: Tx, merge: Merge, *, at: datetime) -> None:
        """Give back to the secondary what is still where the merge put it."""
        ...

    def likenesses(
        self, tx: Tx, requester: Requester, *, after: tuple[str, str] | None, limit: int
    ) -> list[Likeness]:
        """Pairs that share a name, a handle or an alias, among those whom the caller may change;
        by the caller's own claims alone."""
        ...
