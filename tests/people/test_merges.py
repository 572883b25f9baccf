"""Two people become one, and two again."""

from typing import Any

import pytest

from recollect.kernel.ids import PersonId
from recollect.kernel.space import Space, SpaceKind
from tests.people.test_chats import a_chat
from tests.support.memory.callers import Callers
from tests.support.memory.people import a_name, knows, merges, resolve_name, self_of
from tests.support.memory.store import StoredMemories


@pytest.mark.scenario(55)
def test_two_users_of_one_display_name_stay_two_people(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    name = a_name("Alex")
    one, other = self_of(ann), self_of(bob)
    assert one["id"] != other["id"]
    for caller, person in ((ann, one), (bob, other)):
        caller.patch("/people/{}", person["id"], body={"name": name}).expect(200)
        assert self_of(caller)["id"] == person["id"]
    assert ann.get("/people/duplicates").expect(200)["data"] == []
    for caller in (ann, bob, callers.admin):
        assert merges(caller, one, other).refused(409, "conflict")["reason"] == "both_users"
    merges(callers.person("eve"), one, other).refused(403, "not_owner")
    merges(ann, one, other, link_users=True).refused(409, "conflict")
    linked = merges(callers.admin, one, other, link_users=True).expect(200)
    assert linked["moved"]["users"] == 1
    assert self_of(bob)["id"] == one["id"]
    bob.post("/people/{}/unmerge", one["id"], body={"secondary_id": other["id"]}).expect(200)
    assert (self_of(ann)["id"], self_of(bob)["id"]) == (one["id"], other["id"])


@pytest.mark.scenario(56)
def test_either_id_of_merged_people_finds_everything_until_unmerged(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann, eve = callers.person("ann"), callers.person("eve")
    p, q = knows(ann, a_name("P")), knows(ann, a_name("Q"))
    space = Space(SpaceKind.USER, ann.name)
    about = {
        ids: stored_memories.puts(space, subjects=tuple(PersonId(one["id"]) for one in ids_of))
        for ids, ids_of in (("p", [p]), ("q", [q]), ("both", [p, q]), ("qp", [q, p]))
    }
    said = stored_memories.puts(space, stated_by=PersonId(q["id"]))
    subjects_before = {id_: stored_memories.stored(id_).memory.subjects for id_ in about.values()}
    chat_id = a_chat(ann)
    for person in (p, q):
        ann.put("/chats/{}/participants/{}", chat_id, person["id"], body={"kind": "person"})
    ann.delete("/chats/{}/participants/{}", chat_id, p["id"]).expect(204)
    stays_before = ann.lists("/chats/{}/participants", chat_id, include_left="true")
    ann.post("/people/{}/aliases", q["id"], body={"value": "Cue"}).expect(201)
    q = ann.get("/people/{}", q["id"]).expect(200)

    merges(eve, p, q).refused(403, "not_owner")
    counted = merges(ann, p, q, dry_run=True).expect(200)
    assert ann.get("/people/{}", q["id"]).expect(200) == q, "a dry run changes nothing"
    merged = merges(ann, p, q).expect(200)
    assert merged["moved"] == counted["moved"]
    assert merged["moved"]["subjects"] == 3
    assert merged["person"] == ann.get("/people/{}", q["id"]).expect(200)
    assert merged["person"]["id"] == p["id"]
    assert [one["value"] for one in merged["person"]["aliases"]] == ["Cue"]
    assert merges(ann, q, p).refused(409, "conflict")["reason"] == "same_person"
    assert resolve_name(ann, q["name"]) == p["id"]
    for id_ in (p["id"], q["id"]):
        found = ann.lists("/memories", spaces="all", subjects=id_)
        assert {one["id"] for one in found} == set(about.values())
    assert {one["subjects"][0] for one in found} == {p["id"]}
    assert stored_memories.stored(said).memory.stated_by == p["id"]

    eve.post("/people/{}/unmerge", p["id"], body={"secondary_id": q["id"]}).refused(
        403, "not_owner"
    )
    ann.post("/people/{}/unmerge", p["id"], body={"secondary_id": q["id"]}).expect(200)
    ann.post("/people/{}/unmerge", p["id"], body={"secondary_id": q["id"]}).refused(409, "conflict")
    restored = ann.get("/people/{}", q["id"]).expect(200)
    assert restored == q | {"updated_at": restored["updated_at"]}
    assert {
        id_: stored_memories.stored(id_).memory.subjects for id_ in about.values()
    } == subjects_before
    assert ann.lists("/chats/{}/participants", chat_id, include_left="true") == stays_before
    assert stored_memories.stored(said).memory.stated_by == q["id"]


def test_a_chain_of_merges_leads_on_in_one_step_and_is_undone_in_any_order(
    callers: Callers,
) -> None:
    ann = callers.person("ann")
    a, b, c = (knows(ann, a_name(name)) for name in "ABC")
    merges(ann, b, a).expect(200)
    merges(ann, c, b).expect(200)
    for one in (a, b, c):
        assert ann.get("/people/{}", one["id"]).expect(200)["id"] == c["id"]
    ann.post("/people/{}/unmerge", c["id"], body={"secondary_id": a["id"]}).expect(200)
    assert ann.get("/people/{}", a["id"]).expect(200)["id"] == a["id"]
    assert ann.get("/people/{}", b["id"]).expect(200)["id"] == c["id"]
    ann.post("/people/{}/unmerge", c["id"], body={"secondary_id": b["id"]}).expect(200)
    assert [ann.get("/people/{}", x["id"]).expect(200)["id"] for x in (a, b, c)] == [
        a["id"],
        b["id"],
        c["id"],
    ]


def test_pairs_that_may_be_one_are_listed_for_who_may_merge_them(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    name = a_name("Lee")
    one, other = knows(ann, name), knows(ann, f"my {name}")
    third = knows(ann, a_name("Li"), aliases=[{"value": name}])
    knows(bob, name)
    pairs = ann.lists("/people/duplicates", limit=1)
    found = {
        (frozenset(person["id"] for person in pair["people"]), pair["reason"]) for pair in pairs
    }
    assert found == {
        (frozenset({one["id"], other["id"]}), "name"),
        (frozenset({one["id"], third["id"]}), "alias"),
        (frozenset({other["id"], third["id"]}), "alias"),
    }


def test_equal_names_of_one_creator_are_merged_where_the_setting_says_so(
    serve: Any,
) -> None:
    callers = Callers(serve(people__auto_merge=True))
    ann, bob = callers.person("ann"), callers.person("bob")
    name = a_name("Kai")
    first, second = knows(ann, name), knows(ann, name.upper())
    assert second["id"] == first["id"]
    assert knows(bob, name)["id"] != first["id"]


def test_a_merge_counts_what_its_caller_may_see_and_moves_all(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    p, q = knows(ann, a_name("P")), knows(ann, a_name("Q"), aliases=[{"value": "Cue"}])
    own: dict[str, Any] = {"space": {"kind": "user"}}
    ann.adds("lives in Porto", **own, subjects=[q["id"]])
    hidden = bob.adds("lives in Rome", **own, subjects=[q["id"]], sensitivity="sensitive")
    both = [PersonId(one["id"]) for one in (p, q)]
    stored_memories.puts(
        Space(SpaceKind.USER, bob.name), subjects=tuple(both), sensitivity="sensitive"
    )
    said = stored_memories.puts(Space(SpaceKind.USER, bob.name), stated_by=both[1])
    body = {"relationship": "boss"}
    bob.post("/people/{}/relationships", q["id"], body=body).expect(201)
    for by in (ann, bob):
        chat_id = a_chat(by)
        by.put("/chats/{}/participants/{}", chat_id, q["id"], body={"kind": "person"}).expect(200)

    counted = merges(ann, p, q, dry_run=True).expect(200)["moved"]
    assert counted == {
        "subjects": 1,
        "statements": 0,
        "edges": 1,
        "participations": 1,
        "claims": 1,
        "users": 0,
    }
    assert merges(ann, p, q).expect(200)["moved"] == counted
    assert stored_memories.events("person", "merge")[-1]["moved"] == counted
    assert stored_memories.stored(hidden["id"]).memory.subjects == (p["id"],)
    assert stored_memories.stored(said).memory.stated_by == p["id"]
    assert bob.get("/memories/{}", hidden["id"]).expect(200)["subjects"] == [p["id"]]
    undone = ann.post("/people/{}/unmerge", p["id"], body={"secondary_id": q["id"]}).expect(200)
    assert undone["moved"] == counted
