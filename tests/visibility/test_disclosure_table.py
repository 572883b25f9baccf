"""The whole table of disclosure, over REST: lists and explanations against the pure rule."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest

from recollect.kernel.ids import ChatId, PersonId, UserId
from recollect.kernel.owner import Owner
from recollect.kernel.space import DEFAULT_ORG, Space, SpaceKind
from recollect.memories.model import (
    Memory,
    MemoryOrigin,
    Sensitivity,
    StoredMemory,
)
from recollect.people.chat import ChatKind
from recollect.visibility.disclosure import (
    AskerView,
    ChatView,
    DisclosureDecision,
    DisclosureSettings,
    MemoryView,
    decide_disclosure,
)
from recollect.visibility.model import PublicInGroups, SensitiveInGroups, UnknownOrigin
from tests.conftest import Serve
from tests.support.memory.builders import a_memory
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.disclosure import a_chat, alone, brings
from tests.support.memory.people import person_of
from tests.support.memory.store import StoredMemories, open_stored_memories
from tests.support.world import World

SETTINGS = [
    *(
        DisclosureSettings(sensitive, unknown)
        for sensitive, unknown in product(SensitiveInGroups, UnknownOrigin)
    ),
    DisclosureSettings(public_in_groups=PublicInGroups.ANYONE),
]
# Who takes part in each chat, and who did so when everything was said.
PRESENT = {"alone": "p", "there": "pz", "later": "pz", "elsewhere": "po"}
WITNESSES = PRESENT | {"later": "z", "never": "o"}
# Every how many-th row is explained, too; a number that shares no divisor with those of the table.
EXPLAINED = 7


@dataclass(frozen=True, slots=True)
class Cast:
    """P asks. O is another, and Z is talked about."""

    p: Caller
    z: Caller
    people: dict[str, PersonId]
    users: dict[str, str]
    chats: dict[str, ChatId]

    @property
    def asker(self) -> AskerView:
        """P as the rule sees them."""
        present = frozenset(self.chats[name] for name in ("there", "later", "alone", "elsewhere"))
        users = frozenset({UserId(self.p.name)})
        return AskerView(self.people["p"], users, present, frozenset({DEFAULT_ORG}))

    def context(self, name: str | None) -> ChatView | None:
        """A chat as the rule sees it: all of them mean to take part."""
        if name is None:
            return None
        kind = ChatKind.PRIVATE if name == "alone" else ChatKind.GROUP
        present = frozenset(self.people[one] for one in PRESENT[name])
        users = frozenset(UserId(self.users[one]) for one in PRESENT[name])
        return ChatView(self.chats[name], kind, present, users, len(present))


@dataclass(frozen=True, slots=True)
class Case:
    """A memory by what it has to do with P: whose space, about whom, who said it, where."""

    space: str
    subject: str
    stater: str
    learned_in: str
    sensitivity: Sensitivity
    portable: bool
    origin: MemoryOrigin

    def members(self, cast: Cast) -> dict[str, Any]:
        """Of the stored memory."""
        chat = self.origin is MemoryOrigin.CHAT
        return {
            "space": self._space(cast),
            "subjects": (cast.people[self.subject],) if self.subject else (),
            "stated_by": cast.people[self.stater],
            "learned_in": cast.chats[self.learned_in] if chat else None,
            "sensitivity": self.sensitivity,
            "portable": self.portable,
            "origin": self.origin,
        }

    def view(self, cast: Cast) -> MemoryView:
        """The same as the rule sees it."""
        members = self.members(cast)
        present = WITNESSES[self.learned_in] if self.origin is MemoryOrigin.CHAT else ""
        return MemoryView(
            **{**members, "subjects": frozenset(members["subjects"])},
            witnesses=frozenset(cast.people[one] for one in present),
            orgs=frozenset({DEFAULT_ORG}),
        )

    def _space(self, cast: Cast) -> Space:
        if self.space in cast.chats:
            return Space(SpaceKind.CHAT, cast.chats[self.space])
        return Space(SpaceKind.USER, cast.users[self.space])


def cases() -> Iterator[Case]:
    """Relations, sensitivity, portable and origin, crossed."""
    spaces, subjects, staters = ("p", "o", "there", "never"), ("p", "z", ""), ("p", "o")
    is_shown = [(MemoryOrigin.CHAT, chat) for chat in ("there", "later", "never", "alone")]
    is_shown += [(MemoryOrigin.DIRECT, ""), (MemoryOrigin.UNKNOWN, "")]
    for space, subject, stater, sensitivity, portable, (origin, chat) in product(
        spaces, subjects, staters, Sensitivity, (True, False), is_shown
    ):
        # What was written to a chat was learned there.
        if space in ("p", "o") or (origin, chat) == (MemoryOrigin.CHAT, space):
            yield Case(space, subject, stater, chat, sensitivity, portable, origin)


CASES = tuple(cases())


@pytest.mark.scenario(35)
@pytest.mark.amendment(1)
@pytest.mark.parametrize(
    "settings",
    SETTINGS,
    ids=lambda one: f"{one.sensitive_in_groups}-{one.unknown_origin}-{one.public_in_groups}",
)
def test_every_row_of_the_table_is_told_as_the_rule_says(
    serve: Serve, settings: DisclosureSettings
) -> None:
    world = serve(
        privacy__sensitive_in_groups=str(settings.sensitive_in_groups),
        privacy__unknown_origin=str(settings.unknown_origin),
        privacy__public_in_groups=str(settings.public_in_groups),
    )
    with open_stored_memories(world) as stored_memories:
        cast = a_cast(world)
        ids = stored(stored_memories, cast)
    for name in (None, "alone", "there", "later", "elsewhere"):
        chat_id = None if name is None else cast.chats[name]
        decided = [
            decide_disclosure(case.view(cast), cast.asker, cast.context(name), settings)
            for case in CASES
        ]
        expected = {id_ for id_, one in zip(ids, decided, strict=True) if one.allowed}
        place = {"spaces": "all"} if chat_id is None else {"chat_id": chat_id}
        listed = {one["id"] for one in cast.p.lists("/memories", limit=1000, **place)}
        wrong = [CASES[ids.index(id_)] for id_ in listed ^ expected]
        assert not wrong, (name, len(wrong), wrong[:3])
        for number in range(0, len(CASES), EXPLAINED):
            rule = explained(Callers(world).auditor, cast.p, ids[number], chat_id)
            assert rule == decided[number], (name, CASES[number])


def a_cast(world: World) -> Cast:
    """P was in one chat from the start, came later to another, and never was in a third."""
    callers = Callers(world)
    p, o, z = (callers.person(name) for name in "poz")
    people = {name: PersonId(person_of(one)) for name, one in zip("poz", (p, o, z), strict=True)}
    chats = {
        "there": a_chat(p, z),
        "later": a_chat(z),
        "never": a_chat(o),
        "alone": alone(p),
        "elsewhere": a_chat(p, o),
    }
    users = {"p": p.name, "o": o.name, "z": z.name}
    return Cast(p, z, people, users, {k: ChatId(v) for k, v in chats.items()})


def stored(stored_memories: StoredMemories, cast: Cast) -> list[str]:
    """All cases, in order; their ids. P comes to the second chat after that."""
    at = stored_memories.world.clock.advance(minutes=1)
    times = dict.fromkeys(("created_at", "updated_at", "observed_at"), at)
    made: list[Memory] = [
        a_memory(stored_memories.storage, **times, **case.members(cast)) for case in CASES
    ]
    insert = stored_memories.storage.stores.memories.insert
    by = Owner.user(cast.users["o"])
    stored_memories.storage.write(lambda tx: [insert(tx, StoredMemory(one, by)) for one in made])
    stored_memories.world.clock.advance(minutes=1)
    brings(cast.z, cast.p, cast.chats["later"])
    return [one.id for one in made]


def explained(
    auditor: Caller, asker: Caller, memory_id: str, chat_id: str | None
) -> DisclosureDecision:
    """What an auditor is told of it."""
    query = {"as_user": asker.name} | ({} if chat_id is None else {"chat_id": chat_id})
    body = auditor.get("/memories/{}/explain", memory_id, **query).expect(200)
    return DisclosureDecision(body["allowed"], body["rule"])
