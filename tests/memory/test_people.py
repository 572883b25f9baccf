"""People: who is known to whom, what they are called, and which two are one."""

from typing import Any

import pytest

from recollect.domain.disclosure import PersonId
from recollect.domain.memories import Memory, MemoryId
from recollect.domain.spaces import Space, SpaceKind
from tests.memory.shelf import Shelf
from tests.memory.test_chats import a_chat
from tests.support.town import Asker, Town
from tests.support.world import new_id


def self_of(asker: Asker) -> dict[str, Any]:
    """The caller's own person."""
    found = asker.post("/people/resolve", body={"name": "me"}).expect(200)
    person: dict[str, Any] = found["person"]
    return person


def knows(asker: Asker, name: str, **members: Any) -> dict[str, Any]:
    """Make somebody known."""
    person: dict[str, Any] = asker.post("/people", body={"name": name} | members).expect(201)
    return person


def meant(asker: Asker, name: str, **members: Any) -> str | None:
    """Whom a name means: an id, or nobody."""
    found = asker.post("/people/resolve", body={"name": name} | members).expect(200)
    return found["person"]["id"] if found["person"] else None


def merges(asker: Asker, primary: dict[str, Any], secondary: dict[str, Any], **members: Any) -> Any:
    """The reply to a merge."""
    body = {"primary_id": primary["id"], "secondary_id": secondary["id"]} | members
    return asker.post("/people/merge", body=body)


def kept(shelf: Shelf, memory_id: str) -> Memory:
    """A memory as it is stored."""
    storage = shelf.storage
    stored = storage.ask(storage.stores.memories.fetch, MemoryId(memory_id))
    assert stored is not None
    return stored.memory


def a_name(stem: str) -> str:
    """A name that only this test knows."""
    return f"{stem} {new_id()}"


def test_a_person_is_shown_whole_to_who_made_them_and_by_name_to_the_org(town: Town) -> None:
    ann, bob = town.person("ann"), town.person("bob")
    sam = knows(
        ann,
        a_name("Sam"),
        aliases=[{"value": "Sammy"}, {"value": "@sam_1", "kind": "handle", "provider": "x"}],
        relationships=[{"relationship": "therapist"}],
        metadata={"note": 1},
    )
    assert [alias["value"] for alias in sam["aliases"]] == ["Sammy", "@sam_1"]
    assert sam["relationships"][0]["to_person_id"] == self_of(ann)["id"]
    assert sam["created_by"] == ann.name
    assert ann.get("/people/{}", sam["id"]).expect(200) == sam
    seen = bob.get("/people/{}", sam["id"]).expect(200)
    assert seen == sam | {
        "aliases": [],
        "relationships": [],
        "created_by": None,
        "metadata": None,
    }


def test_another_org_does_not_know_the_person(town: Town) -> None:
    ann, eve = town.person("ann", orgs=("acme",)), town.person("eve", orgs=("other",))
    sam = knows(ann, a_name("Sam"))
    eve.get("/people/{}", sam["id"]).refused(404, "not_found")
    assert eve.lists("/people", query=sam["name"]) == []
    assert sam["id"] not in {one["id"] for one in eve.lists("/people")}
    assert meant(eve, sam["name"]) is None
    eve.patch("/people/{}", sam["id"], body={"name": "X"}).refused(404, "not_found")
    eve.post("/people/{}/relationships", sam["id"], body={"relationship": "boss"}).refused(
        404, "not_found"
    )
    merges(eve, self_of(eve), sam).refused(404, "not_found")
    eve.get("/people/{}", new_id()).refused(404, "not_found")


def test_people_who_share_a_chat_know_each_others_users(town: Town) -> None:
    ann, eve = town.person("ann", orgs=("acme",)), town.person("eve", orgs=("other",))
    me = self_of(ann)
    assert me["user_id"] == ann.name
    eve.get("/people/{}", me["id"]).refused(404, "not_found")
    colleague = town.person("cid", orgs=("acme",))
    shown = colleague.get("/people/{}", me["id"]).expect(200)
    assert (shown["user_id"], shown["created_by"]) == (None, None)
    chat_id = a_chat(ann, eve)
    assert eve.get("/people/{}", me["id"]).expect(200)["user_id"] == ann.name
    assert meant(eve, me["name"], chat_id=chat_id) == me["id"]
    eve.delete("/chats/{}/participants/{}", chat_id, eve.name).expect(204)
    eve.get("/people/{}", me["id"]).refused(404, "not_found")


def test_only_who_made_a_person_changes_them_and_only_oneself_the_time_zone(town: Town) -> None:
    ann, bob = town.person("ann"), town.person("bob")
    sam = knows(ann, a_name("Sam"))
    bob.patch("/people/{}", sam["id"], body={"name": "X"}).refused(403, "not_owner")
    ann.patch("/people/{}", sam["id"], body={"time_zone": "Europe/Lisbon"}).refused(
        403, "not_owner"
    )
    name = a_name("Samuel")
    changed = ann.patch("/people/{}", sam["id"], body={"name": name, "metadata": {"a": 1}})
    assert changed.expect(200)["name"] == name
    me = self_of(ann)
    zoned = ann.patch("/people/{}", me["id"], body={"time_zone": "Europe/Lisbon"}).expect(200)
    assert zoned["time_zone"] == "Europe/Lisbon"
    assert bob.get("/people/{}", me["id"]).expect(200)["time_zone"] is None
    for body in ({"time_zone": "Mars/Base"}, {"name": " "}, {"nmae": "x"}):
        ann.patch("/people/{}", me["id"], body=body).refused(422, "validation_error")


@pytest.mark.scenario(42)
def test_a_claim_is_for_its_stater_alone(town: Town) -> None:
    """P claims that S is a therapist: R sees the name of S at most."""
    p, r, s = (town.person(name) for name in "prs")
    of_s = self_of(s)
    claim = p.post(
        "/people/{}/relationships", of_s["id"], body={"relationship": "therapist"}
    ).expect(201)
    p_person = knows(p, a_name("Shrink"), aliases=[{"value": "the therapist"}])
    assert claim["stated_by"] == p.name
    assert p.get("/people/{}", of_s["id"]).expect(200)["relationships"] == [claim]
    assert s.get("/people/{}", of_s["id"]).expect(200)["relationships"] == [claim]
    shown = r.get("/people/{}", of_s["id"]).expect(200)
    assert shown["relationships"] == []
    listed = r.lists("/people")
    assert {of_s["id"], p_person["id"]} <= {one["id"] for one in listed}
    assert "therapist" not in str([one for one in listed if one["id"] != r.name])
    assert r.lists("/people", query="therapist") == []
    assert [one["id"] for one in p.lists("/people", query="therapist")] == [p_person["id"]]
    assert meant(p, "my therapist") is None, "two may be meant"
    assert meant(r, "my therapist") is None
    assert meant(r, "the therapist") is None
    r.delete("/people/{}/relationships/{}", of_s["id"], claim["id"]).refused(404, "not_found")
    s.delete("/people/{}/relationships/{}", of_s["id"], claim["id"]).refused(403, "not_owner")
    p.delete("/people/{}/relationships/{}", of_s["id"], claim["id"]).expect(204)
    assert s.get("/people/{}", of_s["id"]).expect(200)["relationships"] == []


def test_an_alias_is_withdrawn_by_its_stater(town: Town) -> None:
    ann, bob = town.person("ann"), town.person("bob")
    sam = knows(ann, a_name("Sam"))
    bob.post("/people/{}/aliases", sam["id"], body={"value": "Sammy"}).refused(403, "not_owner")
    alias = ann.post("/people/{}/aliases", sam["id"], body={"value": "Sammy"}).expect(201)
    again = ann.post("/people/{}/aliases", sam["id"], body={"value": "sammy "}).expect(201)
    assert again == alias, "a repeat adds nothing"
    bob.delete("/people/{}/aliases/{}", sam["id"], "Sammy").refused(404, "not_found")
    ann.delete("/people/{}/aliases/{}", sam["id"], "Sammy").expect(204)
    ann.delete("/people/{}/aliases/{}", sam["id"], "Sammy").refused(404, "not_found")


def test_a_handle_of_a_user_is_for_that_user_or_an_admin_to_give(town: Town) -> None:
    ann, bob = town.person("ann"), town.person("bob")
    handle = f"@q_{new_id()}"
    body = {"value": handle, "kind": "handle"}
    of_bob = self_of(bob)
    ann.post("/people/{}/aliases", of_bob["id"], body=body).refused(403, "not_owner")
    bob.post("/people/{}/aliases", of_bob["id"], body=body).expect(201)
    assert meant(ann, handle) == of_bob["id"]
    # A stranger who takes the same handle gets nothing that is meant for the user.
    knows(ann, a_name("Bob"), aliases=[body])
    assert meant(town.person("cid"), handle) == of_bob["id"]
    town.admin.post(
        "/people/{}/aliases", of_bob["id"], body={"value": "bobby_9", "kind": "handle"}
    ).expect(201)


def test_a_name_means_whom_the_speaker_calls_so_before_anybody_else(town: Town) -> None:
    ann, bob = town.person("ann"), town.person("bob")
    name = a_name("Kim")
    first = knows(ann, name)
    assert meant(bob, name) == first["id"], "one in the org"
    mine = knows(bob, name)
    assert meant(bob, f"my  {name.upper()}") == mine["id"]
    found = town.person("cid").post("/people/resolve", body={"name": name}).expect(200)
    assert (found["person"], found["ambiguous"]) == (None, False)
    assert {one["id"] for one in found["candidates"]} == {first["id"], mine["id"]}
    second = knows(bob, name)
    doubt = bob.post("/people/resolve", body={"name": name}).expect(200)
    assert (doubt["person"], doubt["ambiguous"]) == (None, True)
    assert {one["id"] for one in doubt["candidates"]} == {mine["id"], second["id"]}


def test_resolving_makes_nobody_and_needs_a_chat_that_the_caller_is_in(town: Town) -> None:
    ann = town.person("ann")
    name = a_name("Nobody")
    assert meant(ann, name) is None
    assert ann.lists("/people", query=name) == []
    ann.post("/people/resolve", body={"name": name, "chat_id": "no such"}).refused(
        404, "not_found"
    )
    ann.post("/people/resolve", body={"name": ""}).refused(422, "validation_error")


def test_people_are_found_by_parts_of_names_the_closest_first(town: Town) -> None:
    ann = town.person("ann")
    mark = new_id()
    inside = knows(ann, f"Joe x{mark}")
    start = knows(ann, f"Joe {mark} Smith")
    equal = knows(ann, mark)
    aliased = knows(ann, a_name("Z"), aliases=[{"value": f"old {mark}"}])
    found = [one["id"] for one in ann.lists("/people", query=mark.upper(), limit=1)]
    assert found == [equal["id"], aliased["id"], start["id"], inside["id"]]
    assert ann.lists("/people", query=f"{mark}%") == []
    assert ann.lists("/people", query="Joe_") == [], "every character is meant as it is"
    ann.get("/people", after="nonsense").refused(422, "validation_error")


@pytest.mark.scenario(55)
def test_two_users_of_one_display_name_stay_two_people(town: Town) -> None:
    ann, bob = town.person("ann"), town.person("bob")
    name = a_name("Alex")
    one, other = self_of(ann), self_of(bob)
    assert one["id"] != other["id"]
    for asker, person in ((ann, one), (bob, other)):
        asker.patch("/people/{}", person["id"], body={"name": name}).expect(200)
        assert self_of(asker)["id"] == person["id"]
    assert ann.get("/people/duplicates").expect(200)["data"] == []
    for asker in (ann, bob, town.admin):
        assert merges(asker, one, other).refused(409, "conflict")["reason"] == "both_users"
    merges(town.person("eve"), one, other).refused(403, "not_owner")
    merges(ann, one, other, link_users=True).refused(409, "conflict")
    linked = merges(town.admin, one, other, link_users=True).expect(200)
    assert linked["moved"]["users"] == 1
    assert self_of(bob)["id"] == one["id"]
    bob.post("/people/{}/unmerge", one["id"], body={"secondary_id": other["id"]}).expect(200)
    assert (self_of(ann)["id"], self_of(bob)["id"]) == (one["id"], other["id"])


@pytest.mark.scenario(56)
def test_either_id_of_merged_people_finds_everything_until_unmerged(
    town: Town, shelf: Shelf
) -> None:
    ann, eve = town.person("ann"), town.person("eve")
    p, q = knows(ann, a_name("P")), knows(ann, a_name("Q"))
    space = Space(SpaceKind.USER, ann.name)
    about = {
        ids: shelf.puts(space, subjects=tuple(PersonId(one["id"]) for one in ids_of))
        for ids, ids_of in (("p", [p]), ("q", [q]), ("both", [p, q]), ("qp", [q, p]))
    }
    said = shelf.puts(space, stated_by=PersonId(q["id"]))
    subjects_before = {id_: kept(shelf, id_).subjects for id_ in about.values()}
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
    assert meant(ann, q["name"]) == p["id"]
    for id_ in (p["id"], q["id"]):
        found = ann.lists("/memories", spaces="all", subjects=id_)
        assert {one["id"] for one in found} == set(about.values())
    assert {one["subjects"][0] for one in found} == {p["id"]}
    assert kept(shelf, said).stated_by == p["id"]

    eve.post("/people/{}/unmerge", p["id"], body={"secondary_id": q["id"]}).refused(
        403, "not_owner"
    )
    ann.post("/people/{}/unmerge", p["id"], body={"secondary_id": q["id"]}).expect(200)
    ann.post("/people/{}/unmerge", p["id"], body={"secondary_id": q["id"]}).refused(
        409, "conflict"
    )
    restored = ann.get("/people/{}", q["id"]).expect(200)
    assert restored == q | {"updated_at": restored["updated_at"]}
    assert {id_: kept(shelf, id_).subjects for id_ in about.values()} == subjects_before
    assert ann.lists("/chats/{}/participants", chat_id, include_left="true") == stays_before
    assert kept(shelf, said).stated_by == q["id"]


def test_a_chain_of_merges_leads_on_in_one_step_and_is_undone_in_any_order(town: Town) -> None:
    ann = town.person("ann")
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


@pytest.mark.scenario(57)
def test_one_first_name_means_each_speakers_own(town: Town) -> None:
    p, q = town.person("p"), town.person("q")
    name = a_name("Sam")
    coworker = knows(p, name, relationships=[{"relationship": "coworker"}])
    wife = knows(q, name, relationships=[{"relationship": "wife"}])
    assert meant(p, name) == meant(p, "my co-worker") == coworker["id"]
    assert meant(q, name) == meant(q, "my wife") == wife["id"]
    assert meant(p, "my wife") is None
    shared = knows(p, a_name("Jo"))
    for asker in (p, q):
        asker.post("/people/{}/relationships", shared["id"], body={"relationship": "friend"})
        (claim,) = asker.get("/people/{}", shared["id"]).expect(200)["relationships"]
        assert claim["stated_by"] == asker.name
        assert meant(asker, "my friend") == shared["id"]


def test_pairs_that_may_be_one_are_listed_for_who_may_merge_them(town: Town) -> None:
    ann, bob = town.person("ann"), town.person("bob")
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


def test_a_person_goes_only_while_no_memory_of_others_is_about_them(
    town: Town, shelf: Shelf
) -> None:
    ann, bob = town.person("ann"), town.person("bob")
    sam = knows(ann, a_name("Sam"))
    own = shelf.puts(Space(SpaceKind.USER, ann.name), subjects=(PersonId(sam["id"]),))
    others = shelf.puts(Space(SpaceKind.USER, bob.name), subjects=(PersonId(sam["id"]),))
    bob.delete("/people/{}", sam["id"]).refused(403, "not_owner")
    ann.delete("/people/{}", self_of(ann)["id"]).refused(403, "not_owner")
    blocked = ann.delete("/people/{}", sam["id"])
    assert blocked.refused(409, "conflict")["reason"] == "has_memories"
    shelf.storage.do(shelf.storage.stores.memories.delete, others, at=shelf.now)
    ann.delete("/people/{}", sam["id"]).expect(204)
    ann.get("/people/{}", sam["id"]).refused(404, "not_found")
    assert kept(shelf, own).subjects == ()


@pytest.mark.scenario(50)
@pytest.mark.parametrize("member", ["name", "aliases[0].value", "metadata.note"])
def test_a_secret_in_what_is_said_of_a_person_is_refused(town: Town, member: str) -> None:
    ann = town.person("ann")
    secret = "ghp_" + "a1" * 18
    body: dict[str, Any] = {"name": "Sam", "aliases": [{"value": "S"}], "metadata": {}}
    changes: dict[str, dict[str, Any]] = {
        "name": {"name": secret},
        "aliases[0].value": {"aliases": [{"value": secret}]},
        "metadata.note": {"metadata": {"note": secret}},
    }
    refused = ann.post("/people", body=body | changes[member])
    assert refused.refused(422, "secret_refused") == {"field": member, "family": "provider_key"}
    assert secret not in str(refused.body)


def test_changes_of_people_are_told_in_events_without_names(town: Town, shelf: Shelf) -> None:
    ann = town.person("ann")
    name = a_name("Secretive")
    p, q = knows(ann, name), knows(ann, a_name("Q"))
    ann.patch("/people/{}", p["id"], body={"name": a_name("Secretive")}).expect(200)
    merges(ann, p, q).expect(200)
    ann.post("/people/{}/unmerge", p["id"], body={"secondary_id": q["id"]}).expect(200)
    for action in ("create", "update", "merge", "unmerge"):
        told = [one for one in shelf.events("person", action) if one["person_id"] == p["id"]]
        assert len(told) == 1, action
        assert "Secretive" not in str(told)


def test_equal_names_of_one_creator_are_merged_where_the_setting_says_so(
    serve: Any,
) -> None:
    town = Town(serve(people__auto_merge=True))
    ann, bob = town.person("ann"), town.person("bob")
    name = a_name("Kai")
    first, second = knows(ann, name), knows(ann, name.upper())
    assert second["id"] == first["id"]
    assert knows(bob, name)["id"] != first["id"]
