"""Ids of conversations come in any letter case, and so do ids of chats that are spelled alike."""

from typing import Any

import pytest

from tests.people.test_chats import GROUP
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.portability import a_line, exports, imports, of_type
from tests.support.world import new_id


def a_tree(owner: Caller) -> str:
    return str(owner.user.starts("Our trip")["id"])


def a_named_chat(owner: Caller) -> str:
    chat_id = new_id()
    owner.put("/chats/{}", chat_id.upper(), body=GROUP).expect(201)
    return chat_id


@pytest.mark.parametrize("makes", [a_tree, a_named_chat])
def test_every_spelling_of_an_id_means_one_chat(callers: Callers, makes: Any) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat_id = makes(ann)
    loud = chat_id.upper()
    assert ann.get("/chats/{}", loud).expect(200)["id"] == chat_id
    assert [chat["id"] for chat in ann.lists("/chats")] == [chat_id]
    for spelled in (chat_id, loud):
        bob.put("/chats/{}", spelled, body=GROUP).refused(404, "not_found")
        bob.put("/chats/{}/participants/{}", spelled, bob.name, body={"kind": "user"}).refused(
            404, "not_found"
        )


@pytest.mark.parametrize("makes", [a_tree, a_named_chat])
def test_memories_go_to_the_one_chat_and_are_found_there(callers: Callers, makes: Any) -> None:
    ann = callers.person("ann")
    chat_id = makes(ann)
    loud = chat_id.upper()
    place = {"kind": "chat", "id": loud}
    there = ann.adds("the ferry leaves at nine", space=place, chat_id=chat_id)
    assert (there["space"]["id"], there["learned_in"]) == (chat_id, chat_id)
    heard = ann.adds(
        "the hotel is booked", space={"kind": "user"}, learned_in=loud, chat_id=chat_id
    )
    assert heard["learned_in"] == chat_id
    moved = ann.post("/memories/{}/move", heard["id"], body={"space": place}).expect(201)
    assert moved["memory"]["space"]["id"] == chat_id
    for query in ({"chat_id": loud}, {"spaces": f"chat:{loud}"}):
        found = {one["content"] for one in ann.lists("/memories", **query)}
        assert found == {there["content"], heard["content"]}
    for members in ({"chat_id": loud}, {"spaces": [place]}):
        assert [hit["id"] for hit in ann.finds("ferry", **members)] == [there["id"]]
    ann.get("/memories/{}", there["id"], chat_id=loud).expect(200)
    ann.get("/memories/{}/explain", there["id"], chat_id=loud).expect(200)
    ann.post("/people/resolve", body={"name": "Nobody", "chat_id": loud}).expect(200)
    body = {"source": {"chat_id": loud}, "dry_run": True}
    assert ann.post("/rollbacks", body=body).expect(200)["archived"] == 2


def test_imported_lines_mean_the_same_chat(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat_id = a_tree(ann)
    loud = chat_id.upper()
    chat = {"type": "chat", "id": loud, "kind": "group", "created_by": bob.name}
    assert imports(bob, [chat | {"created_at": "2024-01-01T00:00:00Z"}])["created"] == 0
    line = a_line(space={"kind": "chat", "id": loud}, learned_in=loud, origin="chat")
    assert imports(ann, [line])["created"] == 1
    (memory,) = of_type(exports(ann, spaces=f"chat:{loud}"), "memory")
    assert (memory["space"]["id"], memory["learned_in"]) == (chat_id, chat_id)
