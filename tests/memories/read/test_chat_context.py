"""Reading in the context of a chat: what is told there, and to whom."""

from typing import Any

import pytest

from recollect.kernel.ids import ChatId
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import MemoryOrigin, Sensitivity
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.disclosure import a_chat
from tests.support.memory.people import person_of
from tests.support.memory.store import StoredMemories

pytestmark = pytest.mark.surfaces("grpc")

EXPLAIN = "/memories/{}/explain"


def own(caller: Caller) -> Space:
    return Space(SpaceKind.USER, caller.name)


def listed(caller: Caller, **query: Any) -> set[str]:
    return {memory["id"] for memory in caller.lists("/memories", **query)}


def test_a_chat_alone_means_its_space_ones_own_and_what_is_told_there(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann, bob, eve = callers.person("ann"), callers.person("bob"), callers.person("eve")
    for one in (ann, bob, eve):
        person_of(one)
    chat_id = a_chat(ann, bob)
    agent = ann.registers()
    in_chat = stored_memories.puts(
        Space(SpaceKind.CHAT, chat_id), learned_in=ChatId(chat_id), origin=MemoryOrigin.CHAT
    )
    mine = stored_memories.puts(own(ann))
    elsewhere = stored_memories.puts(own(eve), subjects=(person_of(bob),))
    stored_memories.puts(own(eve))
    public = stored_memories.puts(Space(SpaceKind.AGENT_PUBLIC, agent["id"]))
    assert listed(ann, chat_id=chat_id) >= {in_chat, mine, elsewhere}
    assert mine not in listed(bob, chat_id=chat_id)
    assert listed(ann, chat_id=chat_id, agent_id=agent["id"]) == {public}
    assert listed(ann, chat_id=chat_id, user_id=ann.name) == {mine}
    eve.get("/memories", chat_id=chat_id).refused(404, "not_found")


def test_a_group_is_not_told_what_its_asker_may_know(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    secret = stored_memories.puts(
        own(ann), sensitivity=Sensitivity.SENSITIVE, subjects=(person_of(ann),)
    )
    group, alone = a_chat(ann, bob), a_chat(ann, kind="private")
    ann.get("/memories/{}", secret).expect(200)
    ann.get("/memories/{}", secret, chat_id=alone).expect(200)
    ann.get("/memories/{}", secret, chat_id=group).refused(404, "not_found")
    ann.get(EXPLAIN, secret, chat_id=group).refused(404, "not_found")
    told = callers.auditor.get(EXPLAIN, secret, chat_id=group, as_user=ann.name).expect(200)
    assert (told["rule"], told["context"]) == ("group.sensitive.excluded", "group")
    told = ann.get(EXPLAIN, secret, chat_id=alone).expect(200)
    assert (told["rule"], told["context"]) == ("private.sensitive.subject", "private")


def test_an_agent_lists_for_a_participant(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent = callers.agent(ann.registers()["id"])
    chat_id = a_chat(ann, bob, agent)
    mine = stored_memories.puts(
        own(ann), subjects=(person_of(ann),), sensitivity=Sensitivity.PERSONAL
    )
    assert listed(agent, chat_id=chat_id, asker_id=ann.name, user_id=ann.name) == {mine}
    assert listed(agent, chat_id=chat_id, asker_id=bob.name, user_id=ann.name) == set()
    assert listed(agent, chat_id=chat_id, user_id=ann.name) == set()
    stranger = callers.person("eve")
    agent.get("/memories", chat_id=chat_id, asker_id=stranger.name).refused(422, "validation_error")
    ann.get("/memories", chat_id=chat_id, asker_id=bob.name).refused(403, "forbidden")


@pytest.mark.parametrize("path", ["/memories/{}", EXPLAIN])
def test_a_chat_of_others_is_unknown(
    callers: Callers, stored_memories: StoredMemories, path: str
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat_id, memory_id = a_chat(ann), stored_memories.puts(own(bob))
    details = bob.get(path, memory_id, chat_id=chat_id).refused(404, "not_found")
    assert details == {"resource": "chat", "id": chat_id}
