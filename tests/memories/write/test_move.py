"""Moving memories: a new id in another space, the old one gone."""

from typing import Any

import pytest

from tests.support.memory.callers import Callers
from tests.support.memory.people import person_of

pytestmark = pytest.mark.surfaces("grpc")

MINE: dict[str, Any] = {"space": {"kind": "user"}}


@pytest.mark.scenario(8)
def test_a_memory_becomes_public_by_a_move_and_never_in_place(callers: Callers) -> None:
    owner, other = callers.person("o"), callers.person("u")
    agent = owner.registers()["id"]
    old = owner.adds("The tower opens in May", agent_id=agent, visibility="private")
    reply = owner.patch("/memories/{}", old["id"], body={"visibility": "public"})
    reply.refused(422, "immutable_field")
    assert other.finds("tower", agent_id=agent) == []
    new = owner.post("/memories/{}/move", old["id"], body={"visibility": "public"}).expect(201)
    assert new["id"] != old["id"]
    assert new["group_id"] == f"agent-{agent}-public"
    assert new["memory"]["source_memories"] == [old["id"]]
    owner.get("/memories/{}", old["id"]).refused(404, "not_found")
    assert [hit["id"] for hit in other.finds("tower", agent_id=agent)] == [new["id"]]
    (event,) = owner.lists("/events", event_type="memory.move", memory_id=old["id"])
    assert event["payload"]["new_id"] == new["id"]


def test_a_move_keeps_what_was_said_by_whom_and_when(callers: Callers) -> None:
    owner = callers.person("o")
    agent = owner.registers()["id"]
    said = {"tags": ["a"], "metadata": {"b": 1}, "type": "event", "ttl_seconds": 600}
    old = owner.adds("A concert", agent_id=agent, observed_at="2026-01-02T03:04:05Z", **said)
    new = owner.post("/memories/{}/move", old["id"], body=MINE).expect(201)["memory"]
    changed = {name for name in old if old[name] != new[name]}
    assert changed == {
        "id",
        "space",
        "group_id",
        "visibility",
        "agent_id",
        "org_id",
        "updated_at",
        "source_agent",
        "source_memories",
    }
    assert (new["group_id"], new["source_agent"]) == (f"user-{owner.name}", agent)


def test_a_move_does_not_renew_the_cap_on_personal_data(callers: Callers) -> None:
    owner = callers.person("o")
    agent = owner.registers()["id"]
    body = {"content": "219-09-9999", "agent_id": agent, "visibility": "private"}
    old = owner.post("/memories", body=body).expect(201)["memory"]
    callers.world.clock.advance(days=20)
    new = owner.post("/memories/{}/move", old["id"], body=MINE).expect(201)["memory"]
    assert (new["expires_at"], new["expiry_rule"]) == (old["expires_at"], "pii:critical")


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"content": "219-09-9999"}, "pii_not_allowed"),
        ({"content": "he is shy", "sensitivity": "personal"}, "sensitivity_not_allowed"),
    ],
)
def test_all_checks_of_a_write_apply(callers: Callers, members: dict[str, Any], code: str) -> None:
    owner = callers.person("o")
    agent = owner.registers()["id"]
    body = {"agent_id": agent, "visibility": "private"} | members
    old = owner.post("/memories", body=body).expect(201)["memory"]
    reply = owner.post("/memories/{}/move", old["id"], body={"visibility": "public"})
    reply.refused(422, code)
    assert owner.get("/memories/{}", old["id"]).expect(200) == old
    assert len(owner.lists("/memories", agent_id=agent)) == 1


def test_a_mover_may_write_both_spaces(callers: Callers) -> None:
    owner, other = callers.person("o"), callers.person("u")
    agent, foreign = owner.registers()["id"], other.registers()["id"]
    memory = owner.adds("The gate is open", agent_id=agent)
    to_foreign = {"space": {"kind": "agent_public", "id": foreign}}
    owner.post("/memories/{}/move", memory["id"], body=to_foreign).refused(403, "not_owner")
    other.post("/memories/{}/move", memory["id"], body=MINE).refused(403, "not_owner")
    private = owner.adds("The safe too", agent_id=agent, visibility="private")
    other.post("/memories/{}/move", private["id"], body=MINE).refused(404, "not_found")


@pytest.mark.parametrize(
    ("target", "field"),
    [
        ({}, "visibility"),
        ({"visibility": "private", "space": {"kind": "user"}}, "visibility"),
        ({"visibility": "public"}, "visibility"),
        ({"space": {"kind": "agent_public"}}, "space"),
    ],
)
def test_a_move_names_one_other_place(callers: Callers, target: dict[str, Any], field: str) -> None:
    owner = callers.person("o")
    agent = owner.registers()["id"]
    memory = owner.adds("The gate is open", agent_id=agent)
    reply = owner.post("/memories/{}/move", memory["id"], body=target)
    (wrong,) = reply.refused(422, "validation_error")["violations"]
    assert wrong["field"] == field
    assert [row["id"] for row in owner.lists("/memories", agent_id=agent)] == [memory["id"]]


def test_what_moves_to_a_chat_was_learned_there(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat = callers.world.user("chat").name
    ann.put("/chats/{}", chat, body={"kind": "group"}).expect(201)
    there = {"space": {"kind": "chat", "id": chat}}
    memory = ann.adds("Bob brings cake", subjects=[person_of(bob)], **MINE)
    new = ann.post("/memories/{}/move", memory["id"], body=there).expect(201)["memory"]
    assert (new["learned_in"], new["origin"], new["trust"]) == (chat, "chat", "hearsay")
    assert new["subjects"] == [person_of(bob)]
    own = bob.adds("I bring tea", **MINE)
    bob.post("/memories/{}/move", own["id"], body=there).refused(404, "not_found")
