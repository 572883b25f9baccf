"""Small worlds of agents, people, chats, runs and memories. They say what is so in plain Python;
nothing here asks a database."""

from dataclasses import dataclass, field
from datetime import UTC, datetime

from recollect.kernel.owner import AGENT_PREFIX, Owner, OwnerKind
from recollect.kernel.space import SpaceKind
from recollect.memories.model import (
    MemoryOrigin,
    MemoryStatus,
    MemoryType,
    Sensitivity,
)
from recollect.people.chat import ChatKind

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Participation:
    """Somebody in a chat: kind `user`, `person` or `agent`."""

    kind: str
    id: str
    joined_at: datetime
    left_at: datetime | None
    confirmed: bool = True

    def holds(self, at: datetime) -> bool:
        """Half open."""
        return self.joined_at <= at and (self.left_at is None or at < self.left_at)


@dataclass(frozen=True)
class ChatFact:
    """A named chat or a tree. `kind` matters to named ones alone. Only trees are `deleted` and have
    `forks`, ids of further conversations."""

    id: str
    tree: bool
    deleted: bool
    kind: ChatKind
    creator: Owner
    participations: tuple[Participation, ...]
    forks: tuple[str, ...] = ()
    provider: str | None = None


@dataclass(frozen=True)
class HandleFact:
    """A user states that a person has a handle. A `shadow` is a person of that user's own making,
    who stands in the way of whom the handle means for others."""

    person: str
    value: str
    provider: str | None
    by: str
    verified: bool = False
    shadow: bool = False


@dataclass(frozen=True)
class RunFact:
    """A run of an agent."""

    id: str
    agent_id: str
    parent: str | None


@dataclass(frozen=True)
class VersionFact:
    """What the record said from `at` until `until`."""

    at: datetime
    until: datetime | None
    status: MemoryStatus
    valid_from: datetime | None
    valid_until: datetime | None


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A memory with all that decides who sees it."""

    id: str
    space_kind: SpaceKind
    space_id: str
    agent_id: str | None
    sensitivity: Sensitivity
    portable: bool
    origin: MemoryOrigin
    learned_in: str | None
    observed_at: datetime
    stated_by: str | None
    subjects: tuple[str, ...]
    bare_names: bool
    status: MemoryStatus
    expires_at: datetime | None
    compacted: bool
    erased: bool
    created_at: datetime
    retracted_at: datetime | None
    valid_from: datetime | None
    valid_until: datetime | None
    versions: tuple[VersionFact, ...]
    type: MemoryType
    key: str | None
    run_id: str | None
    tags: tuple[str, ...]


@dataclass
class GeneratedWorld:
    """Everything that is so. `people` maps users to their person; `loners` have no user."""

    seed: int
    user_orgs: dict[str, frozenset[str]] = field(default_factory=dict)
    people: dict[str, str] = field(default_factory=dict)
    loners: tuple[str, ...] = ()
    loner_orgs: frozenset[str] = frozenset()
    agents: dict[str, tuple[Owner, str]] = field(default_factory=dict)
    chats: dict[str, ChatFact] = field(default_factory=dict)
    runs: dict[str, RunFact] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)
    handles: list[HandleFact] = field(default_factory=list)

    @property
    def all_people(self) -> tuple[str, ...]:
        """Canonical ids."""
        return (*sorted(set(self.people.values())), *self.loners)

    def users_of(self, person: str) -> frozenset[str]:
        """Users of one person."""
        return frozenset(user for user, of in self.people.items() if of == person)

    def orgs_of(self, person: str) -> frozenset[str]:
        """Those of all users, or of who has none."""
        users = self.users_of(person)
        if not users:
            return self.loner_orgs
        return frozenset(org for user in users for org in self.user_orgs[user])

    def ancestors(self, run_id: str) -> list[str]:
        """Parent, grandparent and so on."""
        above = []
        parent = self.runs[run_id].parent
        while parent is not None:
            above.append(parent)
            parent = self.runs[parent].parent
        return above

    def lineage(self, run_id: str) -> frozenset[str]:
        """Agents of the runs above and below."""
        below = [other for other in self.runs if run_id in self.ancestors(other)]
        return frozenset(self.runs[other].agent_id for other in (*self.ancestors(run_id), *below))

    def people_at(self, chat_id: str | None, at: datetime) -> frozenset[str]:
        """Who was there, as people."""
        if chat_id not in self.chats:
            return frozenset()
        participations = [
            participation
            for participation in self.chats[chat_id].participations
            if participation.holds(at)
        ]
        return frozenset(self.person_of(one) for one in participations) - {""}

    def confirmed_in(self, chat_id: str) -> frozenset[str]:
        """The people whose presence in the chat counts now."""
        stays = [s for s in self.chats[chat_id].participations if s.confirmed]
        return frozenset(self.person_of(s) for s in stays if s.left_at is None) - {""}

    def kind_of(self, chat_id: str) -> ChatKind:
        """That of a tree follows from its members."""
        chat = self.chats[chat_id]
        if not chat.tree:
            return chat.kind
        return ChatKind.PRIVATE if len(self.humans_in(chat_id)) == 1 else ChatKind.GROUP

    def humans_in(self, chat_id: str) -> frozenset[str]:
        """All people in the chat now, also those who were only invited."""
        stays = self.chats[chat_id].participations
        return frozenset(self.person_of(s) for s in stays if s.left_at is None) - {""}

    def person_of(self, participation: Participation) -> str:
        """The person; empty for an agent."""
        if participation.kind == "agent":
            return ""
        return self.people.get(participation.id, participation.id)

    def owners_in(self, chat_id: str) -> frozenset[Owner]:
        """Who takes part now, with every user of a person. Who has none asks under an empty id."""
        if self.chats[chat_id].deleted:
            return frozenset()
        participations = [
            participation
            for participation in self.chats[chat_id].participations
            if participation.left_at is None
        ]
        agents = {
            Owner.agent(participation.id)
            for participation in participations
            if participation.kind == "agent"
        }
        here = self.people_at(chat_id, NOW)
        users = {user for person in here for user in self.users_of(person) or {""}}
        return frozenset(agents | {Owner.user(user) for user in users})

    def chats_of(self, person: str | None, agent: str | None) -> frozenset[str]:
        """Where one of them takes part now."""
        return frozenset(
            chat_id
            for chat_id, chat in self.chats.items()
            if not chat.deleted
            and (
                person in self.people_at(chat_id, NOW)
                or (agent is not None and Owner.agent(agent) in self.owners_in(chat_id))
            )
        )

    def creator_orgs(self, chat_id: str) -> frozenset[str]:
        """Orgs of the one who made the chat."""
        creator = self.chats[chat_id].creator
        if self.chats[chat_id].deleted:
            return frozenset()
        if creator.kind is OwnerKind.USER:
            return self.user_orgs[creator.id]
        return frozenset({self.agents[creator.id][1]})


def spelled(owner: Owner) -> str:
    """The id of somebody in a tree, where an agent is a user with a mark."""
    return AGENT_PREFIX + owner.id if owner.kind is OwnerKind.AGENT else owner.id
