"""Who asks what in a world: viewers and filters from a seed."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from random import Random
from typing import Any, TypeVar

from recollect.identity.model import Caller, Principal
from recollect.identity.requester import Requester
from recollect.kernel.ids import ChatId, OrgId, PersonId, UserId
from recollect.kernel.owner import Owner, OwnerKind
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import (
    MemoryFilter,
    MemoryKind,
    MemoryStatus,
    MemoryType,
)
from recollect.people.chat import ChatKind
from recollect.visibility.disclosure import (
    AskerView,
    ChatView,
    DisclosureSettings,
)
from recollect.visibility.model import PublicInGroups, SensitiveInGroups, UnknownOrigin
from recollect.visibility.viewer import Viewer
from tests.visibility.worlds.generate import AROUND, BEFORE
from tests.visibility.worlds.rules import people
from tests.visibility.worlds.world import NOW, GeneratedWorld

T = TypeVar("T")


def requesters(world: GeneratedWorld) -> Iterator[Requester]:
    """Every user and agent, as requests bring them; agents also with their owners' rights."""
    for user, person in world.people.items():
        orgs = frozenset(OrgId(org) for org in world.user_orgs[user])
        users = frozenset(UserId(other) for other in world.users_of(person))
        yield Requester(Principal(UserId(user)), orgs, PersonId(person), users)
    for agent_id, (_, org) in world.agents.items():
        named = UserId(Owner.agent(agent_id).spelling)
        for acts in (False, True):
            principal = Principal(named, kind=OwnerKind.AGENT, acts_for_owner=acts)
            yield Requester(principal, frozenset({OrgId(org)}))


def chat_view(world: GeneratedWorld, chat_id: str, kind: ChatKind) -> ChatView:
    """The chat as a viewer in it has it."""
    confirmed = world.confirmed_in(chat_id)
    users = (UserId(user) for person in confirmed for user in world.users_of(person))
    return ChatView(
        ChatId(chat_id),
        kind,
        people(confirmed),
        frozenset(users),
        humans=len(world.humans_in(chat_id)),
    )


def person_view(world: GeneratedWorld, person: str) -> AskerView:
    """A person as the one who is judged, with the orgs of their first user."""
    users = sorted(world.users_of(person))
    orgs = world.user_orgs[users[0]] if users else world.loner_orgs
    return AskerView(
        PersonId(person),
        frozenset(UserId(one) for one in users),
        chats_of(world, person, None),
        frozenset(OrgId(org) for org in orgs),
    )


def chats_of(world: GeneratedWorld, person: str | None, agent: str | None) -> frozenset[ChatId]:
    """Where one of them takes part now."""
    return frozenset(ChatId(chat_id) for chat_id in world.chats_of(person, agent))


class ViewerGenerator:
    """Who asks what in a world."""

    def __init__(self, world: GeneratedWorld) -> None:
        self._world = world
        self._random = Random(-world.seed)

    def _one(self, choices: Iterable[T]) -> T:
        return self._random.choice(tuple(choices))

    def _rarely(self, value: T) -> T | None:
        return value if self._random.random() < 0.4 else None

    def viewer(self) -> Viewer:
        if self._random.random() < 0.03:
            return Viewer.for_system("a test", NOW)
        chat = self._chat() if self._random.random() < 0.6 else None
        callers, asker = self._callers(in_chat=chat is not None)
        settings = DisclosureSettings(
            self._one(SensitiveInGroups), self._one(UnknownOrigin), self._one(PublicInGroups)
        )
        return Viewer(callers, self._limited(asker, chat), chat, settings, NOW)

    def _limited(self, asker: AskerView, chat: ChatView | None) -> AskerView:
        """In a group of one an agent that asks for nobody has no more than its one human."""
        if chat is None or chat.kind is ChatKind.PRIVATE or asker.person_id is not None:
            return asker
        humans = self._world.humans_in(chat.id)
        if len(humans) != 1:
            return asker
        return asker.limited_to(person_view(self._world, next(iter(humans))))

    def _chat(self) -> ChatView:
        chat_id = self._one(self._world.chats)
        return chat_view(self._world, chat_id, self._one(ChatKind))

    def _callers(self, *, in_chat: bool) -> tuple[tuple[Caller, ...], AskerView]:
        """A user for themself, or an agent for itself, or in a chat for somebody."""
        if self._random.random() < 0.5:
            caller, asker = self._somebody(self._one(sorted(set(self._world.people.values()))))
            return (caller,), asker
        agent, itself = self._agent()
        if not in_chat or self._random.random() < 0.3:
            return (agent,), itself
        other, asked = self._somebody(self._one(self._world.all_people))
        return (agent, other), asked

    def _agent(self) -> tuple[Caller, AskerView]:
        agent_id = self._one(self._world.agents)
        orgs = frozenset({OrgId(self._world.agents[agent_id][1])})
        caller = Caller(
            Owner.agent(agent_id), orgs, self._random.random() < 0.4, self._random.random() < 0.2
        )
        return caller, AskerView(chats=chats_of(self._world, None, agent_id), orgs=orgs)

    def _somebody(self, person: str) -> tuple[Caller, AskerView]:
        asker = person_view(self._world, person)
        user = self._one(sorted(asker.users)) if asker.users else UserId("")
        # A member whom nobody has met has no person yet.
        if self._random.random() < 0.05:
            asker = replace(asker, person_id=None)
        return Caller(Owner.user(user), asker.orgs, admin=self._random.random() < 0.2), asker

    def filter(self) -> MemoryFilter:
        """Mostly a wide one: rows that a filter leaves out say nothing of the viewer."""
        if self._random.random() < 0.7:
            return MemoryFilter(statuses=tuple(MemoryStatus), include_expired=True)
        return self._narrowed() if self._random.random() < 0.5 else self._shaped()

    def _shaped(self) -> MemoryFilter:
        return MemoryFilter(
            statuses=self._one(
                (
                    (MemoryStatus.ACTIVE,),
                    (MemoryStatus.ACTIVE, MemoryStatus.EXPIRED),
                    tuple(MemoryStatus),
                )
            ),
            include_expired=self._one((True, False)),
            spaces=self._rarely(tuple(self._spaces())),
            valid_at=self._rarely(self._one(BEFORE)),
            as_of=self._rarely(self._one(AROUND)),
        )

    def _spaces(self) -> Iterator[tuple[SpaceKind, str | None]]:
        for fact in self._random.choices(self._world.facts, k=self._random.randint(0, 4)):
            yield fact.space_kind, self._one((fact.space_id, fact.space_id, None))

    def _narrowed(self) -> MemoryFilter:
        fact, other = self._one(self._world.facts), self._one(self._world.facts)
        space = Space(fact.space_kind, fact.space_id)
        members: dict[str, Any] = {
            "agent_id": fact.agent_id,
            "visibility": space.visibility,
            "scope": Space(other.space_kind, other.space_id).scope,
            "run_id": fact.run_id,
            "kind": self._one(MemoryKind),
            "key": fact.key,
            "tags": fact.tags,
            "types": (fact.type, self._one(MemoryType)),
            "subjects": fact.subjects,
            "stated_by": fact.stated_by,
            "sensitivity": fact.sensitivity,
            "created_after": self._one(BEFORE),
            "created_before": self._one(AROUND),
        }
        taken = self._random.sample(sorted(members), self._random.randint(1, 3))
        # Together they may ask for what no space is.
        both = ["scope"] if "visibility" in taken else []
        return MemoryFilter(**{name: members[name] for name in (*taken, *both)})
