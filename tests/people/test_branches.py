"""The id of any conversation of a tree means the chat of the tree."""

from typing import Any

import pytest

from tests.people.test_chats import GROUP, present
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import a_name, knows, person_of, resolve_name
from tests.support.memory.portability import a_line, exports, imports, of_type
from tests.support.world import new_id

pytestmark = [pytest.mark.surfaces("grpc"), pytest.mark.amendment(5)]


def a_tree(owner: Caller, *members: Caller) -> tuple[str, str]:
    """A conversation with a fork that was made, and one that was appended to: two levels deep."""
    root = str(owner.user.starts("Our trip")["id"])
    fork = str(owner.user.forks(root, owner.user.says(root, "Where to?"))["id"])
    entry, leaf = owner.user.says(fork, "Porto."), new_id()
    at = {"forkedAtConversationId": fork, "forkedAtEntryId": entry["id"]}
    owner.user.says(leaf, "Or Lisbon.", **at)
    for member in members:
        owner.user.shares(root, member.user, "writer")
    return root, leaf


def chat_space(chat_id: str) -> dict[str, Any]:
    return {"kind": "chat", "id": chat_id}


def contents(rows: list[dict[str, Any]]) -> set[str]:
    return {one["content"] for one in rows}


def test_a_memory_of_a_branch_belongs_to_the_chat_and_keeps_the_branch(callers: Callers) -> None:
    ann = callers.person("ann")
    root, leaf = a_tree(ann)
    there = ann.adds("the ferry leaves at nine", space=chat_space(leaf))
    heard = ann.adds("the hotel is booked", space={"kind": "user"}, chat_id=leaf.upper())
    both = ann.adds("we take the train", space=chat_space(root), chat_id=leaf)
    at_root = ann.adds("we pay by card", space=chat_space(root))
    elsewhere = ann.adds("milk is out", space={"kind": "user"})
    named = new_id()
    ann.put("/chats/{}", named, body=GROUP).expect(201)
    outside = ann.adds("the key is under the mat", space=chat_space(named))
    assert [one["space"]["id"] for one in (there, both, at_root)] == [root] * 3
    learned = ("learned_in", "learned_in_conversation")
    found = {one["content"]: tuple(one[name] for name in learned) for one in (there, heard, both)}
    assert set(found.values()) == {(root, leaf)}
    assert tuple(at_root[name] for name in learned) == (root, root)
    assert tuple(elsewhere[name] for name in learned) == (None, None)
    assert tuple(outside[name] for name in learned) == (named, None)
    for one in (there, heard, at_root):
        read = ann.get("/memories/{}", one["id"]).expect(200)
        assert tuple(read[name] for name in learned) == tuple(one[name] for name in learned)
    change = {"learned_in_conversation": root}
    ann.patch("/memories/{}", there["id"], body=change).refused(422, "immutable_field")
    ann.post("/memories", body={"content": "x", "space": {"kind": "user"}} | change).refused(
        422, "validation_error"
    )


def test_a_move_into_a_branch_goes_to_the_chat(callers: Callers) -> None:
    ann = callers.person("ann")
    root, leaf = a_tree(ann)
    mine = ann.adds("the hotel is booked", space={"kind": "user"})
    body = {"space": chat_space(leaf)}
    moved = ann.post("/memories/{}/move", mine["id"], body=body).expect(201)["memory"]
    assert moved["space"]["id"] == moved["learned_in"] == root
    assert moved["learned_in_conversation"] == leaf
    back = ann.post("/memories/{}/move", moved["id"], body={"space": {"kind": "user"}}).expect(201)
    assert back["memory"]["learned_in_conversation"] == leaf


def test_another_chat_than_that_of_the_space_is_refused(callers: Callers) -> None:
    ann = callers.person("ann")
    (root, leaf), (other, other_leaf) = a_tree(ann), a_tree(ann)
    for space, said in ((root, other), (leaf, other_leaf), (leaf, new_id()), (other_leaf, root)):
        body = {"content": "x", "space": chat_space(space), "chat_id": said}
        details = ann.post("/memories", body=body).refused(422, "validation_error")
        assert [one["field"] for one in details["violations"]] == ["chat_id"]


def test_every_read_takes_any_branch(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    root, leaf = a_tree(ann, bob)
    kim = knows(ann, a_name("Kim"))
    there = ann.adds("the ferry leaves at nine", space=chat_space(root))
    heard = ann.adds(
        "the ferry costs ten", space={"kind": "user"}, chat_id=leaf, subjects=[kim["id"]]
    )
    told = {there["content"], heard["content"]}
    kept = {"space": {"kind": "user"}, "chat_id": leaf, "portable": False, "subjects": [kim["id"]]}
    secret = ann.adds("the ferry is a surprise", **kept)["content"]
    kept |= {"subjects": [person_of(ann)]}
    told.add(ann.adds("I like tea", **kept)["content"])
    for chat in (root, leaf, leaf.upper()):
        assert contents(ann.lists("/memories", chat_id=chat)) == told | {secret}
        assert contents(bob.lists("/memories", spaces=f"chat:{chat}")) == {there["content"]}
        assert contents(ann.finds("ferry tea", chat_id=chat)) == told | {secret}
        assert contents(ann.finds("ferry", spaces=[chat_space(chat)])) == {there["content"]}
        recalled = ann.post("/memories/recall", body={"query": "ferry tea", "chat_id": chat})
        assert contents(recalled.expect(200)["items"]) == told | {secret}
        assert bob.get("/memories/{}", there["id"], chat_id=chat).expect(200) == there
        why = ann.get("/memories/{}/explain", there["id"], chat_id=chat).expect(200)
        assert (why["rule"], why["context"]) == ("space.chat", "group")
        about = ann.lists("/people/{}/memories", kim["id"], chat_id=chat)
        assert contents(about) == {heard["content"], secret}
        near = ann.get("/graph/entities/{}", person_of(ann), chat_id=chat).expect(200)
        assert "tea" in [one["name"] for one in near["entities"]]


def test_a_branch_is_known_to_members_of_its_tree_alone(callers: Callers) -> None:
    ann, eve = callers.person("ann"), callers.person("eve")
    root, leaf = a_tree(ann)
    there = ann.adds("the ferry leaves at nine", space=chat_space(root))
    mine = eve.adds("I like tea", space={"kind": "user"})
    body = {"content": "x", "space": chat_space(leaf)}
    calls = (
        eve.get("/chats/{}", leaf),
        eve.get("/chats/{}/participants", leaf),
        eve.put("/chats/{}", leaf, body=GROUP),
        eve.put("/chats/{}/participants/{}", leaf, eve.name, body={"kind": "user"}),
        eve.get("/memories", chat_id=leaf),
        eve.get("/memories/{}", mine["id"], chat_id=leaf),
        eve.post("/memories/search", body={"query": "ferry", "chat_id": leaf}),
        eve.post("/memories", body=body),
        eve.post("/memories", body=body | {"space": {"kind": "user"}, "chat_id": leaf}),
        eve.post("/memories/{}/move", mine["id"], body={"space": chat_space(leaf)}),
        eve.post("/people/resolve", body={"name": "Kim", "chat_id": leaf}),
        eve.post("/rollbacks", body={"source": {"chat_id": leaf}, "dry_run": True}),
    )
    for reply in calls:
        # The answer repeats what was sent: it tells nobody the tree of a conversation.
        assert reply.refused(404, "not_found") == {"resource": "chat", "id": leaf}
    assert eve.lists("/memories", spaces=f"chat:{leaf}") == []
    ann.user.deletes(root)
    for caller in (ann, eve):
        caller.get("/chats/{}", leaf).refused(404, "not_found")
        caller.put("/chats/{}", leaf, body=GROUP).refused(404, "not_found")
        caller.get("/memories", chat_id=leaf).refused(404, "not_found")
    ann.get("/memories/{}", there["id"]).refused(404, "not_found")


def test_chats_and_participants_are_those_of_the_tree(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    root, leaf = a_tree(ann, bob)
    assert ann.get("/chats/{}", leaf).expect(200) == ann.get("/chats/{}", root).expect(200)
    assert [chat["id"] for chat in ann.lists("/chats")] == [root]
    assert present(ann, leaf) == {ann.name, bob.name}
    details = ann.put("/chats/{}", leaf, body=GROUP).refused(422, "validation_error")
    assert [one["field"] for one in details["violations"]] == ["id"]
    ann.delete("/chats/{}/participants/{}", leaf, bob.name).refused(422, "validation_error")


def test_a_name_means_whoever_takes_part_in_the_tree(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    name = a_name("Bob")
    bob.patch("/people/{}", person_of(bob), body={"name": name}).expect(200)
    _, leaf = a_tree(ann, bob)
    bob.user.says(leaf, "Hello.")
    assert resolve_name(ann, name, chat_id=leaf) == person_of(bob)
    for where in ({"chat_id": leaf, "space": {"kind": "user"}}, {"space": chat_space(leaf)}):
        assert ann.adds("loves pizza", subjects=[name], **where)["subjects"] == [person_of(bob)]


def test_an_agent_asks_in_a_branch(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    bot = callers.agent(ann.registers()["id"])
    root, leaf = a_tree(ann, bob)
    ann.user.shares(root, bot.user, "writer")
    bob.user.says(leaf, "Hello.")
    his = {"space": {"kind": "user"}, "subjects": [person_of(bob)], "sensitivity": "personal"}
    bob.adds("bob likes figs", **his)
    for chat in (root, leaf):
        query = {"chat_id": chat, "asker_id": bob.name}
        assert "bob likes figs" in contents(bot.lists("/memories", **query))
        assert "bob likes figs" not in contents(bot.lists("/memories", chat_id=chat))


def test_a_rollback_of_a_branch_is_one_of_the_chat(callers: Callers) -> None:
    ann = callers.person("ann")
    root, leaf = a_tree(ann)
    ann.adds("the ferry leaves at nine", space=chat_space(root))
    ann.adds("the hotel is booked", space={"kind": "user"}, chat_id=leaf)
    for chat in (root, leaf):
        body = {"source": {"chat_id": chat}, "dry_run": True}
        assert ann.post("/rollbacks", body=body).expect(200)["archived"] == 2


def test_exports_and_imports_take_any_branch(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    root, leaf = a_tree(ann)
    ann.adds("the ferry leaves at nine", space=chat_space(leaf))
    asked: list[tuple[Caller, dict[str, str]]] = [
        (ann, {"chat_id": leaf}),
        (ann, {"spaces": f"chat:{leaf}"}),
        (callers.admin, {"chat_id": leaf}),
        (callers.admin, {"spaces": f"chat:{leaf}"}),
    ]
    for caller, query in asked:
        (memory,) = of_type(exports(caller, **query), "memory")
        assert (memory["learned_in"], memory["learned_in_conversation"]) == (root, leaf)
    chat = {"type": "chat", "id": leaf, "kind": "group", "created_by": bob.name}
    assert imports(bob, [chat | {"created_at": "2024-01-01T00:00:00Z"}])["created"] == 0
    line = a_line(space=chat_space(leaf), learned_in=leaf, origin="chat")
    other = a_line("It is red.", learned_in=root, learned_in_conversation=leaf, origin="chat")
    foreign = a_line("It is old.", learned_in=root, learned_in_conversation=a_tree(ann)[1])
    assert imports(ann, [line, other, foreign])["created"] == 3
    found = {
        one["content"]: one["learned_in_conversation"]
        for one in ann.lists("/memories", chat_id=root)
        if one["learned_in"] == root
    }
    assert found["The kettle is blue."] == found["It is red."] == leaf
    assert found["It is old."] is None
    bad = a_line("It is new.", learned_in_conversation="no conversation")
    (refused,) = imports(ann, [bad])["refused"]
    assert refused["code"] == "validation_error"
    # Whoever takes no part can't say that they learned it there.
    assert imports(bob, [a_line(learned_in=leaf, learned_in_conversation=leaf)])["created"] == 1
    (his,) = bob.lists("/memories", spaces="user")
    assert (his["learned_in"], his["learned_in_conversation"]) == (None, None)


def test_the_id_of_a_named_chat_becomes_no_branch(callers: Callers) -> None:
    ann = callers.person("ann")
    root = str(ann.user.starts()["id"])
    entry, named = ann.user.says(root, "Hello."), new_id()
    ann.put("/chats/{}", named, body=GROUP).expect(201)
    body = {
        "channel": "history",
        "contentType": "history",
        "content": [{"role": "USER", "text": "x"}],
        "forkedAtConversationId": root,
        "forkedAtEntryId": entry["id"],
    }
    ann.user.call("append", named, body=body).expect(403)
    assert ann.get("/chats/{}", named).expect(200)["tree"] is False
