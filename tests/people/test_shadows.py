"""Nobody's claim stands between a speaker and whom the speaker means."""

from typing import Any

import pytest

from tests.people.test_addresses import OWN, a_user_id, hears, renames, says_of, subject_of
from tests.people.test_chats import joins
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import a_name, knows, person_of, resolve_name, self_of
from tests.support.memory.portability import imports
from tests.support.world import new_id

pytestmark = pytest.mark.amendment(3)


def a_group(owner: Caller, *invited: Caller, provider: str | None = None) -> str:
    chat_id = f"group {new_id()}"
    body = {"kind": "group"} | ({"provider": provider} if provider else {})
    owner.put("/chats/{}", chat_id, body=body).expect(201)
    for one in invited:
        joins(owner, chat_id, one)
    return chat_id


def test_a_bare_name_reaches_nobody_who_was_only_invited(callers: Callers) -> None:
    eve, tom, ann = callers.person("eve"), callers.person("tom"), callers.person("ann")
    name = a_name("Tom")
    renames(tom, name)
    chat = a_group(eve, tom, ann)
    assert resolve_name(ann, name, chat_id=chat) is None
    there = says_of(ann, name, chat_id=chat, sensitivity="sensitive")
    assert subject_of(there) != person_of(tom)
    assert hears(tom) == []
    # Tom says that he takes part. A name that ann has used already keeps its meaning for her.
    joins(tom, chat, tom)
    assert resolve_name(eve, name, chat_id=chat) == person_of(tom)
    assert resolve_name(ann, name, chat_id=chat) == subject_of(there)


def test_a_user_who_was_only_invited_is_not_the_providers_user_of_that_name(
    callers: Callers,
) -> None:
    eve, ann, kim = callers.person("eve"), callers.person("ann"), callers.person("kim")
    provider = f"slack-{new_id()}"
    handle = {"value": f"@{kim.name}", "kind": "handle", "provider": provider}
    theirs = knows(callers.admin, "Kim of Slack", aliases=[handle])
    chat = a_group(eve, ann, kim, provider=provider)
    for speaker in (ann, eve):
        assert resolve_name(speaker, f"@{kim.name}", chat_id=chat) == theirs["id"]
    # In a chat without a provider an id is one of ours.
    assert resolve_name(ann, f"@{kim.name}", chat_id=a_group(eve, ann, kim)) == person_of(kim)


def test_an_import_puts_nobody_in_front_of_a_handle(callers: Callers) -> None:
    eve, ann, bob = callers.person("eve"), callers.person("ann"), callers.person("bob")
    at = {"created_at": "2024-01-01T00:00:00Z", "updated_at": "2024-01-01T00:00:00Z"}
    handle = a_user_id("bobby")
    claim: dict[str, Any] = {
        "id": new_id(),
        "value": f"@{handle}",
        "kind": "handle",
        "added_by": eve.name,
    }
    claim |= {"verified": True, "created_at": at["created_at"]}
    named: dict[str, Any] = {"name": "Eve's", "created_by": eve.name}
    person = {"type": "person", "id": new_id()} | named | at
    line = person | {"aliases": [claim], "users": [{"id": bob.name}]}
    awaited = person | {"id": new_id(), "awaited_handle": bob.name}
    assert imports(eve, [line, awaited])["created"] == 2
    stated = {"value": f"@{handle}", "kind": "handle"}
    bob.post("/people/{}/aliases", self_of(bob)["id"], body=stated).expect(201)
    assert resolve_name(ann, f"@{handle}") == person_of(bob)
    assert subject_of(says_of(ann, f"@{bob.name}")) == person_of(bob)
    assert len(hears(bob)) == 1


def test_an_import_of_who_is_awaited_gives_no_rights_over_the_bearer(callers: Callers) -> None:
    eve, ann, bob = callers.person("eve"), callers.person("ann"), callers.person("bob")
    person = {"type": "person", "id": new_id(), "name": "Bob", "created_by": eve.name}
    person |= {"created_at": "2024-01-01T00:00:00Z", "updated_at": "2024-01-01T00:00:00Z"}
    imports(eve, [person | {"awaited_handle": bob.name}])
    told = says_of(ann, f"@{bob.name}", sensitivity="sensitive")
    eve.patch("/people/{}", person["id"], body={"name": "Eve"}).refused(403, "not_owner")
    body = {"primary_id": self_of(eve)["id"], "secondary_id": person["id"]}
    eve.post("/people/merge", body=body).refused(403, "not_owner")
    eve.get("/memories/{}", told["memory"]["id"]).refused(404, "not_found")
    assert len(hears(bob)) == 1


def test_an_agents_claims_and_other_peoples_relationships_count_for_themselves(
    callers: Callers,
) -> None:
    eve, ann, bob = callers.person("eve"), callers.person("ann"), callers.person("bob")
    spy, name, handle = callers.agent(eve.registers()["id"]), a_name("Tom"), a_user_id("tom")
    stated = {"value": f"@{handle}", "kind": "handle"}
    his = knows(spy, name, aliases=[stated, {"value": a_name("Tommy")}])
    boss = {"relationship": "boss", "to_person_id": person_of(ann)}
    for stater in (eve, spy):
        stater.post("/people/{}/relationships", person_of(eve), body=boss).expect(201)
    assert resolve_name(ann, "my boss") is None
    assert resolve_name(ann, f"@{handle}") is None
    assert subject_of(says_of(ann, f"@{handle}")) != his["id"]
    bob.post("/people/{}/aliases", self_of(bob)["id"], body=stated).expect(201)
    assert resolve_name(ann, f"@{handle}") == person_of(bob)
    assert resolve_name(spy, f"@{handle}") == person_of(bob), "one's own claim comes last"


@pytest.mark.parametrize("said", ["batch", "patch"])
def test_every_write_means_the_same_people(callers: Callers, said: str) -> None:
    ann, tom, bob = callers.person("ann"), callers.person("tom"), callers.person("bob")
    name = a_name("Tom")
    renames(tom, name)
    subjects = [name, f"@{bob.name}"]
    if said == "batch":
        item = {"op": "create", "content": "plays chess", "subjects": subjects, **OWN}
        ann.post("/memories/batch", body={"items": [item]}).expect(200)
    else:
        memory = ann.adds("plays chess", **OWN)
        ann.patch("/memories/{}", memory["id"], body={"subjects": subjects}).expect(200)
    assert (hears(tom), hears(bob)) == ([], ["plays chess"])


def test_who_is_the_subject_of_a_memory_of_the_past_is_answered_for(callers: Callers) -> None:
    ann = callers.person("ann", orgs=("acme", "other"))
    eve = callers.person("eve", orgs=("other",))
    sam = knows(callers.now_in(ann, "acme"), a_name("Sam"))
    agent: dict[str, Any] = ann.registers(org_id="other")
    old = ann.adds("Sam lives in Porto.", subjects=[sam["id"]], agent_id=agent["id"])
    eve.get("/people/{}", sam["id"]).refused(404, "not_found")
    assert eve.lists("/people/{}/memories", sam["id"]) == []
    ann.adds("Sam moved.", agent_id=agent["id"], supersedes=[old["id"]])
    assert eve.lists("/people/{}/memories", sam["id"]) == []
    eve.get("/people/{}/memories", new_id()).refused(404, "not_found")
