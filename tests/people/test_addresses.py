"""Names open no doors: a bare name reaches no user who did not come, and `@bob` reaches bob."""

from typing import Any

import pytest

from tests.conftest import Host
from tests.people.test_chats import a_chat, joins
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import a_name, knows, merges, person_of, resolve_name, self_of
from tests.support.memory.portability import exports, imports
from tests.support.world import at_once, new_id

pytestmark = pytest.mark.amendment(3)

OWN: dict[str, Any] = {"space": {"kind": "user"}}


def a_user_id(stem: str) -> str:
    return f"{stem}-{new_id()}"


def says_of(caller: Caller, name: str, **members: Any) -> dict[str, Any]:
    """Write a statement about somebody; the whole answer."""
    body = {"content": f"{name} loves pizza", "subjects": [name]} | OWN | members
    result: dict[str, Any] = caller.post("/memories", body=body).expect(201)
    return result


def subject_of(result: dict[str, Any]) -> str:
    (subject,) = result["memory"]["subjects"]
    return str(subject)


def warnings_of(result: dict[str, Any]) -> list[str]:
    return [one["message"] for one in result["warnings"] if one["code"] == "person_created"]


def renames(caller: Caller, name: str) -> None:
    caller.patch("/people/{}", self_of(caller)["id"], body={"name": name}).expect(200)


def hears(caller: Caller) -> list[str]:
    found = caller.lists("/people/{}/memories", person_of(caller))
    return [one["content"] for one in found]


@pytest.mark.surfaces("grpc")
@pytest.mark.parametrize("sensitivity", ["public", "sensitive"])
def test_a_bare_name_reaches_no_user_and_the_writer_is_told(
    callers: Callers, sensitivity: str
) -> None:
    tom, ann = callers.person("tom"), callers.person("ann")
    name = a_name("Tom")
    renames(tom, name)
    told = says_of(ann, name, sensitivity=sensitivity)
    assert subject_of(told) != person_of(tom)
    assert hears(tom) == []
    (message,) = warnings_of(told)
    assert name in message
    assert subject_of(told) in message
    assert ann.get("/people/{}", subject_of(told)).expect(200)["created_by"] == ann.name
    again = says_of(ann, name, content="is tall")
    assert (subject_of(again), warnings_of(again)) == (subject_of(told), [])
    for spelled in (tom.name, tom.name.upper()):
        assert subject_of(says_of(ann, spelled)) != person_of(tom)


def test_a_batch_tells_whom_it_created(callers: Callers) -> None:
    ann, name = callers.person("ann"), a_name("Tom")
    item = {"op": "create", "content": "x", "subjects": [name], **OWN}
    body = {"items": [item, item | {"content": "y"}]}
    first, second = ann.post("/memories/batch", body=body).expect(200)["results"]
    assert [one["code"] for one in first["warnings"]] == ["person_created"]
    assert "warnings" not in second


def test_a_bare_name_reaches_the_speaker_and_whoever_takes_part(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    hers, his = a_name("Ann"), a_name("Bob")
    renames(ann, hers)
    renames(bob, his)
    chat = a_chat(ann, bob)
    joins(bob, chat, bob)
    assert subject_of(says_of(ann, hers)) == person_of(ann)
    assert subject_of(says_of(ann, his, chat_id=chat)) == person_of(bob)
    assert resolve_name(ann, his) is None


def test_a_bare_name_reaches_whom_the_speaker_called_so(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    body = {"relationship": "boss"}
    ann.post("/people/{}/relationships", person_of(bob), body=body).expect(201)
    assert subject_of(says_of(ann, "my boss")) == person_of(bob)
    assert subject_of(says_of(callers.person("cid"), "my boss")) != person_of(bob)


@pytest.mark.surfaces("grpc")
def test_a_handle_said_before_the_users_first_call_reaches_that_user(callers: Callers) -> None:
    ann, cid = callers.person("ann"), callers.person("cid")
    bob = callers.person("bob")
    first = says_of(ann, f"@{bob.name}", content="loves pizza")
    second = says_of(cid, f"@{bob.name.upper()}", content="loves figs")
    assert subject_of(first) == subject_of(second)
    assert (len(warnings_of(first)), warnings_of(second)) == (1, [])
    assert set(hears(bob)) == {"loves pizza", "loves figs"}
    me = self_of(bob)
    assert (me["user_id"], me["created_by"]) == (bob.name, bob.name)
    third = says_of(ann, f"@{bob.name}", content="loves tea")
    assert subject_of(third) == me["id"]
    assert ann.get("/people/{}", subject_of(first)).expect(200)["id"] == me["id"]
    # What was said with the mark names nobody without it.
    assert subject_of(says_of(ann, bob.name, content="x")) != me["id"]


def test_a_user_who_is_brought_into_a_chat_takes_over_what_was_said(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    told = says_of(ann, f"@{bob.name}")
    chat = a_chat(ann)
    joined = ann.put("/chats/{}/participants/{}", chat, bob.name, body={"kind": "user"})
    assert ann.get("/people/{}", subject_of(told)).expect(200)["id"] == joined.body["person_id"]
    assert len(hears(bob)) == 1


def test_a_handle_said_by_many_at_once_is_one_person(callers: Callers) -> None:
    speakers = [callers.person(f"s{n}") for n in range(6)]
    for one in speakers:
        self_of(one)
    bob = callers.person("bob")
    calls = [lambda one=one: says_of(one, f"@{bob.name}") for one in speakers]
    made = at_once(calls)
    assert len({subject_of(one) for one in made}) == 1
    assert len(hears(bob)) == len(speakers)


def test_who_first_says_a_handle_has_no_rights_over_its_bearer(callers: Callers) -> None:
    eve, ann, bob = callers.person("eve"), callers.person("ann"), callers.person("bob")
    awaited = {"id": subject_of(says_of(eve, f"@{bob.name}", content="x"))}
    path = "/people/{}"
    eve.patch(path, awaited["id"], body={"name": "Eve"}).refused(403, "not_owner")
    eve.delete(path, awaited["id"]).refused(403, "not_owner")
    handle = {"value": f"@{a_user_id('h')}", "kind": "handle"}
    for alias in (handle, {"value": "Eve"}):
        eve.post(f"{path}/aliases", awaited["id"], body=alias).refused(403, "not_owner")
    for pair in ((self_of(eve), awaited), (awaited, self_of(eve)), (knows(eve, "Z"), awaited)):
        merges(eve, *pair).refused(403, "not_owner")
    assert awaited["id"] not in str(eve.lists("/people/duplicates"))
    says_of(ann, f"@{bob.name}", content="y", sensitivity="sensitive")
    assert eve.lists(f"{path}/memories", awaited["id"]) != []
    assert "y" not in [one["content"] for one in eve.lists(f"{path}/memories", awaited["id"])]
    assert set(hears(bob)) == {"x", "y"}


def test_a_stranger_with_that_name_takes_no_handle_away(callers: Callers) -> None:
    eve, ann, bobby = callers.person("eve"), callers.person("ann"), callers.person("bobby")
    handle = f"@{a_user_id('bobby')}"
    stated = {"value": handle, "kind": "handle"}
    bobby.post("/people/{}/aliases", self_of(bobby)["id"], body=stated).expect(201)
    knows(eve, handle.removeprefix("@"))
    knows(eve, bobby.name)
    knows(eve, "Zed", aliases=[stated, {"value": handle}])
    for said in (handle, handle.upper(), f"@{bobby.name}"):
        assert resolve_name(ann, said) == person_of(bobby)
    assert resolve_name(ann, handle.removeprefix("@")) != person_of(bobby)


def test_a_stranger_who_claims_a_handle_first_is_not_whom_others_reach(callers: Callers) -> None:
    eve, ann, bob = callers.person("eve"), callers.person("ann"), callers.person("bob")
    stated = {"value": f"@{bob.name}", "kind": "handle"}
    zed = knows(eve, "Zed", aliases=[stated])
    eve.post("/people/{}/aliases", self_of(eve)["id"], body=stated).expect(201)
    assert subject_of(says_of(eve, f"@{bob.name}")) == person_of(eve)
    assert hears(bob) == []
    assert subject_of(says_of(ann, f"@{bob.name}")) == person_of(bob) != zed["id"]


def test_two_users_who_state_one_handle_bear_it_neither(callers: Callers) -> None:
    ann, bob, cid = callers.person("ann"), callers.person("bob"), callers.person("cid")
    stated = {"value": f"@{a_user_id('both')}", "kind": "handle"}
    for one in (bob, cid):
        one.post("/people/{}/aliases", self_of(one)["id"], body=stated).expect(201)
    assert resolve_name(ann, stated["value"]) is None
    assert resolve_name(bob, stated["value"]) == person_of(bob), "the speaker's own claim"
    told = callers.admin.post("/people/{}/aliases", person_of(cid), body=stated)
    told.expect(201)
    for speaker in (ann, bob):
        assert resolve_name(speaker, stated["value"]) == person_of(cid), "an admin says so"


def test_ones_own_claim_of_a_handle_counts_for_oneself_alone(callers: Callers) -> None:
    ann, cid = callers.person("ann"), callers.person("cid")
    stated = {"value": f"@{a_user_id('kim')}", "kind": "handle"}
    kim = knows(ann, "Kim", aliases=[stated])
    assert resolve_name(ann, stated["value"]) == kim["id"]
    assert resolve_name(cid, stated["value"]) is None
    assert subject_of(says_of(cid, stated["value"])) != kim["id"]
    assert resolve_name(ann, stated["value"]) == kim["id"]


def test_a_handle_is_one_of_the_chats_provider(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    handle, chat = f"@{a_user_id('bobby')}", f"slack {new_id()}"
    ann.put("/chats/{}", chat, body={"kind": "group", "provider": "Slack"}).expect(201)
    for provider, owner in (("slack", bob), ("discord", ann)):
        stated = {"value": handle, "kind": "handle", "provider": provider}
        owner.post("/people/{}/aliases", self_of(owner)["id"], body=stated).expect(201)
    assert resolve_name(ann, handle, chat_id=chat) == person_of(bob)
    assert resolve_name(ann, handle) is None
    # A user of ours is not the provider's user of that name, unless they take part.
    cid = callers.person("cid")
    self_of(cid)
    assert resolve_name(ann, f"@{cid.name}", chat_id=chat) is None
    there = subject_of(says_of(ann, f"@{cid.name}", chat_id=chat))
    assert there not in (person_of(cid), subject_of(says_of(ann, f"@{cid.name}")))
    joins(ann, chat, cid)
    assert resolve_name(ann, f"@{cid.name}", chat_id=chat) == there
    joins(cid, chat, cid)
    assert resolve_name(ann, f"@{cid.name}", chat_id=chat) == person_of(cid)


def test_a_user_of_another_org_hears_nothing_of_a_handle_said_in_ours(callers: Callers) -> None:
    ann = callers.person("ann", orgs=("acme",))
    bob = callers.person("bob", orgs=("other",))
    self_of(bob)
    told = says_of(ann, f"@{bob.name}")
    assert subject_of(told) != person_of(bob)
    assert hears(bob) == []
    bob.get("/people/{}", subject_of(told)).refused(404, "not_found")
    with_us = callers.now_in(bob, "acme")
    assert len(hears(with_us)) == 1
    assert subject_of(says_of(ann, f"@{bob.name}", content="x")) == person_of(bob)


def test_an_awaited_person_is_found_by_no_bare_name(callers: Callers) -> None:
    ann, cid, bob = callers.person("ann"), callers.person("cid"), callers.person("bob")
    awaited = subject_of(says_of(ann, f"@{bob.name}"))
    for speaker in (ann, cid):
        assert subject_of(says_of(speaker, bob.name, content="x")) != awaited


def test_memories_about_a_subject_are_listed_for_who_may_see_one(callers: Callers) -> None:
    ann = callers.person("ann", orgs=("acme", "other"))
    sam = knows(callers.now_in(ann, "acme"), a_name("Sam"))
    eve, cid = callers.person("eve", orgs=("other",)), callers.person("cid", orgs=("other",))
    chat = a_chat(ann, eve)
    space = {"kind": "chat", "id": chat}
    ann.adds("climbs", subjects=[sam["id"]], space=space)
    eve.get("/people/{}", sam["id"]).refused(404, "not_found")
    told = eve.lists("/people/{}/memories", sam["id"])
    assert [one["content"] for one in told] == ["climbs"]
    assert eve.lists("/people/{}/memories", sam["id"], types="event") == []
    cid.get("/people/{}/memories", sam["id"]).refused(404, "not_found")


def test_what_awaits_a_user_comes_with_an_export(host: Host) -> None:
    with host() as world:
        says_of(Callers(world).person("ann"), "@bob")
        text = exports(Callers(world).admin)
    with host() as world:
        imports(Callers(world).admin, text)
        bob = Caller(world.named("bob"), world)
        assert hears(bob) == ["@bob loves pizza"]
