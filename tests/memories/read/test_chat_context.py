"""Reading in the context of a chat: what is told there, and to whom."""

from typing import Any

import pytest

from recollect.kernel.ids import ChatId
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import MemoryOrigin, Sensitivity
from tests.support.memory.callers import Asker, Town
from tests.support.memory.people import person_of
from tests.support.memory.store import Shelf
from tests.support.world import new_id

pytestmark = pytest.mark.surfaces("grpc")

EXPLAIN = "/memories/{}/explain"


def a_chat(owner: Asker, *others: Asker, kind: str = "group") -> str:
    chat_id = new_id()
    owner.put("/chats/{}", chat_id, body={"kind": kind}).expect(201)
    for other in others:
        body = {"kind": "agent" if other.name.startswith("agent:") else "user"}
        name = other.name.removeprefix("agent:")
        owner.put("/chats/{}/participants/{}", chat_id, name, body=body).expect(200)
    return chat_id


def own(asker: Asker) -> Space:
    return Space(SpaceKind.USER, asker.name)


def listed(asker: Asker, **query: Any) -> set[str]:
    return {memory["id"] for memory in asker.lists("/memories", **query)}


def test_a_chat_alone_means_its_space_ones_own_and_what_is_told_there(
    town: Town, shelf: Shelf
) -> None:
    ann, bob, eve = town.person("ann"), town.person("bob"), town.person("eve")
    for one in (ann, bob, eve):
        person_of(one)
    chat_id = a_chat(ann, bob)
    agent = ann.registers()
    in_chat = shelf.puts(
        Space(SpaceKind.CHAT, chat_id), learned_in=ChatId(chat_id), origin=MemoryOrigin.CHAT
    )
    mine = shelf.puts(own(ann))
    elsewhere = shelf.puts(own(eve), subjects=(person_of(bob),))
    shelf.puts(own(eve))
    public = shelf.puts(Space(SpaceKind.AGENT_PUBLIC, agent["id"]))
    assert listed(ann, chat_id=chat_id) >= {in_chat, mine, elsewhere}
    assert mine not in listed(bob, chat_id=chat_id)
    assert listed(ann, chat_id=chat_id, agent_id=agent["id"]) == {public}
    assert listed(ann, chat_id=chat_id, user_id=ann.name) == {mine}
    eve.get("/memories", chat_id=chat_id).refused(404, "not_found")


def test_a_group_is_not_told_what_its_asker_may_know(town: Town, shelf: Shelf) -> None:
    ann, bob = town.person("ann"), town.person("bob")
    secret = shelf.puts(own(ann), sensitivity=Sensitivity.SENSITIVE, subjects=(person_of(ann),))
    group, alone = a_chat(ann, bob), a_chat(ann, kind="private")
    ann.get("/memories/{}", secret).expect(200)
    ann.get("/memories/{}", secret, chat_id=alone).expect(200)
    ann.get("/memories/{}", secret, chat_id=group).refused(404, "not_found")
    ann.get(EXPLAIN, secret, chat_id=group).refused(404, "not_found")
    told = town.auditor.get(EXPLAIN, secret, chat_id=group, as_user=ann.name).expect(200)
    assert (told["rule"], told["context"]) == ("group.sensitive.excluded", "group")
    told = ann.get(EXPLAIN, secret, chat_id=alone).expect(200)
    assert (told["rule"], told["context"]) == ("private.sensitive.subject", "private")


def test_an_agent_lists_for_a_participant(town: Town, shelf: Shelf) -> None:
    ann, bob = town.person("ann"), town.person("bob")
    agent = town.agent(ann.registers()["id"])
    chat_id = a_chat(ann, bob, agent)
    mine = shelf.puts(own(ann), subjects=(person_of(ann),), sensitivity=Sensitivity.PERSONAL)
    assert listed(agent, chat_id=chat_id, asker_id=ann.name, user_id=ann.name) == {mine}
    assert listed(agent, chat_id=chat_id, asker_id=bob.name, user_id=ann.name) == set()
    assert listed(agent, chat_id=chat_id, user_id=ann.name) == set()
    stranger = town.person("eve")
    agent.get("/memories", chat_id=chat_id, asker_id=stranger.name).refused(422, "validation_error")
    ann.get("/memories", chat_id=chat_id, asker_id=bob.name).refused(403, "forbidden")


@pytest.mark.parametrize("path", ["/memories/{}", EXPLAIN])
def test_a_chat_of_others_is_unknown(town: Town, shelf: Shelf, path: str) -> None:
    ann, bob = town.person("ann"), town.person("bob")
    chat_id, memory_id = a_chat(ann), shelf.puts(own(bob))
    details = bob.get(path, memory_id, chat_id=chat_id).refused(404, "not_found")
    assert details == {"resource": "chat", "id": chat_id}
