"""Grows a small world from a seed: a failure is seen again by growing the same one."""

import uuid
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random
from typing import TypeVar

from recollect.kernel.owner import Owner
from recollect.kernel.space import AGENT_KINDS, SpaceKind
from recollect.memories.model import (
    MemoryOrigin,
    MemoryStatus,
    MemoryType,
    Sensitivity,
)
from recollect.people.chat import ChatKind
from tests.visibility.worlds.world import (
    NOW,
    ChatFact,
    Fact,
    GeneratedWorld,
    HandleFact,
    Participation,
    RunFact,
    VersionFact,
)

T = TypeVar("T")

# So few instants that ends, beginnings and observations fall on each other.
BEFORE = tuple(NOW - timedelta(minutes=minutes) for minutes in (3, 2, 1))
AROUND = (*BEFORE, NOW, NOW + timedelta(minutes=1))
# In each chat somebody is there for one of these times. Who was there twice was added again.
STAYS: tuple[tuple[tuple[datetime, datetime | None], ...], ...] = (
    ((BEFORE[0], None),),
    ((BEFORE[0], BEFORE[1]),),
    ((BEFORE[0], BEFORE[1]), (BEFORE[2], None)),
    ((BEFORE[1], None),),
)
ORGS = ("red", "blue")
NAMES = ("ann", "Ann", "bob", "cy")
TAGS = ("x", "y")
PROVIDER = "slack"


def grow(seed: int) -> GeneratedWorld:
    """The world of a seed."""
    return _Growing(seed).world


def handles_of(world: GeneratedWorld) -> tuple[str, ...]:
    """The handles of a world: ids of users, and one that is nobody's id."""
    return (*world.user_orgs, f"{world.seed}.kay")


class _Growing:
    """Grows a world; ids carry the seed, so that many worlds share one database."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._mark = f"{seed}."
        self.world = GeneratedWorld(seed)
        self._grow_people()
        self._grow_agents()
        self._grow_chats()
        self._grow_runs()
        self.world.facts = [self._fact(number) for number in range(self._random.randint(6, 12))]
        self.world.handles = [self._handle(number) for number in range(self._random.randint(3, 9))]

    def _one(self, choices: Iterable[T]) -> T:
        return self._random.choice(tuple(choices))

    def _some(self, choices: Iterable[T], most: int) -> tuple[T, ...]:
        listed = tuple(choices)
        return tuple(self._random.sample(listed, self._random.randint(0, min(most, len(listed)))))

    def _maybe(self, value: T, chance: float = 0.5) -> T | None:
        return value if self._random.random() < chance else None

    def _grow_people(self) -> None:
        world = self.world
        users = [self._mark + name for name in NAMES[: self._random.randint(2, 4)]]
        world.user_orgs = {user: frozenset(self._some(ORGS, 2)) for user in users}
        world.people = {user: f"{user}-person" for user in users}
        if self._random.random() < 0.3:
            world.people[users[1]] = world.people[users[0]]
        world.loners = (self._mark + "dee",)
        world.loner_orgs = frozenset(self._some(ORGS, 2))

    def _grow_agents(self) -> None:
        """Agents may have the ids of users, and own each other or themselves."""
        ids = [self._mark + name for name in self._random.sample((*NAMES, "bot"), 3)]
        users = [Owner.user(user) for user in self.world.user_orgs]
        for agent_id in ids:
            owner = self._one([*users, *(Owner.agent(other) for other in ids)])
            self.world.agents[agent_id] = (owner, self._one(ORGS))

    def _grow_chats(self) -> None:
        for number in range(self._random.randint(1, 3)):
            tree = self._random.random() < 0.4
            unique = self._uuid()
            chat_id = unique if tree else f"{self._mark}chat-{number}"
            forks = (self._uuid() for _ in range(self._random.randint(0, 2)))
            self._add_chat(
                ChatFact(
                    chat_id,
                    tree=tree,
                    deleted=tree and self._random.random() < 0.2,
                    kind=self._one(ChatKind),
                    creator=self._an_owner(),
                    participations=tuple(self._participations(tree=tree)),
                    forks=tuple(forks) if tree else (),
                    provider=None if tree else self._maybe(PROVIDER),
                )
            )
        for agent_id in self._some(self.world.agents, 1):
            self._add_chat(self._trap(agent_id))

    def _add_chat(self, chat: ChatFact) -> None:
        """A private chat has one human at most."""
        self.world.chats[chat.id] = chat
        if len(self.world.humans_in(chat.id)) > 1:
            self.world.chats[chat.id] = replace(chat, kind=ChatKind.GROUP)

    def _trap(self, agent_id: str) -> ChatFact:
        """A chat that an agent made to ask in: it brought somebody in, who knows of it or not."""
        began, user = BEFORE[0], self._one(self.world.user_orgs)
        confirmed = self._random.random() < 0.5
        stays = (
            Participation("agent", agent_id, began, None),
            Participation("user", user, began, None, confirmed),
        )
        return ChatFact(
            f"{self._mark}trap",
            tree=False,
            deleted=False,
            kind=self._one(ChatKind),
            creator=Owner.agent(agent_id),
            participations=stays,
        )

    def _uuid(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def _an_owner(self) -> Owner:
        users = [Owner.user(user) for user in self.world.user_orgs]
        return self._one([*users, *(Owner.agent(agent) for agent in self.world.agents)])

    def _participations(self, *, tree: bool) -> Iterable[Participation]:
        members = [("user", user) for user in self.world.user_orgs]
        members += [("agent", agent) for agent in self.world.agents]
        if not tree:
            members += [("person", person) for person in self.world.all_people]
        # Few are many of the chats: a group of one must not be told more than its member.
        for kind, id_ in self._some(members, self._one((1, 2, 4))):
            for joined_at, left_at in self._one(STAYS):
                confirmed = self._random.random() < 0.6
                yield Participation(kind, id_, joined_at, left_at, confirmed)

    def _grow_runs(self) -> None:
        for number in range(self._random.randint(0, 4)):
            run_id = f"{self._mark}run-{number}"
            parent = self._maybe(self._one([*self.world.runs, None]), 0.8)
            self.world.runs[run_id] = RunFact(run_id, self._one(self.world.agents), parent)

    def _space(self) -> tuple[SpaceKind, str]:
        kinds = [kind for kind in SpaceKind if kind is not SpaceKind.RUN or self.world.runs]
        # Disclosure has the most to say of these.
        kind = self._one([*kinds, SpaceKind.USER, SpaceKind.USER, SpaceKind.CHAT, SpaceKind.CHAT])
        if kind in AGENT_KINDS:
            return kind, self._one(self.world.agents)
        places: dict[SpaceKind, Iterable[str]] = {
            SpaceKind.USER: self.world.user_orgs,
            SpaceKind.CHAT: self.world.chats,
            SpaceKind.RUN: self.world.runs,
            SpaceKind.ORG: ORGS,
        }
        return kind, self._one(places[kind])

    def _fact(self, number: int) -> Fact:
        kind, space_id = self._space()
        subjects = self._some(self.world.all_people, 2)
        status = self._one(
            [MemoryStatus.ACTIVE] * 5 + [s for s in MemoryStatus if s is not MemoryStatus.EXPIRED]
        )
        versions = tuple(self._versions(status))
        origin = self._one(MemoryOrigin)
        return Fact(
            id=f"{self._mark}{number:02}",
            space_kind=kind,
            space_id=space_id,
            agent_id=self._agent_of(kind, space_id),
            sensitivity=self._one([Sensitivity.PUBLIC, *Sensitivity]),
            portable=self._random.random() < 0.8,
            origin=origin,
            learned_in=self._maybe(self._one(self.world.chats), 0.9 if origin == "chat" else 0.2),
            observed_at=self._one(AROUND),
            stated_by=self._maybe(self._one(self.world.all_people)),
            subjects=subjects,
            bare_names=self._random.random() < 0.1,
            status=status,
            expires_at=self._maybe(self._one(AROUND), 0.3),
            compacted=self._random.random() < 0.05,
            erased=self._random.random() < 0.05,
            created_at=versions[0].at,
            retracted_at=self._maybe(self._one(AROUND), 0.2),
            valid_from=versions[-1].valid_from,
            valid_until=versions[-1].valid_until,
            versions=versions,
            type=self._one(MemoryType),
            key=self._maybe(self._one(("k1", "k2")), 0.3),
            run_id=space_id if kind is SpaceKind.RUN else None,
            tags=self._some(TAGS, 2),
        )

    def _handle(self, number: int) -> HandleFact:
        """A handle that a user states of themself or an admin of anybody, or a shadow of it."""
        by, provider = self._one(self.world.user_orgs), self._maybe(PROVIDER)
        value = self._one(handles_of(self.world))
        how = self._random.random()
        if how < 0.4:
            return HandleFact(self.world.people[by], value, provider, by)
        if how < 0.6:
            return HandleFact(self._one(self.world.all_people), value, provider, by, verified=True)
        return HandleFact(f"{self._mark}shadow-{number}", value, provider, by, shadow=True)

    def _agent_of(self, kind: SpaceKind, space_id: str) -> str | None:
        if kind in AGENT_KINDS:
            return space_id
        if kind is SpaceKind.RUN:
            return self.world.runs[space_id].agent_id
        return self._one(self.world.agents) if kind is SpaceKind.ORG else None

    def _versions(self, status: MemoryStatus) -> Iterable[VersionFact]:
        times = sorted(self._random.sample(BEFORE, self._random.randint(1, 3)))
        for at, until in zip(times, [*times[1:], None], strict=True):
            was = (
                status
                if until is None
                else self._one((MemoryStatus.ACTIVE, MemoryStatus.SUPERSEDED))
            )
            valid_from, valid_until = self._maybe(BEFORE[0]), self._maybe(BEFORE[2])
            yield VersionFact(at, until, was, valid_from, valid_until)
