"""Whose presence in a chat counts: those who mean to take part, not everybody who was put in."""

from dataclasses import replace
from typing import Any

import pytest

from tests.conftest import Serve
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.disclosure import OWN, a_chat, invites
from tests.support.memory.people import person_of
from tests.support.world import new_id

pytestmark = pytest.mark.amendment(2)

ONE = "/chats/{}/participants/{}"


def confirmed(caller: Caller, chat_id: str, **query: Any) -> dict[str, list[bool]]:
    """By user or agent id: for each stay, whether it is confirmed."""
    found: dict[str, list[bool]] = {}
    for stay in caller.lists("/chats/{}/participants", chat_id, **query):
        who = stay["user_id"] or stay["agent_id"] or stay["person_id"]
        assert stay["confirmed_at"] is None or stay["confirmed_at"] >= stay["joined_at"]
        found.setdefault(who, []).append(stay["confirmed_at"] is not None)
    return found


def is_confirmed(seen_by: Caller, chat_id: str, who: Caller) -> bool:
    return confirmed(seen_by, chat_id)[who.name.removeprefix("agent:")] == [True]


def through(caller: Caller, client: str) -> Caller:
    return replace(caller, user=caller.user.with_key(client))


def test_who_makes_a_chat_means_it_and_who_is_put_in_does_not_yet(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    bot = callers.agent(ann.registers()["id"])
    dee = ann.post("/people", body={"name": f"Dee {new_id()}"}).expect(201)["id"]
    chat_id = a_chat(ann)
    invites(ann, bob, chat_id)
    invites(ann, bot, chat_id)
    ann.put(ONE, chat_id, dee, body={"kind": "person"}).expect(200)
    bot_id = bot.name.removeprefix("agent:")
    assert confirmed(ann, chat_id) == {
        ann.name: [True],
        bob.name: [False],
        bot_id: [False],
        dee: [False],
    }
    own = callers.agent(ann.registers()["id"])
    assert is_confirmed(own, a_chat(own), own)


def test_reads_never_confirm(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat_id = a_chat(ann)
    invites(ann, bob, chat_id)
    bob.get("/chats/{}", chat_id).expect(200)
    bob.lists("/memories", chat_id=chat_id)
    bob.finds("anything", chat_id=chat_id)
    bob.post("/memories/recall", body={"chat_id": chat_id}).expect(200)
    bob.put("/chats/{}", chat_id, body={"kind": "group"}).expect(200)
    assert not is_confirmed(ann, chat_id, bob)


def test_who_puts_themself_in_accepts_and_keeps_the_stay(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat_id = a_chat(ann)
    for kind, id_ in (("user", bob.name), ("person", person_of(bob))):
        invited = ann.put(ONE, chat_id, id_, body={"kind": kind}).expect(200)
        assert invited["confirmed_at"] is None
        callers.world.clock.advance(minutes=1)
        accepted = bob.put(ONE, chat_id, id_, body={"kind": kind}).expect(200)
        assert accepted["joined_at"] == invited["joined_at"]
        assert accepted["confirmed_at"] > invited["joined_at"]
        assert bob.put(ONE, chat_id, id_, body={"kind": kind}).expect(200) == accepted
        assert ann.put(ONE, chat_id, id_, body={"kind": kind}).expect(200) == accepted
        bob.delete(ONE, chat_id, id_, kind=kind).expect(204)


@pytest.mark.parametrize("place", ["space", "chat_id"])
def test_who_writes_a_memory_there_means_to_take_part(callers: Callers, place: str) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat_id = a_chat(ann)
    invites(ann, bob, chat_id)
    where = {
        "space": {"space": {"kind": "chat", "id": chat_id}},
        "chat_id": OWN | {"chat_id": chat_id},
    }
    refused = {"content": "x", "ttl_seconds": 0} | where[place]
    bob.post("/memories", body=refused).expect(422)
    assert not is_confirmed(ann, chat_id, bob)
    bob.adds("The kettle is new", **where[place])
    assert is_confirmed(ann, chat_id, bob)


def test_who_changes_a_memory_of_the_chat_means_to_take_part(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat_id = a_chat(ann)
    memory = ann.adds("The kettle is new", space={"kind": "chat", "id": chat_id})
    invites(ann, bob, chat_id)
    bob.patch("/memories/{}", memory["id"], body={"content": ""}).expect(422)
    assert not is_confirmed(ann, chat_id, bob)
    bob.patch("/memories/{}", memory["id"], body={"tags": ["kitchen"]}).expect(200)
    assert is_confirmed(ann, chat_id, bob)


def test_an_agent_that_writes_confirms_itself_alone(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    bot = callers.agent(ann.registers()["id"])
    chat_id = a_chat(ann)
    invites(ann, bob, chat_id)
    invites(ann, bot, chat_id)
    bot.adds("Bob likes tea", space={"kind": "chat", "id": chat_id}, subjects=[person_of(bob)])
    assert is_confirmed(ann, chat_id, bot)
    assert not is_confirmed(ann, chat_id, bob)


def test_who_left_and_is_added_again_is_invited_anew(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat_id = a_chat(ann, bob)
    assert is_confirmed(ann, chat_id, bob)
    callers.world.clock.advance(minutes=1)
    bob.delete(ONE, chat_id, bob.name).expect(204)
    invites(ann, bob, chat_id)
    assert confirmed(ann, chat_id, include_left=True)[bob.name] == [True, False]


def test_only_who_answers_for_the_users_confirms_others(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    bot = callers.agent(ann.registers()["id"])
    chat_id = a_chat(ann, bot)
    body = {"kind": "user", "confirmed": True}
    for caller in (ann, bot, through(ann, "k1")):
        caller.put(ONE, chat_id, bob.name, body=body).refused(403, "forbidden")
    assert bob.name not in confirmed(ann, chat_id)
    invites(ann, bob, chat_id)
    through(ann, "trusted").put(ONE, chat_id, bob.name, body=body).expect(200)
    assert is_confirmed(ann, chat_id, bob)
    admins = a_chat(callers.admin)
    callers.admin.put(ONE, admins, bob.name, body=body).expect(200)
    assert is_confirmed(bob, admins, bob)


def test_on_ones_own_machine_anyone_confirms_others(serve: Serve) -> None:
    callers = Callers(serve(auth__mode="local"))
    ann = callers.named_by_header("ann")
    chat_id = a_chat(ann)
    for name, body in (("bob", {"confirmed": True}), ("cid", {})):
        ann.put(ONE, chat_id, name, body={"kind": "user"} | body).expect(200)
    assert confirmed(ann, chat_id) == {"ann": [True], "bob": [True], "cid": [False]}


@pytest.mark.surfaces("grpc")
def test_members_of_a_conversation_mean_it_once_they_write_or_own(callers: Callers) -> None:
    ann, bob, cid, dan, eve = (callers.person(n) for n in ("ann", "bob", "cid", "dan", "eve"))
    tree = ann.user.starts("Plans")["id"]
    entry = ann.user.says(tree, "hello")
    ann.user.says(tree, "and more")
    for member in (bob, cid, dan, eve):
        ann.user.shares(tree, member.user, "writer")
    bob.user.texts(tree)
    assert is_confirmed(ann, tree, ann)
    assert not is_confirmed(ann, tree, bob)
    bob.user.says(tree, "me too")
    assert is_confirmed(ann, tree, bob)
    assert not is_confirmed(ann, tree, cid)
    cid.user.forks(tree, entry)
    assert is_confirmed(ann, tree, cid)
    offer = ann.user.offers(tree, dan.user)
    assert not is_confirmed(ann, tree, dan)
    dan.user.call("accept_transfer", offer["id"]).expect(204)
    assert is_confirmed(ann, tree, dan)
    eve.adds("The kettle is new", space={"kind": "chat", "id": tree})
    assert is_confirmed(ann, tree, eve)


@pytest.mark.surfaces("grpc")
def test_a_trusted_client_confirms_the_member_for_whom_it_writes_or_whom_it_brings(
    callers: Callers,
) -> None:
    ann, bob, cid = (callers.person(name) for name in ("ann", "bob", "cid"))
    tree = ann.user.starts("Plans")["id"]
    ann.user.shares(tree, bob.user, "writer")
    ann.user.with_key("trusted").says(tree, "hello", userId=bob.name)
    assert is_confirmed(ann, tree, bob)
    body = {"userId": cid.name, "accessLevel": "reader", "confirmed": True}
    refused = ann.user.call("share", tree, body=body)
    assert refused.status == 403
    assert cid.name not in confirmed(ann, tree)
    ann.user.with_key("trusted").call("share", tree, body=body).expect(201)
    assert is_confirmed(ann, tree, cid)


def test_a_member_who_comes_back_to_a_conversation_is_invited_anew(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    tree = ann.user.starts("Plans")["id"]
    ann.user.shares(tree, bob.user, "writer")
    bob.user.says(tree, "hello")
    callers.world.clock.advance(minutes=1)
    bob.user.call("remove_membership", tree, bob.name).expect(204)
    ann.user.shares(tree, bob.user, "writer")
    assert confirmed(ann, tree, include_left=True)[bob.name] == [True, False]
    ann.user.shares(tree, bob.user, "manager")
    assert not is_confirmed(ann, tree, bob)


def test_of_two_people_who_turn_out_to_be_one_the_confirmation_holds(callers: Callers) -> None:
    trusted = through(callers.person("ann"), "trusted")
    first, second = (
        trusted.post("/people", body={"name": f"{name} {new_id()}"}).expect(201)["id"]
        for name in ("Dee", "Dora")
    )
    chat_id = a_chat(trusted)
    trusted.put(ONE, chat_id, first, body={"kind": "person"}).expect(200)
    body = {"kind": "person", "confirmed": True}
    trusted.put(ONE, chat_id, second, body=body).expect(200)
    pair = {"primary_id": first, "secondary_id": second}
    trusted.post("/people/merge", body=pair).expect(200)
    assert confirmed(trusted, chat_id)[first] == [True]
    trusted.post("/people/{}/unmerge", first, body={"secondary_id": second}).expect(200)
    assert confirmed(trusted, chat_id)[first] == [False]
    assert confirmed(trusted, chat_id)[second] == [True]


@pytest.mark.parametrize("place", ["chat", "conversation"])
def test_an_invitation_tells_another_org_no_name(callers: Callers, place: str) -> None:
    ann, eve = callers.person("ann", orgs=("acme",)), callers.person("eve", orgs=("other",))
    person, name = person_of(ann), f"Ann Schmidt {new_id()}"
    ann.patch("/people/{}", person, body={"name": name}).expect(200)
    if place == "chat":
        chat_id = a_chat(eve)
        invites(eve, ann, chat_id)
    else:
        chat_id = eve.post("/conversations", body={}).expect(201)["id"]
        body = {"userId": ann.name, "accessLevel": "writer"}
        eve.post("/conversations/{}/memberships", chat_id, body=body).expect(201)
    recall = {"chat_id": chat_id, "include_people": True}
    eve.get("/people/{}", person).refused(404, "not_found")
    assert person not in [one["id"] for one in eve.lists("/people")]
    assert name not in str(eve.post("/memories/recall", body=recall).expect(200))
    named = {"name": f"@{ann.name}", "chat_id": chat_id}
    assert eve.post("/people/resolve", body=named).expect(200)["person"] is None
    eve.post(
        "/memories",
        body={"content": "Met.", "space": {"kind": "user"}, "subjects": [person]},
    ).refused(404, "not_found")
    ann.adds("Now I take part.", space={"kind": "chat", "id": chat_id})
    assert eve.get("/people/{}", person).expect(200)["user_id"] == ann.name
    assert name in str(eve.post("/memories/recall", body=recall).expect(200))
    assert eve.post("/people/resolve", body=named).expect(200)["person"]["id"] == person


def test_who_puts_in_a_person_does_not_learn_the_user(callers: Callers) -> None:
    ann, eve = callers.person("ann"), callers.person("eve")
    chat_id, person = a_chat(eve), person_of(ann)
    stay = eve.put(ONE, chat_id, person, body={"kind": "person"}).expect(200)
    assert (stay["person_id"], stay["user_id"]) == (person, None)
    assert [one["user_id"] for one in eve.lists("/chats/{}/participants", chat_id)] == [
        eve.name,
        None,
    ]
    assert eve.get("/people/{}", person).expect(200)["user_id"] is None
    assert ann.name not in str(eve.lists("/events", event_type="chat.join"))
    ann.adds("Now I take part.", space={"kind": "chat", "id": chat_id})
    assert eve.get("/people/{}", person).expect(200)["user_id"] == ann.name
    assert is_confirmed(eve, chat_id, ann)


def test_a_deleted_conversation_is_no_common_chat(callers: Callers) -> None:
    ann, eve = callers.person("ann", orgs=("acme",)), callers.person("eve", orgs=("other",))
    person, tree = person_of(ann), ann.user.starts("Plans")["id"]
    ann.user.shares(tree, eve.user, "reader")
    assert eve.get("/people/{}", person).expect(200)["user_id"] == ann.name
    ann.user.deletes(tree)
    eve.get("/people/{}", person).refused(404, "not_found")
    assert person not in [one["id"] for one in eve.lists("/people")]
