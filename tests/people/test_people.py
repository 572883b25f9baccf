"""People: who is known to whom, and what they are called."""

from typing import Any

import pytest

from recollect.kernel.ids import PersonId
from recollect.kernel.space import Space, SpaceKind
from tests.people.test_chats import a_chat
from tests.support.memory.callers import Callers
from tests.support.memory.people import a_name, knows, merges, resolve_name, self_of
from tests.support.memory.store import StoredMemories
from tests.support.world import new_id


def test_a_person_is_shown_whole_to_who_made_them_and_by_name_to_the_org(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
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


def test_another_org_does_not_know_the_person(callers: Callers) -> None:
    ann, eve = callers.person("ann", orgs=("acme",)), callers.person("eve", orgs=("other",))
    sam = knows(ann, a_name("Sam"))
    eve.get("/people/{}", sam["id"]).refused(404, "not_found")
    assert eve.lists("/people", query=sam["name"]) == []
    assert sam["id"] not in {one["id"] for one in eve.lists("/people")}
    assert resolve_name(eve, sam["name"]) is None
    eve.patch("/people/{}", sam["id"], body={"name": "X"}).refused(404, "not_found")
    eve.post("/people/{}/relationships", sam["id"], body={"relationship": "boss"}).refused(
        404, "not_found"
    )
    merges(eve, self_of(eve), sam).refused(404, "not_found")
    eve.get("/people/{}", new_id()).refused(404, "not_found")


def test_who_leaves_an_org_is_no_longer_known_there(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    colleague = callers.person("cid", orgs=("acme",))
    me, sam = self_of(ann), knows(ann, a_name("Sam"))
    bob.get("/people/{}", me["id"]).expect(200)
    colleague.get("/people/{}", me["id"]).refused(404, "not_found")
    moved = callers.now_in(ann, "acme")
    assert self_of(moved)["id"] == me["id"]
    colleague.get("/people/{}", me["id"]).expect(200)
    bob.get("/people/{}", me["id"]).refused(404, "not_found")
    assert resolve_name(bob, me["name"]) is None
    # Whoever has no user stays known where they were introduced.
    bob.get("/people/{}", sam["id"]).expect(200)


def test_a_person_of_two_users_is_known_in_the_orgs_of_both(callers: Callers) -> None:
    ann, desk, bob = (callers.person(name) for name in ("ann", "desk", "bob"))
    eve, colleague = callers.person("eve", orgs=("other",)), callers.person("cid", orgs=("acme",))
    me = self_of(ann)
    merges(callers.admin, me, self_of(desk), link_users=True).expect(200)
    self_of(callers.now_in(ann, "acme"))
    for caller in (bob, colleague):
        caller.get("/people/{}", me["id"]).expect(200)
    self_of(callers.now_in(desk, "other"))
    for caller in (eve, colleague):
        caller.get("/people/{}", me["id"]).expect(200)
    bob.get("/people/{}", me["id"]).refused(404, "not_found")


def test_people_who_share_a_chat_know_each_others_users(callers: Callers) -> None:
    ann, eve = callers.person("ann", orgs=("acme",)), callers.person("eve", orgs=("other",))
    me = self_of(ann)
    assert me["user_id"] == ann.name
    eve.get("/people/{}", me["id"]).refused(404, "not_found")
    colleague = callers.person("cid", orgs=("acme",))
    shown = colleague.get("/people/{}", me["id"]).expect(200)
    assert (shown["user_id"], shown["created_by"]) == (None, None)
    chat_id = a_chat(ann, eve)
    assert eve.get("/people/{}", me["id"]).expect(200)["user_id"] == ann.name
    assert resolve_name(eve, me["name"], chat_id=chat_id) == me["id"]
    eve.delete("/chats/{}/participants/{}", chat_id, eve.name).expect(204)
    eve.get("/people/{}", me["id"]).refused(404, "not_found")


def test_only_who_made_a_person_changes_them_and_only_oneself_the_time_zone(
    callers: Callers,
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
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
def test_a_claim_is_for_its_stater_alone(callers: Callers) -> None:
    """P claims that S is a therapist: R sees the name of S at most."""
    p, r, s = (callers.person(name) for name in "prs")
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
    assert resolve_name(p, "my therapist") is None, "two may be meant"
    assert resolve_name(r, "my therapist") is None
    assert resolve_name(r, "the therapist") is None
    r.delete("/people/{}/relationships/{}", of_s["id"], claim["id"]).refused(404, "not_found")
    s.delete("/people/{}/relationships/{}", of_s["id"], claim["id"]).refused(403, "not_owner")
    p.delete("/people/{}/relationships/{}", of_s["id"], claim["id"]).expect(204)
    assert s.get("/people/{}", of_s["id"]).expect(200)["relationships"] == []


def test_an_alias_is_withdrawn_by_its_stater(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    sam = knows(ann, a_name("Sam"))
    bob.post("/people/{}/aliases", sam["id"], body={"value": "Sammy"}).refused(403, "not_owner")
    alias = ann.post("/people/{}/aliases", sam["id"], body={"value": "Sammy"}).expect(201)
    again = ann.post("/people/{}/aliases", sam["id"], body={"value": "sammy "}).expect(201)
    assert again == alias, "a repeat adds nothing"
    bob.delete("/people/{}/aliases/{}", sam["id"], "Sammy").refused(404, "not_found")
    ann.delete("/people/{}/aliases/{}", sam["id"], "Sammy").expect(204)
    ann.delete("/people/{}/aliases/{}", sam["id"], "Sammy").refused(404, "not_found")


def test_a_handle_of_a_user_is_for_that_user_or_an_admin_to_give(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    handle = f"@q_{new_id()}"
    body = {"value": handle, "kind": "handle"}
    of_bob = self_of(bob)
    ann.post("/people/{}/aliases", of_bob["id"], body=body).refused(403, "not_owner")
    bob.post("/people/{}/aliases", of_bob["id"], body=body).expect(201)
    assert resolve_name(ann, handle) == of_bob["id"]
    # A stranger who takes the same handle gets nothing that is meant for the user.
    knows(ann, a_name("Bob"), aliases=[body])
    assert resolve_name(callers.person("cid"), handle) == of_bob["id"]
    callers.admin.post(
        "/people/{}/aliases", of_bob["id"], body={"value": "bobby_9", "kind": "handle"}
    ).expect(201)


def test_people_are_found_by_parts_of_names_the_closest_first(callers: Callers) -> None:
    ann = callers.person("ann")
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


def test_a_person_goes_only_while_no_memory_of_others_is_about_them(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    sam = knows(ann, a_name("Sam"))
    own = stored_memories.puts(Space(SpaceKind.USER, ann.name), subjects=(PersonId(sam["id"]),))
    others = stored_memories.puts(Space(SpaceKind.USER, bob.name), subjects=(PersonId(sam["id"]),))
    bob.delete("/people/{}", sam["id"]).refused(403, "not_owner")
    ann.delete("/people/{}", self_of(ann)["id"]).refused(403, "not_owner")
    blocked = ann.delete("/people/{}", sam["id"])
    assert blocked.refused(409, "conflict")["reason"] == "has_memories"
    stored_memories.storage.do(
        stored_memories.storage.stores.memories.delete, others, at=stored_memories.now
    )
    ann.delete("/people/{}", sam["id"]).expect(204)
    ann.get("/people/{}", sam["id"]).refused(404, "not_found")
    assert stored_memories.stored(own).memory.subjects == ()


@pytest.mark.scenario(50)
@pytest.mark.parametrize("member", ["name", "aliases[0].value", "metadata.note"])
def test_a_secret_in_what_is_said_of_a_person_is_refused(callers: Callers, member: str) -> None:
    ann = callers.person("ann")
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


def test_changes_of_people_are_told_in_events_without_names(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann = callers.person("ann")
    name = a_name("Secretive")
    p, q = knows(ann, name), knows(ann, a_name("Q"))
    ann.patch("/people/{}", p["id"], body={"name": a_name("Secretive")}).expect(200)
    merges(ann, p, q).expect(200)
    ann.post("/people/{}/unmerge", p["id"], body={"secondary_id": q["id"]}).expect(200)
    for action in ("create", "update", "merge", "unmerge"):
        told = [
            one for one in stored_memories.events("person", action) if one["person_id"] == p["id"]
        ]
        assert len(told) == 1, action
        assert "Secretive" not in str(told)


def test_an_agent_knows_people_by_its_own_claims(callers: Callers) -> None:
    ann = callers.person("ann")
    robot = callers.agent(ann.registers(name="Guide")["id"])
    sam = knows(robot, a_name("Sam"), relationships=[{"relationship": "boss"}])
    assert sam["created_by"] == robot.name
    assert sam["relationships"][0]["to_person_id"] is None
    assert resolve_name(robot, "my boss") == sam["id"]
    assert resolve_name(robot, "me") is None
    assert resolve_name(ann, "my boss") is None
    renamed = robot.patch("/people/{}", sam["id"], body={"name": a_name("Sa")}).expect(200)
    assert resolve_name(robot, renamed["name"]) == sam["id"]
    ann.patch("/people/{}", sam["id"], body={"name": "X"}).refused(403, "not_owner")


def test_ids_that_nobody_can_have_are_unknown_or_refused(callers: Callers) -> None:
    ann = callers.person("ann")
    me = self_of(ann)
    for strange in ("\x00", "x" * 300):
        ann.get("/people/{}", strange).refused(404, "not_found")
        ann.delete("/people/{}/aliases/{}", me["id"], strange).refused(404, "not_found")
        ann.delete("/people/{}/relationships/{}", me["id"], strange).refused(404, "not_found")
        for path, body in (
            ("/people/merge", {"primary_id": strange, "secondary_id": me["id"]}),
            (f"/people/{me['id']}/unmerge", {"secondary_id": strange}),
            ("/people/resolve", {"name": "x", "chat_id": strange}),
            (
                "/people",
                {"name": "x", "relationships": [{"relationship": "a", "to_person_id": strange}]},
            ),
            ("/people", {"name": strange}),
        ):
            ann.post(path, body=body).refused(422, "validation_error")
