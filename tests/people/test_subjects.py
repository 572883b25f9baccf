"""Whom names mean, in a question and in a write, and what is remembered of them."""

from typing import Any

import pytest

from tests.people.test_chats import a_chat
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import a_name, knows, resolve_name, self_of
from tests.support.world import at_once

pytestmark = pytest.mark.surfaces("grpc", scenarios_only=True)


def test_a_name_means_whom_the_speaker_calls_so_before_anybody_else(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    name = a_name("Kim")
    first = knows(ann, name)
    assert resolve_name(bob, name) == first["id"], "one in the org"
    mine = knows(bob, name)
    assert resolve_name(bob, f"my  {name.upper()}") == mine["id"]
    found = callers.person("cid").post("/people/resolve", body={"name": name}).expect(200)
    assert (found["person"], found["ambiguous"]) == (None, False)
    assert {one["id"] for one in found["candidates"]} == {first["id"], mine["id"]}
    second = knows(bob, name)
    doubt = bob.post("/people/resolve", body={"name": name}).expect(200)
    assert (doubt["person"], doubt["ambiguous"]) == (None, True)
    assert {one["id"] for one in doubt["candidates"]} == {mine["id"], second["id"]}


def test_resolving_makes_nobody_and_needs_a_chat_that_the_caller_is_in(callers: Callers) -> None:
    ann = callers.person("ann")
    name = a_name("Nobody")
    assert resolve_name(ann, name) is None
    assert ann.lists("/people", query=name) == []
    ann.post("/people/resolve", body={"name": name, "chat_id": "no such"}).refused(404, "not_found")
    ann.post("/people/resolve", body={"name": ""}).refused(422, "validation_error")


@pytest.mark.scenario(57)
def test_one_first_name_means_each_speakers_own(callers: Callers) -> None:
    p, q = callers.person("p"), callers.person("q")
    name = a_name("Sam")
    coworker = knows(p, name, relationships=[{"relationship": "coworker"}])
    wife = knows(q, name, relationships=[{"relationship": "wife"}])
    assert resolve_name(p, name) == resolve_name(p, "my co-worker") == coworker["id"]
    assert resolve_name(q, name) == resolve_name(q, "my wife") == wife["id"]
    assert resolve_name(p, "my wife") is None
    shared = knows(p, a_name("Jo"))
    for caller in (p, q):
        caller.post("/people/{}/relationships", shared["id"], body={"relationship": "friend"})
        (claim,) = caller.get("/people/{}", shared["id"]).expect(200)["relationships"]
        assert claim["stated_by"] == caller.name
        assert resolve_name(caller, "my friend") == shared["id"]


def about(caller: Caller, person_id: str, **query: Any) -> list[str]:
    """What the caller is told of a person."""
    found = caller.lists("/people/{}/memories", person_id, **query)
    return [one["content"] for one in found]


OWN = {"space": {"kind": "user"}}


def test_a_name_in_a_write_makes_one_person_for_its_speaker(callers: Callers) -> None:
    ann = callers.person("ann")
    name = a_name("Rui")
    first = ann.adds("likes tea", subjects=[name, "me"], **OWN)
    again = ann.adds("likes rain", subjects=[name.upper(), first["subjects"][0]], **OWN)
    assert first["subjects"][1] == self_of(ann)["id"]
    assert again["subjects"] == [first["subjects"][0]]
    assert resolve_name(ann, name) == first["subjects"][0]
    made = ann.get("/people/{}", first["subjects"][0]).expect(200)
    assert (made["name"], made["created_by"]) == (name, ann.name)


def test_one_new_name_in_many_writes_at_once_is_one_person(callers: Callers) -> None:
    ann = callers.person("ann")
    name = a_name("Rui")
    self_of(ann)
    body = {"subjects": [name], **OWN}
    made = at_once(
        [lambda n=n: ann.adds(f"fact {n}", **body)["subjects"] for n in range(8)]  # type: ignore[misc]
    )
    assert len({subject for subjects in made for subject in subjects}) == 1


def test_a_word_such_as_my_wife_means_somebody_else_for_each_speaker(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    (of_ann,) = ann.adds("likes tea", subjects=["my wife"], **OWN)["subjects"]
    (of_bob,) = bob.adds("likes rain", subjects=["my wife"], **OWN)["subjects"]
    assert of_ann != of_bob
    assert ann.adds("likes snow", subjects=["My Wifey"], **OWN)["subjects"] == [of_ann]
    bob.get("/people/{}", of_ann).refused(404, "not_found")
    (claim,) = ann.get("/people/{}", of_ann).expect(200)["relationships"]
    assert (claim["relationship"], claim["to_person_id"]) == ("wife", self_of(ann)["id"])


def test_a_name_that_may_mean_several_is_refused_with_the_candidates(callers: Callers) -> None:
    ann = callers.person("ann")
    name = a_name("Kim")
    both = [knows(ann, name)["id"] for _ in range(2)]
    body = {"content": "likes tea", "subjects": ["me", name], **OWN}
    details = ann.post("/memories", body=body).refused(422, "ambiguous_subject")
    assert details["field"] == "subjects[1]"
    assert sorted(details["candidates"]) == sorted(both)
    assert name not in str(details)
    ann.adds("likes tea", subjects=[both[1]], **OWN)


def test_a_stranger_or_an_agents_self_is_no_subject(callers: Callers) -> None:
    ann, eve = callers.person("ann", orgs=("acme",)), callers.person("eve", orgs=("other",))
    sam = knows(ann, a_name("Sam"))
    eve.post("/memories", body={"content": "x", "subjects": [sam["id"]], **OWN}).refused(
        404, "not_found"
    )
    agent = ann.registers(name="Guide", owner_id=None)
    robot = callers.agent(agent["id"], orgs=["acme"])
    body = {"content": "x", "agent_id": agent["id"], "subjects": ["me"]}
    robot.post("/memories", body=body).refused(422, "validation_error")


def test_memories_about_a_person_come_as_far_as_they_may_be_told(callers: Callers) -> None:
    ann, bob, eve = (
        callers.person("ann"),
        callers.person("bob"),
        callers.person("eve", orgs=("other",)),
    )
    of_bob = self_of(bob)
    ann.adds("likes tea", subjects=[of_bob["id"]], **OWN)
    ann.adds("is ill", subjects=[of_bob["id"]], sensitivity="sensitive", **OWN)
    ann.adds("stays here", subjects=[of_bob["id"]], portable=False, **OWN)
    bob.adds("likes rain", subjects=["me"], **OWN)
    bob.adds("is about nobody", **OWN)
    assert about(bob, of_bob["id"]) == ["likes rain", "is ill", "likes tea"]
    assert about(bob, of_bob["id"], exclude_owner_user_id=ann.name) == ["likes rain"]
    assert about(bob, of_bob["id"], sensitivity="sensitive") == ["is ill"]
    assert about(bob, of_bob["id"], limit=1) == about(bob, of_bob["id"])
    assert about(ann, of_bob["id"]) == ["is ill", "likes tea"], "her own, as she said them"
    cid = callers.person("cid")
    assert about(cid, of_bob["id"]) == []
    eve.get("/people/{}/memories", of_bob["id"]).refused(404, "not_found")
    bob.get("/people/{}/memories", of_bob["id"], spaces="all").refused(422, "validation_error")


def test_what_is_not_portable_comes_in_its_own_chat_only(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    of_bob = self_of(bob)
    here, elsewhere = a_chat(ann, bob), a_chat(ann, bob)
    space = {"kind": "chat", "id": here}
    ann.adds("presents next", subjects=[of_bob["id"]], portable=False, space=space)
    assert about(bob, of_bob["id"], chat_id=here) == ["presents next"]
    assert about(bob, of_bob["id"], chat_id=elsewhere) == []
    assert about(bob, of_bob["id"]) == []
