"""A read by id shows what became of a memory, to everybody who could see it while it was active."""

from datetime import timedelta
from typing import Any

import pytest

from recollect.kernel.ids import AgentId, PersonId
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import MemoryStatus, Sensitivity
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import person_of
from tests.support.memory.store import StoredMemories

pytestmark = [pytest.mark.surfaces("grpc"), pytest.mark.amendment(19)]

ENDED = (MemoryStatus.SUPERSEDED, MemoryStatus.ARCHIVED)
MINE: dict[str, Any] = {"space": {"kind": "user"}}


@pytest.fixture
def agent(callers: Callers) -> dict[str, Any]:
    """An agent of somebody, whose public memories anybody may read."""
    return callers.person("olga").registers()


def of_agent(agent: dict[str, Any], kind: SpaceKind = SpaceKind.AGENT_PUBLIC) -> dict[str, Any]:
    return {"space": Space(kind, agent["id"]), "agent_id": AgentId(agent["id"])}


def gets(caller: Caller, memory_id: str, **query: Any) -> str:
    """The status of the memory as this caller reads it, or the code of the refusal."""
    reply = caller.get("/memories/{}", memory_id, **query)
    return str(reply.body["status"] if reply.status == 200 else reply.body["code"])


@pytest.mark.parametrize("status", ENDED)
def test_what_is_over_is_shown_to_everybody_who_could_see_it(
    callers: Callers, stored_memories: StoredMemories, agent: dict[str, Any], status: MemoryStatus
) -> None:
    bob = callers.person("bob")
    open_ = stored_memories.puts(**of_agent(agent), status=status)
    closed = stored_memories.puts(**of_agent(agent, SpaceKind.AGENT_PRIVATE), status=status)
    assert gets(bob, open_) == str(status)
    assert gets(bob, closed) == "not_found"
    assert len(bob.lists("/memories/{}/history", open_)) == 1
    why = bob.get("/memories/{}/explain", open_).expect(200)
    assert (why["allowed"], why["rule"]) == (False, "inactive")
    bob.get("/memories/{}/explain", closed).refused(404, "not_found")
    # Who may read it and not change it is told so, as for an active one.
    bob.patch("/memories/{}", open_, body={"tags": ["a"]}).refused(403, "not_owner")
    bob.delete("/memories/{}", closed).refused(404, "not_found")


@pytest.mark.parametrize("status", ENDED)
def test_it_is_judged_by_the_steps_of_disclosure(
    callers: Callers, stored_memories: StoredMemories, status: MemoryStatus
) -> None:
    ann, bob, eve = (callers.person(name) for name in ("ann", "bob", "eve"))
    memory_id = stored_memories.puts(
        Space(SpaceKind.USER, ann.name),
        subjects=(PersonId(person_of(bob)),),
        sensitivity=Sensitivity.PERSONAL,
        status=status,
    )
    assert [gets(caller, memory_id) for caller in (ann, bob, eve)] == [status, status, "not_found"]


def test_a_quarantined_memory_is_shown_to_nobody(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann = callers.person("ann")
    due = {"expires_at": stored_memories.now - timedelta(days=1)}
    for more in ({}, due):
        memory_id = stored_memories.puts(
            Space(SpaceKind.USER, ann.name), status=MemoryStatus.QUARANTINED, **more
        )
        assert gets(ann, memory_id) == gets(ann, memory_id, include_expired=True) == "not_found"


@pytest.mark.parametrize("status", [MemoryStatus.ACTIVE, *ENDED])
def test_an_expired_memory_is_shown_on_request_to_everybody_who_could_see_it(
    callers: Callers, stored_memories: StoredMemories, agent: dict[str, Any], status: MemoryStatus
) -> None:
    bob = callers.person("bob")
    day = timedelta(days=1)
    due: dict[str, Any] = {"expires_at": stored_memories.now - day, "status": status}
    open_ = stored_memories.puts(**of_agent(agent), **due)
    closed = stored_memories.puts(**of_agent(agent, SpaceKind.AGENT_PRIVATE), **due)
    assert gets(bob, open_) == gets(bob, open_, include_expired=False) == "not_found"
    assert gets(bob, open_, include_expired=True) == "expired"
    assert gets(bob, closed, include_expired=True) == "not_found"
    # Lists show it to writers alone.
    asked = {"agent_id": agent["id"], "include_expired": True}
    assert open_ not in [one["id"] for one in bob.lists("/memories", **asked)]
    # What is expired today is in no past.
    now = stored_memories.now.isoformat()
    assert gets(bob, open_, include_expired=True, as_of=now) == "not_found"


def test_a_successor_begins_where_what_it_replaces_ends(callers: Callers) -> None:
    ann = callers.person("ann")
    old = ann.adds("I live in Porto", **MINE)
    new = ann.adds("I live in Lisbon", supersedes=[old["id"]], **MINE)
    ended = ann.get("/memories/{}", old["id"]).expect(200)
    assert (ended["status"], ended["superseded_by"]) == ("superseded", new["id"])
    assert (ended["valid_from"], ended["retracted_at"]) == (None, None)
    assert new["valid_from"] == ended["valid_until"] == new["observed_at"]
    # So at each instant one of them was true.
    for at, true in ((old["observed_at"], old), (new["observed_at"], new)):
        found = ann.lists("/memories", spaces="user", valid_at=at)
        assert [one["id"] for one in found] == [true["id"]]


def test_a_start_that_was_sent_stays(callers: Callers) -> None:
    ann = callers.person("ann")
    old = ann.adds("I live in Porto", **MINE)
    june = "2026-06-01T00:00:00.000000Z"
    new = ann.adds("I live in Lisbon", supersedes=[old["id"]], valid_from=june, **MINE)
    assert new["valid_from"] == june
    assert ann.get("/memories/{}", old["id"]).expect(200)["valid_until"] == june


def test_a_correction_takes_the_start_of_what_was_never_true(callers: Callers) -> None:
    ann = callers.person("ann")
    may = "2026-05-01T00:00:00.000000Z"
    old = ann.adds("I live in Porto", valid_from=may, **MINE)
    new = ann.adds("Actually, I live in Lisbon", supersedes=[old["id"]], **MINE)
    assert new["valid_from"] == may
    wrong = ann.get("/memories/{}", old["id"]).expect(200)
    assert (wrong["valid_until"], wrong["retracted_at"]) == (None, new["created_at"])


def test_a_record_of_the_same_key_begins_where_the_one_before_ends(callers: Callers) -> None:
    ann = callers.person("ann")
    for colour in ("red", "blue"):
        record = {"key": "theme", "value": {"colour": colour}, "on_conflict": "supersede"} | MINE
        written = ann.post("/memories", body=record).expect(201)["memory"]
    (old_id,) = written["supersedes"]
    old = ann.get("/memories/{}", old_id).expect(200)
    assert (old["value"], old["valid_until"]) == ({"colour": "red"}, written["valid_from"])
