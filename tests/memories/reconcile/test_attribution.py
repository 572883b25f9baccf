"""Whose words a memory holds: nobody puts others into the mouth of who said something."""

from typing import Any

import pytest

from recollect.kernel.clock import to_text
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import person_of
from tests.support.memory.portability import MINE, a_line, codes, imports
from tests.support.memory.statements import a_chat

WHOSE = ("content", "stated_by", "trust", "subjects")


def patched(caller: Caller, memory_id: str, change: dict[str, Any]) -> dict[str, Any]:
    """The refusal of a change."""
    return caller.patch("/memories/{}", memory_id, body=change).refused(403, "subject_only")


def batched(caller: Caller, memory_id: str, change: dict[str, Any]) -> dict[str, Any]:
    """The refusal of the same change as an item of a batch."""
    body = {"items": [{"op": "update", "id": memory_id} | change]}
    return caller.post("/memories/batch", body=body).refused(403, "subject_only")


@pytest.mark.parametrize("way", [patched, batched])
def test_what_somebody_said_of_themself_is_reworded_by_themself_alone(
    callers: Callers, way: Any
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat, me = {"kind": "chat", "id": a_chat(ann, bob)}, person_of(bob)
    own = bob.adds("I love tea", space=chat, subjects=[me])
    way(ann, own["id"], {"content": "I hate tea"})
    way(ann, own["id"], {"subjects": [person_of(ann)]})
    way(ann, own["id"], {"subjects": []})
    assert bob.get("/memories/{}", own["id"]).expect(200) == own
    change = {"content": "I hate tea", "subjects": [me]}
    after = bob.patch("/memories/{}", own["id"], body=change).expect(200)
    assert (after["content"], after["trust"], after["stated_by"]) == ("I hate tea", "fact", me)


def test_a_record_of_ones_own_is_reworded_by_oneself_alone(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat = {"kind": "chat", "id": a_chat(ann, bob)}
    body = {"key": "diet", "value": {"meat": False}, "space": chat, "subjects": [person_of(bob)]}
    own = bob.post("/memories", body=body).expect(201)["memory"]
    patched(ann, own["id"], {"value": {"meat": True}})
    assert bob.get("/memories/{}", own["id"]).expect(200) == own
    bob.patch("/memories/{}", own["id"], body={"value": {"meat": True}}).expect(200)


def test_what_somebody_said_of_themself_is_moved_by_themself_alone(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat = {"kind": "chat", "id": a_chat(ann, bob)}
    own = bob.adds("I love tea", space=chat, subjects=[person_of(bob)], portable=False)
    ann.post("/memories/{}/move", own["id"], body=MINE).refused(403, "subject_only")
    assert bob.get("/memories/{}", own["id"]).expect(200) == own
    moved = bob.post("/memories/{}/move", own["id"], body=MINE).expect(201)["memory"]
    assert (moved["group_id"], moved["content"]) == (f"user-{bob.name}", "I love tea")


def test_an_agent_of_ones_own_does_not_reword_what_one_said_of_oneself(callers: Callers) -> None:
    ann = callers.person("ann")
    agent_id = ann.registers()["id"]
    own = ann.adds("I love tea", agent_id=agent_id, subjects=[person_of(ann)])
    acting = callers.agent(agent_id, act_for="owner")
    patched(acting, own["id"], {"content": "I hate tea"})
    target = {"visibility": "private"}
    acting.post("/memories/{}/move", own["id"], body=target).refused(403, "subject_only")
    acting.patch("/memories/{}", own["id"], body={"tags": ["drinks"]}).expect(200)


def test_hearsay_that_its_subject_confirmed_is_theirs_to_reword(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat, me = {"kind": "chat", "id": a_chat(ann, bob)}, person_of(bob)
    heard = ann.adds("Bob loves tea", space=chat, subjects=[me])
    assert bob.adds("Bob loves tea", space=chat, subjects=[me])["trust"] == "fact"
    patched(ann, heard["id"], {"content": "Bob hates tea"})
    bob.patch("/memories/{}", heard["id"], body={"content": "Bob likes tea"}).expect(200)


def test_others_still_mark_and_delete_what_lies_in_a_space_they_write(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat = {"kind": "chat", "id": a_chat(ann, bob)}
    own = bob.adds("I love tea", space=chat, subjects=[person_of(bob)])
    change = {"tags": ["drinks"], "content": own["content"], "subjects": own["subjects"]}
    marked = ann.patch("/memories/{}", own["id"], body=change).expect(200)
    assert (marked["tags"], marked["trust"]) == (["drinks"], "fact")
    ann.delete("/memories/{}", own["id"]).expect(204)
    bob.get("/memories/{}", own["id"]).refused(404, "not_found")


@pytest.mark.parametrize("dry_run", [True, False])
def test_an_import_puts_nothing_in_the_place_of_somebodys_own_word(
    callers: Callers, dry_run: bool
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat, me = {"kind": "chat", "id": a_chat(ann, bob)}, person_of(bob)
    own = bob.adds("I love tea", space=chat, subjects=[me])
    line = a_line("I hate tea", id=own["id"], space=chat, subjects=[me])
    report = imports(ann, [line], mode="replace", dry_run=dry_run)
    assert codes(report) == [(1, "subject_only")]
    assert bob.get("/memories/{}", own["id"]).expect(200) == own
    line = a_line("I like tea", id=own["id"], space=chat, subjects=[me])
    assert imports(bob, [line], mode="replace", dry_run=dry_run)["updated"] == 1


@pytest.mark.parametrize("subjects", [(), ("cleo",), ("ann",)])
def test_other_words_are_the_word_of_who_wrote_them(
    callers: Callers, subjects: tuple[str, ...]
) -> None:
    people = {name: callers.person(name) for name in ("ann", "bob", "cleo")}
    ann, bob = people["ann"], people["bob"]
    chat = a_chat(*people.values())
    about = [person_of(people[name]) for name in subjects]
    said = bob.adds("Tea is at four", space={"kind": "chat", "id": chat}, subjects=about)
    before = callers.world.clock.now()
    callers.world.clock.advance(seconds=1)
    after = ann.patch("/memories/{}", said["id"], body={"content": "Tea is at six"}).expect(200)
    assert after["stated_by"] == person_of(ann)
    assert after["trust"] == ("hearsay" if subjects == ("cleo",) else "fact")
    assert bob.get("/memories/{}", said["id"]).expect(200) == after
    then = bob.get("/memories/{}", said["id"], as_of=to_text(before)).expect(200)
    assert [then[name] for name in WHOSE] == [said[name] for name in WHOSE]
    steps = bob.lists("/memories/{}/history", said["id"])
    state_in_turn = [(step["by"], step["content"]) for step in steps]
    assert state_in_turn == [(ann.name, "Tea is at six"), (bob.name, "Tea is at four")]


def test_recall_names_who_wrote_the_words(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat = a_chat(ann, bob)
    said = bob.adds("I love coffee", space={"kind": "chat", "id": chat})
    ann.patch("/memories/{}", said["id"], body={"content": "I hate coffee"}).expect(200)
    context = bob.post("/memories/recall", body={"chat_id": chat}).expect(200)["context"]
    (line,) = [line for line in context.splitlines() if "coffee" in line]
    assert f"said by {ann.name}" in line
    assert bob.name not in line


def test_marks_and_ones_own_new_words_leave_the_stater(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    said = bob.adds("Tea is at four", space={"kind": "chat", "id": a_chat(ann, bob)})
    marked = ann.patch("/memories/{}", said["id"], body={"tags": ["tea"]}).expect(200)
    again = ann.patch("/memories/{}", said["id"], body={"content": said["content"]}).expect(200)
    own = bob.patch("/memories/{}", said["id"], body={"content": "Tea is at five"}).expect(200)
    assert {one["stated_by"] for one in (marked, again, own)} == {person_of(bob)}


def test_an_agents_other_words_are_nobodys(callers: Callers) -> None:
    ann = callers.person("ann")
    agent_id = ann.registers()["id"]
    said = ann.adds("Open at nine", agent_id=agent_id)
    acting = callers.agent(agent_id, act_for="owner")
    after = acting.patch("/memories/{}", said["id"], body={"content": "Open at ten"}).expect(200)
    assert (after["stated_by"], after["trust"]) == (None, "unknown")


def test_lists_of_the_past_find_words_by_who_said_them_then(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat = a_chat(ann, bob)
    said = bob.adds("Tea is at four", space={"kind": "chat", "id": chat})
    before = to_text(callers.world.clock.now())
    callers.world.clock.advance(seconds=1)
    ann.patch("/memories/{}", said["id"], body={"content": "Tea is at six"}).expect(200)
    spaces = f"chat:{chat}"
    for who, now, then in ((ann, 1, 0), (bob, 0, 1)):
        query = {"spaces": spaces, "stated_by": person_of(who)}
        assert len(ann.lists("/memories", **query)) == now
        assert len(ann.lists("/memories", **query, as_of=before)) == then
