"""What nobody gets by a detour: the past of a chat, its memories, what others say to a handle."""

from datetime import timedelta
from typing import Any

import pytest

from tests.people.test_addresses import says_of, subject_of
from tests.support.memory.callers import Callers
from tests.support.memory.disclosure import a_chat, brings, invites, is_shown, says
from tests.support.memory.people import a_name, knows, merges, person_of, resolve_name, self_of
from tests.support.memory.portability import a_line, codes, imports
from tests.support.world import new_id

ONE = "/chats/{}/participants/{}"
GROUP = {"kind": "group"}


@pytest.mark.amendment(2)
def test_an_agent_of_ones_own_does_not_bring_one_into_the_past_of_a_chat(callers: Callers) -> None:
    p, s, eve = (callers.person(name) for name in ("p", "s", "eve"))
    began, chat = callers.world.clock.now(), a_chat(p, s)
    callers.world.clock.advance(hours=1)
    memory = says(p, s, chat_id=chat)
    callers.world.clock.advance(hours=1)
    brings(p, eve, chat)
    spy = callers.agent(eve.registers()["id"])
    invites(eve, spy, chat)
    eve.delete(ONE, chat, eve.name).expect(204)
    body = {"kind": "user", "joined_at": (began + timedelta(minutes=1)).isoformat()}
    spy.put(ONE, chat, eve.name, body=body).refused(403, "forbidden")
    invites(spy, eve, chat)
    assert not is_shown(eve, memory)
    # Who made the chat says who was there.
    own = a_chat(spy)
    then = callers.world.clock.now().isoformat()
    callers.world.clock.advance(hours=1)
    spy.put(ONE, own, s.name, body=body | {"joined_at": then}).expect(200)


@pytest.mark.amendment(2)
@pytest.mark.parametrize("added_by", ["another", "oneself"])
def test_nor_does_a_person_whom_one_made_and_claims_to_be(callers: Callers, added_by: str) -> None:
    p, s, eve = (callers.person(name) for name in ("p", "s", "eve"))
    chat, puppet = a_chat(p, s), knows(eve, a_name("Tom"))
    person = {"kind": "person"}
    if added_by == "another":
        p.put(ONE, chat, puppet["id"], body=person).expect(200)
    else:
        brings(p, eve, chat)
        eve.put(ONE, chat, puppet["id"], body=person).expect(200)
        callers.world.clock.advance(hours=1)
        eve.delete(ONE, chat, eve.name).expect(204)
    callers.world.clock.advance(hours=1)
    memory = says(p, s, chat_id=chat)
    callers.world.clock.advance(hours=1)
    brings(p, eve, chat)
    merges(eve, self_of(eve), puppet).refused(409, "conflict")
    assert not is_shown(eve, memory)
    # Whom one brought in since one came oneself, nobody else has met.
    other = knows(eve, a_name("Tim"))
    eve.put(ONE, chat, other["id"], body=person).expect(200)
    merges(eve, self_of(eve), other).expect(200)
    assert not is_shown(eve, memory)


@pytest.mark.amendment(3)
def test_a_participant_does_not_turn_what_others_say_to_a_handle_to_themself(
    callers: Callers,
) -> None:
    p, ann, bob, eve = (callers.person(name) for name in ("p", "ann", "bob", "eve"))
    chat, handle = a_chat(p, ann, eve), f"@bobby-{new_id()}"
    stated = {"value": handle, "kind": "handle"}
    bob.post("/people/{}/aliases", self_of(bob)["id"], body=stated).expect(201)
    aside = stated | {"provider": "aside"}
    eve.post("/people/{}/aliases", self_of(eve)["id"], body=aside).expect(201)
    eve.put("/chats/{}", chat, body=GROUP | {"provider": "aside"}).refused(403, "forbidden")
    eve.put("/chats/{}", chat, body=GROUP | {"provider": "", "title": "Plans"}).expect(200)
    assert resolve_name(ann, handle, chat_id=chat) == person_of(bob)
    told = says_of(ann, handle, chat_id=chat, sensitivity="sensitive")
    assert subject_of(told) == person_of(bob)
    p.put("/chats/{}", chat, body=GROUP | {"provider": "aside"}).expect(200)
    eve.put("/chats/{}", chat, body=GROUP | {"provider": "Aside"}).expect(200)
    eve.put("/chats/{}", chat, body=GROUP | {"provider": None}).refused(403, "forbidden")


def of_chat(chat_id: str) -> list[dict[str, Any]]:
    """Lines of memories of a chat that does not come along."""
    space = {"kind": "chat", "id": chat_id}
    return [a_line("The key is under the mat.", space=space, learned_in=chat_id, origin="chat")]


def test_nobody_makes_the_chat_whose_memories_were_imported(callers: Callers) -> None:
    eve, chat_id = callers.person("eve"), f"room {new_id()}"
    assert imports(callers.admin, of_chat(chat_id))["created"] == 1
    eve.put("/chats/{}", chat_id, body=GROUP).refused(404, "not_found")
    at = {"created_at": "2024-01-01T00:00:00Z"}
    line = {"type": "chat", "id": chat_id, "kind": "group", "created_by": eve.name} | at
    assert codes(imports(eve, [line])) == [(1, "not_found")]
    learned = f"room {new_id()}"
    assert imports(callers.admin, [a_line(learned_in=learned, origin="chat")])["created"] == 1
    eve.put("/chats/{}", learned, body=GROUP).refused(404, "not_found")
    callers.admin.put("/chats/{}", chat_id, body=GROUP).expect(201)
    invites(callers.admin, eve, chat_id)
    assert [one["content"] for one in eve.lists("/memories", chat_id=chat_id)] == [
        "The key is under the mat."
    ]


def test_nor_the_conversation(callers: Callers) -> None:
    eve, tree = callers.person("eve"), new_id()
    assert imports(callers.admin, of_chat(tree))["created"] == 1
    body = {
        "channel": "history",
        "contentType": "history",
        "content": [{"role": "USER", "text": "x"}],
    }
    assert eve.user.call("append", tree, body=body).status == 403
    assert eve.lists("/memories", spaces=f"chat:{tree}") == []
    eve.get("/memories", chat_id=tree).refused(404, "not_found")
