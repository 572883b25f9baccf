"""Nobody becomes somebody of whom others spoke, and nobody takes a user's handle."""

from collections.abc import Callable
from typing import Any

import pytest

from recollect.kernel.ids import PersonId
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import MemoryStatus
from tests.people.test_chats import a_chat
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import a_name, knows, merges, resolve_name, self_of
from tests.support.memory.portability import imports
from tests.support.memory.store import StoredMemories

OWN: dict[str, Any] = {"space": {"kind": "user"}}
PARTICIPANT = "/chats/{}/participants/{}"


def adds_to_chat(by: Caller, chat_id: str, person_id: str) -> None:
    by.put(PARTICIPANT, chat_id, person_id, body={"kind": "person"}).expect(200)


def is_refused(caller: Caller, one: dict[str, Any], other: dict[str, Any]) -> None:
    """In both directions, also as a dry run."""
    for primary, secondary in ((one, other), (other, one)):
        for dry_run in (True, False):
            refused = merges(caller, primary, secondary, dry_run=dry_run).refused(409, "conflict")
            assert refused["reason"] == "has_memories"


def writes_about(ann: Caller, person_id: str, _shelf: StoredMemories) -> None:
    ann.adds("is expecting a child", **OWN, subjects=[person_id], sensitivity="sensitive")


def archived_about(ann: Caller, person_id: str, stored_memories: StoredMemories) -> None:
    space = Space(SpaceKind.USER, ann.name)
    stored_memories.puts(space, subjects=(PersonId(person_id),), status=MemoryStatus.ARCHIVED)


def quotes(ann: Caller, person_id: str, stored_memories: StoredMemories) -> None:
    stored_memories.puts(Space(SpaceKind.USER, ann.name), stated_by=PersonId(person_id))


def relates(ann: Caller, person_id: str, _shelf: StoredMemories) -> None:
    ann.post("/people/{}/relationships", person_id, body={"relationship": "boss"}).expect(201)


def relates_another_to(ann: Caller, person_id: str, _shelf: StoredMemories) -> None:
    body = {"relationship": "son", "to_person_id": person_id}
    ann.post("/people/{}/relationships", knows(ann, a_name("Tim"))["id"], body=body).expect(201)


def brings_in(ann: Caller, person_id: str, _shelf: StoredMemories) -> None:
    adds_to_chat(ann, a_chat(ann), person_id)


def brings_in_and_lets_go(ann: Caller, person_id: str, _shelf: StoredMemories) -> None:
    chat_id = a_chat(ann)
    adds_to_chat(ann, chat_id, person_id)
    ann.delete(PARTICIPANT, chat_id, person_id).expect(204)


REFERRING = (
    writes_about,
    archived_about,
    quotes,
    relates,
    relates_another_to,
    brings_in,
    brings_in_and_lets_go,
)


@pytest.mark.parametrize("refers", REFERRING)
def test_whoever_others_refer_to_turns_out_to_be_no_user(
    callers: Callers,
    stored_memories: StoredMemories,
    refers: Callable[[Caller, str, StoredMemories], None],
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    sam, me = knows(bob, a_name("Sam")), self_of(bob)
    refers(ann, sam["id"], stored_memories)
    is_refused(bob, me, sam)
    assert bob.get("/people/{}", sam["id"]).expect(200)["id"] == sam["id"]


def test_what_was_said_of_somebody_stays_hidden_from_who_made_them(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    sam, other, me = knows(bob, a_name("Sam")), knows(bob, a_name("Other")), self_of(bob)
    assert resolve_name(ann, sam["name"]) == sam["id"]
    told = ann.adds("is expecting a child", **OWN, subjects=[sam["name"]], sensitivity="sensitive")
    chat_id = a_chat(ann)
    adds_to_chat(ann, chat_id, sam["id"])
    # By way of somebody else it is the same.
    merges(bob, other, sam).expect(200)
    is_refused(bob, me, other)
    bob.get("/memories/{}", told["id"]).refused(404, "not_found")
    bob.get("/chats/{}", chat_id).refused(404, "not_found")


def test_ones_own_words_of_somebody_hinder_no_merge_with_oneself(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    sam, me = knows(bob, a_name("Sam"), relationships=[{"relationship": "me"}]), self_of(bob)
    about = bob.adds("likes figs", **OWN, subjects=[sam["id"]])
    made, shared = a_chat(bob), a_chat(ann, bob)
    for chat_id in (made, shared):
        adds_to_chat(bob, chat_id, sam["id"])
    bob.delete(PARTICIPANT, made, bob.name).expect(204)
    merges(bob, me, sam).expect(200)
    assert bob.get("/memories/{}", about["id"]).expect(200)["subjects"] == [me["id"]]


def test_an_admin_may_say_that_a_user_is_whom_others_spoke_of(callers: Callers) -> None:
    ann, admin = callers.person("ann"), callers.admin
    sam, me = knows(admin, a_name("Sam")), self_of(admin)
    ann.adds("likes figs", **OWN, subjects=[sam["id"]])
    merges(admin, me, sam).expect(200)
    merges(admin, self_of(ann), knows(admin, a_name("Eve"))).refused(403, "not_owner")
    tim = knows(ann, a_name("Tim"))
    merges(admin, self_of(ann), tim, link_users=True).expect(200)


def test_people_without_a_user_are_merged_whatever_others_said(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    one, other = knows(bob, a_name("One")), knows(bob, a_name("Other"))
    for person in (one, other):
        ann.adds("likes figs", **OWN, subjects=[person["id"]])
    merges(bob, one, other).expect(200)


def test_the_id_of_another_user_is_no_handle(callers: Callers) -> None:
    bob, carol = callers.person("bob"), callers.person("CaRol")
    her = self_of(carol)
    for spelled in (carol.name, f"@{carol.name.upper()}", f" @ {carol.name.lower()}"):
        handle = {"value": spelled, "kind": "handle"}
        refused = bob.post("/people", body={"name": a_name("Zed"), "aliases": [handle]})
        assert refused.refused(409, "conflict")["field"] == "aliases[0].value"
        for person in (self_of(bob), knows(bob, a_name("Zed"))):
            bob.post("/people/{}/aliases", person["id"], body=handle).refused(409, "conflict")
    assert resolve_name(bob, f"@{carol.name}") == her["id"]
    knows(bob, a_name("Zed"), aliases=[{"value": carol.name}])


def test_one_has_ones_own_id_for_a_handle_and_an_admin_may_have_any(callers: Callers) -> None:
    carol, eve = callers.person("carol"), callers.person("eve", orgs=("elsewhere",))
    handle = {"value": f"@{carol.name}", "kind": "handle"}
    carol.post("/people/{}/aliases", self_of(carol)["id"], body=handle).expect(201)
    knows(callers.admin, a_name("Zed"), aliases=[handle])
    knows(eve, a_name("Zed"), aliases=[handle])


def test_letters_beyond_ascii_hide_no_user(callers: Callers) -> None:
    bob, user = callers.person("bob"), callers.person("Ünal")
    self_of(user)
    handle = {"value": f"@{user.name.lower()}", "kind": "handle"}
    bob.post("/people", body={"name": a_name("Zed"), "aliases": [handle]}).refused(409, "conflict")


def test_no_import_takes_another_users_handle(callers: Callers) -> None:
    bob, carol = callers.person("bob"), callers.person("carol")
    self_of(carol)
    alias = {"id": "c-1", "value": carol.name, "kind": "handle", "added_by": bob.name}
    now = "2024-01-01T00:00:00Z"
    line: dict[str, Any] = {"type": "person", "id": a_name("p"), "name": "Zed", "created_at": now}
    line |= {"updated_at": now, "aliases": [alias | {"created_at": now}]}
    (refused,) = imports(bob, [line])["refused"]
    assert refused["code"] == "id_taken"
