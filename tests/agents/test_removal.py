"""What becomes of an agent's memories when it is removed, and who may write to an agent."""

import pytest

from tests.conftest import Host
from tests.support.memory.callers import Callers

pytestmark = pytest.mark.surfaces("grpc", scenarios_only=True)

TEXT = "the harbour opens at six"


def test_an_agent_with_memories_is_not_removed_unless_somebody_says_what_becomes_of_them(
    callers: Callers,
) -> None:
    ann = callers.person("ann")
    agent_id = ann.registers()["id"]
    memory = ann.adds(TEXT, agent_id=agent_id)
    for query in ({}, {"memories": "refuse"}):
        details = ann.delete("/agents/{}", agent_id, **query).refused(409, "conflict")
        assert details["reason"] == "has_memories"
    ann.delete("/agents/{}", agent_id, memories="burn").refused(422, "validation_error")
    assert ann.get("/memories/{}", memory["id"]).expect(200) == memory


@pytest.mark.parametrize("visibility", ["public", "private"])
def test_deleted_memories_are_gone_and_the_id_is_free(callers: Callers, visibility: str) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent_id = ann.registers()["id"]
    ids = [
        ann.adds(f"{TEXT} {number}", agent_id=agent_id, visibility=visibility)["id"]
        for number in range(3)
    ]
    ann.delete("/agents/{}", agent_id, memories="delete").expect(204)
    for memory_id in ids:
        ann.get("/memories/{}", memory_id).refused(404, "not_found")
    bob.registers(id=agent_id)
    assert bob.lists("/memories", agent_id=agent_id) == []
    assert ann.lists("/memories", agent_id=agent_id) == []
    events = callers.auditor.lists("/events", agent_id=agent_id, event_type="memory.delete")
    assert {event["payload"]["memory_id"] for event in events} == set(ids)
    assert {event["payload"]["reason"] for event in events} == {"agent_removed"}
    assert TEXT not in str(events)


def test_archived_memories_leave_all_lists_and_keep_the_id_taken(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent_id = ann.registers()["id"]
    memory = ann.adds(TEXT, agent_id=agent_id, visibility="private")
    ann.delete("/agents/{}", agent_id, memories="archive").expect(204)
    ann.get("/agents/{}", agent_id).refused(404, "not_found")
    kept = ann.get("/memories/{}", memory["id"]).expect(200)
    assert (kept["status"], kept["archive_reason"]) == ("archived", "agent_removed")
    bob.get("/memories/{}", memory["id"]).refused(404, "not_found")
    ann.get("/memories", agent_id=agent_id).refused(404, "not_found")
    for caller in (ann, bob):
        taken = caller.post("/agents", body={"id": agent_id}).refused(409, "conflict")
        assert taken["reason"] == "id_taken"
    ann.post("/memories", body={"content": TEXT, "agent_id": agent_id}).refused(404, "not_found")


@pytest.mark.parametrize("place", ["runs", "org"])
def test_memories_of_its_runs_and_its_org_keep_an_agent_and_go_with_it(
    callers: Callers, place: str
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent_id = ann.registers()["id"]
    there = {"scope": "session", "run_id": f"run of {ann.name}"}
    where = there if place == "runs" else {"scope": "org"}
    memory = ann.adds(TEXT, agent_id=agent_id, **where)
    details = ann.delete("/agents/{}", agent_id).refused(409, "conflict")
    assert details["reason"] == "has_memories"
    assert ann.get("/memories/{}", memory["id"]).expect(200) == memory
    ann.delete("/agents/{}", agent_id, memories="delete").expect(204)
    ann.get("/memories/{}", memory["id"]).refused(404, "not_found")
    bob.registers(id=agent_id)


def test_archived_memories_of_an_org_leave_all_lists_and_keep_the_id_taken(
    callers: Callers,
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent_id, other = ann.registers()["id"], ann.registers()["id"]
    memory = ann.adds(TEXT, agent_id=agent_id, scope="org")
    kept = ann.adds(f"{TEXT} still", agent_id=other, scope="org")
    ann.delete("/agents/{}", agent_id, memories="archive").expect(204)
    for caller in (ann, bob):
        assert [row["id"] for row in caller.lists("/memories", spaces="org")] == [kept["id"]]
        assert caller.get("/memories/{}", memory["id"]).expect(200)["status"] == "archived"
        assert caller.get("/memories/{}", kept["id"]).expect(200) == kept
    # Whoever took the id now would own what it wrote for the org.
    taken = ann.post("/agents", body={"id": agent_id}).refused(409, "conflict")
    assert taken["reason"] == "id_taken"


@pytest.mark.parametrize("fate", ["archive", "delete"])
def test_what_somebody_else_keeps_from_an_agent_stays_when_the_agent_goes(
    callers: Callers, fate: str
) -> None:
    ann = callers.person("ann")
    agent_id = ann.registers()["id"]
    own = ann.adds(TEXT, agent_id=agent_id, space={"kind": "user"})
    assert own["source_agent"] == agent_id
    ann.delete("/agents/{}", agent_id, memories=fate).expect(204)
    assert ann.get("/memories/{}", own["id"]).expect(200) == own


def test_the_id_of_an_agent_that_had_runs_is_free_and_its_runs_are_nobodys(
    callers: Callers,
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent_id = ann.registers()["id"]
    done, running = (ann.post("/runs", body={"agent_id": agent_id}).expect(201) for _ in range(2))
    ann.adds(TEXT, agent_id=agent_id, scope="session", run_id=done["id"])
    ann.post("/runs/{}/complete", done["id"], body={"status": "succeeded"}).expect(200)
    ann.delete("/agents/{}", agent_id).expect(204)
    bob.registers(id=agent_id)
    assert bob.lists("/runs", agent_id=agent_id) == []
    for caller in (ann, bob, callers.agent(agent_id)):
        for run in (done, running):
            caller.get("/runs/{}", run["id"]).refused(404, "not_found")
    bob.adds(TEXT, agent_id=agent_id, scope="session", run_id=running["id"])


def test_runs_that_a_removed_agent_started_go_on_without_it(callers: Callers) -> None:
    ann = callers.person("ann")
    top, middle, low = (ann.registers()["id"] for _ in range(3))
    root = ann.post("/runs", body={"agent_id": top}).expect(201)
    between = ann.post("/runs", body={"agent_id": middle, "parent_run_id": root["id"]}).expect(201)
    child = ann.post("/runs", body={"agent_id": low, "parent_run_id": between["id"]}).expect(201)
    below = ann.post("/runs", body={"agent_id": low, "parent_run_id": child["id"]}).expect(201)
    kept = ann.adds(TEXT, agent_id=low, scope="session", run_id=child["id"])
    ann.delete("/agents/{}", middle).expect(204)
    now = ann.get("/runs/{}", child["id"]).expect(200)
    assert (now["parent_run_id"], now["root_run_id"]) == (root["id"], root["id"])
    assert callers.agent(top).get("/memories/{}", kept["id"]).expect(200)["content"] == TEXT
    ann.delete("/agents/{}", top).expect(204)
    now = ann.get("/runs/{}", child["id"]).expect(200)
    assert (now["parent_run_id"], now["root_run_id"]) == (None, child["id"])
    below = ann.get("/runs/{}", below["id"]).expect(200)
    assert (below["parent_run_id"], below["root_run_id"]) == (child["id"], child["id"])
    ended = ann.post("/runs/{}/complete", child["id"], body={"status": "failed"}).expect(200)
    assert ended["removed"]["session"] == 1


def test_what_has_expired_keeps_nobody_from_removing_an_agent(callers: Callers) -> None:
    ann = callers.person("ann")
    agent_id = ann.registers()["id"]
    ann.adds(TEXT, agent_id=agent_id, ttl_seconds=60)
    callers.world.clock.advance(seconds=60)
    ann.delete("/agents/{}", agent_id).expect(204)
    ann.registers(id=agent_id)


def test_private_memories_go_with_the_agent_to_its_new_owner(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent_id = ann.registers()["id"]
    memory = ann.adds(TEXT, agent_id=agent_id, visibility="private")
    bob.get("/memories/{}", memory["id"]).refused(404, "not_found")
    ann.put("/agents/{}/owner", agent_id, body={"owner_id": bob.name}).expect(200)
    ann.get("/memories/{}", memory["id"]).refused(404, "not_found")
    assert bob.get("/memories/{}", memory["id"]).expect(200)["content"] == TEXT


@pytest.mark.scenario(13)
def test_an_agent_that_owns_itself_writes_as_itself_and_nobody_else_does(host: Host) -> None:
    with host(auth__mode="local", auth__roles={}) as world:
        callers = Callers(world)
        carl = callers.named_by_header("carl")
        carl.post("/agents", body={"id": "solo"}).expect(201)
        carl.registers(id="owned")
        body = {"content": TEXT, "agent_id": "solo"}
        callers.named_by_header("agent:solo").post("/memories", body=body).expect(201)
        for other in ("uma", "solo", "carl", "agent:owned"):
            callers.named_by_header(other).post("/memories", body=body).refused(403, "not_owner")
        owned = body | {"agent_id": "owned"}
        callers.named_by_header("agent:owned").post("/memories", body=owned).refused(
            403, "not_owner"
        )
        carl.post("/memories", body=owned).expect(201)


@pytest.mark.scenario(5)
def test_no_memory_call_is_answered_before_it_is_known_who_asks(host: Host) -> None:
    with host(auth__mode="local", auth__roles={}) as world:
        callers = Callers(world)
        olga = callers.named_by_header("olga")
        known = olga.registers()["id"]
        memory = olga.adds(TEXT, agent_id=known)["id"]
        nobody = callers.nobody
        for agent_id in (known, "unknown"):
            body = {"content": TEXT, "agent_id": agent_id}
            nobody.post("/memories", body=body).refused(400, "requester_required")
            nobody.get("/memories", agent_id=agent_id).refused(400, "requester_required")
            search = {"query": "harbour", "agent_id": agent_id}
            nobody.post("/memories/search", body=search).refused(400, "requester_required")
        for memory_id in (memory, "unknown"):
            nobody.get("/memories/{}", memory_id).refused(400, "requester_required")
            nobody.patch("/memories/{}", memory_id, body={}).refused(400, "requester_required")
            nobody.delete("/memories/{}", memory_id).refused(400, "requester_required")
        body = {"content": TEXT, "agent_id": "unknown"}
        olga.post("/memories", body=body).refused(404, "not_found")
        olga.get("/memories", agent_id="unknown").refused(404, "not_found")
