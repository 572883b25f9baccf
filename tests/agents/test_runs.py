"""Runs: who starts, sees and ends them, and what goes with them."""

from typing import Any

import pytest

from recollect.kernel.space import Space, SpaceKind
from tests.conftest import Host
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.store import StoredMemories, open_stored_memories
from tests.support.world import at_once

pytestmark = pytest.mark.surfaces("grpc", scenarios_only=True)


def starts(caller: Caller, agent: dict[str, Any], **members: Any) -> dict[str, Any]:
    """A run of the agent."""
    run: dict[str, Any] = caller.post("/runs", body={"agent_id": agent["id"]} | members).expect(201)
    return run


def ends(caller: Caller, run: dict[str, Any], status: str = "succeeded") -> dict[str, int]:
    """Complete a run; what was removed."""
    body = {"status": status}
    removed: dict[str, int] = caller.post("/runs/{}/complete", run["id"], body=body).expect(200)[
        "removed"
    ]
    return removed


def ids(runs: list[dict[str, Any]]) -> list[str]:
    return [run["id"] for run in runs]


def test_a_run_without_parent_is_a_root(callers: Callers) -> None:
    ann = callers.person("ann")
    agent = ann.registers()
    run = starts(ann, agent, metadata={"task": "tidy"})
    assert run["root_run_id"] == run["id"]
    assert (run["parent_run_id"], run["completed_at"]) == (None, None)
    assert (run["status"], run["metadata"]) == ("running", {"task": "tidy"})
    assert ann.get("/runs/{}", run["id"]).expect(200) == run


def test_a_child_belongs_to_the_root_of_its_parent(callers: Callers) -> None:
    ann = callers.person("ann")
    agent = ann.registers()
    root = starts(ann, agent)
    child = starts(ann, agent, parent_run_id=root["id"])
    grandchild = starts(ann, agent, parent_run_id=child["id"])
    assert grandchild["root_run_id"] == root["id"]
    lineage = ann.get("/runs/{}/lineage", grandchild["id"]).expect(200)
    assert ids(lineage["ancestors"]) == [child["id"], root["id"]]
    assert lineage["descendants"] == []
    below = ann.get("/runs/{}/lineage", root["id"]).expect(200)["descendants"]
    assert ids(below) == [child["id"], grandchild["id"]]


def test_an_agent_sees_the_runs_above_and_below_its_own_and_no_sibling(callers: Callers) -> None:
    ann = callers.person("ann")
    parent, left, right = (ann.registers() for _ in range(3))
    root = starts(ann, parent)
    on_the_left = starts(ann, left, parent_run_id=root["id"])
    on_the_right = starts(ann, right, parent_run_id=root["id"])
    left_agent, parent_agent = callers.agent(left["id"]), callers.agent(parent["id"])
    assert ids(left_agent.lists("/runs")) == [on_the_left["id"], root["id"]]
    left_agent.get("/runs/{}", root["id"]).expect(200)
    left_agent.get("/runs/{}", on_the_right["id"]).refused(404, "not_found")
    seen = left_agent.get("/runs/{}/lineage", root["id"]).expect(200)["descendants"]
    assert ids(seen) == [on_the_left["id"]]
    assert len(parent_agent.lists("/runs")) == 3


def test_a_stranger_finds_no_run(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent = ann.registers()
    run = starts(ann, agent)
    unknown = bob.get("/runs/{}", "no-such-run").refused(404, "not_found")
    hidden = bob.get("/runs/{}", run["id"]).refused(404, "not_found")
    assert hidden == unknown | {"id": run["id"]}
    bob.get("/runs/{}/lineage", run["id"]).refused(404, "not_found")
    bob.post("/runs/{}/complete", run["id"], body={"status": "failed"}).refused(404, "not_found")
    assert bob.lists("/runs", agent_id=agent["id"]) == []


def test_only_the_agent_and_its_owner_start_its_runs(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent = ann.registers()
    body = {"agent_id": agent["id"]}
    bob.post("/runs", body=body).refused(403, "not_owner")
    callers.agent(agent["id"]).post("/runs", body=body).expect(201)
    bob.post("/runs", body={"agent_id": "nobody-here"}).refused(404, "not_found")


def test_a_parent_must_be_known_and_visible(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    hidden = starts(bob, bob.registers())
    agent = ann.registers()
    for parent in (hidden["id"], "no-such-run"):
        body = {"agent_id": agent["id"], "parent_run_id": parent}
        details = ann.post("/runs", body=body).refused(404, "not_found")
        assert details == {"resource": "run", "id": parent}
    itself = {"agent_id": agent["id"], "id": "loop", "parent_run_id": "loop"}
    ann.post("/runs", body=itself).refused(404, "not_found")


def test_an_id_is_taken_once(callers: Callers) -> None:
    ann = callers.person("ann")
    agent = ann.registers()
    run = starts(ann, agent, id=f"nightly of {agent['id']}")
    body = {"agent_id": agent["id"], "id": run["id"]}
    assert ann.post("/runs", body=body).refused(409, "conflict")["reason"] == "id_taken"


def test_secrets_in_metadata_and_error_are_refused(callers: Callers) -> None:
    ann = callers.person("ann")
    agent = ann.registers()
    secret = "sk-" + "ant-" + "a1" * 20
    body = {"agent_id": agent["id"], "metadata": {"note": secret}}
    details = ann.post("/runs", body=body).refused(422, "secret_refused")
    assert details == {"field": "metadata.note", "family": "provider_key"}
    run = starts(ann, agent)
    failed = {"status": "failed", "error": f"refused {secret}"}
    ann.post("/runs/{}/complete", run["id"], body=failed).refused(422, "secret_refused")
    assert ann.get("/runs/{}", run["id"]).expect(200)["status"] == "running"
    assert secret not in callers.world.database.stored_text()


def test_runs_are_listed_by_start_status_and_agent(callers: Callers) -> None:
    ann = callers.person("ann")
    agent, other = ann.registers(), ann.registers()
    runs = [starts(ann, agent) for _ in range(3)]
    elsewhere = starts(ann, other)
    ends(ann, runs[1], "cancelled")
    newest_first = [elsewhere["id"], *reversed(ids(runs))]
    assert ids(ann.lists("/runs", limit=2)) == newest_first
    assert ids(ann.lists("/runs", agent_id=agent["id"], status="running")) == [
        runs[2]["id"],
        runs[0]["id"],
    ]
    assert ids(ann.lists("/runs", status="cancelled")) == [runs[1]["id"]]
    ann.get("/runs", agent_id="nobody-here").refused(404, "not_found")
    ann.get("/runs", status="paused").refused(422, "validation_error")


def test_a_repeated_end_changes_nothing_and_another_end_is_refused(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann = callers.person("ann")
    run = starts(ann, ann.registers())
    stored_memories.insert_in_run(run)
    assert ends(ann, run) == {"ephemeral": 0, "critical_pii": 0, "session": 1}
    first = ann.get("/runs/{}", run["id"]).expect(200)
    assert ends(ann, run) == {"ephemeral": 0, "critical_pii": 0, "session": 0}
    assert ann.get("/runs/{}", run["id"]).expect(200) == first
    refused = ann.post("/runs/{}/complete", run["id"], body={"status": "failed"})
    assert refused.refused(409, "conflict")["reason"] == "wrong_state"


def test_who_only_sees_a_run_cannot_end_it(callers: Callers) -> None:
    ann = callers.person("ann")
    root = starts(ann, ann.registers())
    child_agent = ann.registers()
    starts(ann, child_agent, parent_run_id=root["id"])
    body = {"status": "failed"}
    callers.agent(child_agent["id"]).post("/runs/{}/complete", root["id"], body=body).refused(
        403, "not_owner"
    )


def test_a_session_write_to_an_unknown_run_starts_a_root(callers: Callers) -> None:
    ann = callers.person("ann")
    agent = ann.registers()
    run_id = f"first of {agent['id']}"
    memory = ann.adds("step one", agent_id=agent["id"], scope="session", run_id=run_id)
    run = ann.get("/runs/{}", run_id).expect(200)
    assert (run["agent_id"], run["root_run_id"], run["status"]) == (agent["id"], run_id, "running")
    assert (memory["run_id"], memory["group_id"]) == (run_id, f"run-{run_id}")
    ann.adds("step two", agent_id=agent["id"], scope="session", run_id=run_id)
    assert ids(ann.lists("/runs")) == [run_id]


def test_a_run_is_named_together_with_a_scope(callers: Callers) -> None:
    ann = callers.person("ann")
    agent = ann.registers()
    for members in ({}, {"visibility": "public"}, {"visibility": "private"}):
        body = {"content": "a step", "agent_id": agent["id"], "run_id": "r"} | members
        details = ann.post("/memories", body=body).refused(422, "validation_error")
        assert details["violations"][0]["field"] == "scope"
        assert details["violations"][0]["allowed"] == ["session", "long_term", "org"]
    assert ann.lists("/runs", agent_id=agent["id"]) == []
    assert ann.lists("/memories", agent_id=agent["id"]) == []


def test_what_a_completed_run_left_is_deleted_or_moved_and_never_changed(callers: Callers) -> None:
    ann = callers.person("ann")
    agent = ann.registers()
    root = starts(ann, agent)
    child = starts(ann, agent, parent_run_id=root["id"])
    members = {"agent_id": agent["id"], "scope": "session", "run_id": child["id"]}
    one, other = ann.adds("a step", **members), ann.adds("another step", **members)
    lasting = ann.adds("a fact", agent_id=agent["id"])
    ends(ann, child)
    change = {"content": "a late step"}
    item = {"op": "update", "id": one["id"]} | change
    into = {"space": {"kind": "run", "id": child["id"]}}
    for reply in (
        ann.patch("/memories/{}", one["id"], body=change),
        ann.post("/memories/batch", body={"items": [item]}),
        ann.post("/memories/{}/move", lasting["id"], body=into),
    ):
        assert reply.refused(409, "conflict")["reason"] == "run_completed"
    secret = {"content": "the PIN is 48213377"}
    ann.patch("/memories/{}", one["id"], body=secret).refused(422, "secret_refused")
    assert ann.get("/memories/{}", one["id"]).expect(200) == one
    ann.post("/memories/{}/move", one["id"], body={"visibility": "private"}).expect(201)
    ann.delete("/memories/{}", other["id"]).expect(204)


def test_nobody_writes_to_another_agents_run_or_to_a_completed_one(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent, other = ann.registers(), ann.registers()
    run = starts(ann, agent)
    body = {"content": "a step", "scope": "session", "run_id": run["id"]}
    ann.post("/memories", body=body | {"agent_id": other["id"]}).refused(403, "not_owner")
    for run_id in (run["id"], "no-such-run"):
        strange = body | {"agent_id": agent["id"], "run_id": run_id}
        bob.post("/memories", body=strange).refused(403, "not_owner")
    ends(ann, run)
    late = ann.post("/memories", body=body | {"agent_id": agent["id"]})
    assert late.refused(409, "conflict")["reason"] == "run_completed"


def test_two_writes_at_once_start_an_unknown_run_once(callers: Callers) -> None:
    ann = callers.person("ann")
    agent = ann.registers()
    run_id = f"raced of {agent['id']}"
    words = ("one", "two", "three", "four")
    written = at_once(
        [
            lambda w=word: ann.adds(w, agent_id=agent["id"], scope="session", run_id=run_id)  # type: ignore[misc]
            for word in words
        ]
    )
    assert {memory["run_id"] for memory in written} == {run_id}
    assert ids(ann.lists("/runs")) == [run_id]


@pytest.mark.scenario(29)
def test_agents_of_the_lineage_read_session_rows_and_nobody_else_does(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    parent, child, sibling = (ann.registers() for _ in range(3))
    root = starts(ann, parent)
    starts(ann, child, parent_run_id=root["id"])
    beside = starts(ann, sibling, parent_run_id=root["id"])
    session = {"scope": "session", "agent_id": parent["id"], "run_id": root["id"]}
    memory = ann.adds("the plan", **session)
    own = ann.adds("a step", **session | {"agent_id": sibling["id"], "run_id": beside["id"]})
    callers.agent(child["id"]).get("/memories/{}", memory["id"]).expect(200)
    ann.get("/memories/{}", memory["id"]).expect(200)
    callers.agent(child["id"]).get("/memories/{}", own["id"]).refused(404, "not_found")
    bob.get("/memories/{}", memory["id"]).refused(404, "not_found")
    bob.get("/memories", run_id=root["id"]).refused(404, "not_found")


@pytest.mark.scenario(29)
def test_session_rows_go_with_the_root_and_long_term_rows_stay(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann = callers.person("ann")
    root, child = _parent_and_child(ann)
    ordinary = stored_memories.insert_in_run(root)
    ephemeral = stored_memories.insert_in_run(root, retention_policy="ephemeral")
    critical = stored_memories.insert_in_run(root, pii_tags=("ssn",))
    below = stored_memories.insert_in_run(child, pii_tags=("email",))
    lasting = stored_memories.puts(
        Space(SpaceKind.AGENT_PRIVATE, root["agent_id"]), run_id=root["id"]
    )
    assert ends(ann, root) == {"ephemeral": 1, "critical_pii": 1, "session": 2}
    assert stored_memories.has([ordinary, ephemeral, critical, below, lasting]) == [False] * 4 + [
        True
    ]
    told = stored_memories.events("run", "complete")[-1]
    assert told["removed"] == {"ephemeral": 1, "critical_pii": 1, "session": 2}


def test_a_child_that_ends_takes_what_is_ephemeral_or_critical_with_it(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann = callers.person("ann")
    root, child = _parent_and_child(ann)
    above = stored_memories.insert_in_run(root, retention_policy="ephemeral")
    ordinary = stored_memories.insert_in_run(child)
    both = stored_memories.insert_in_run(child, retention_policy="ephemeral", pii_tags=("ssn",))
    critical = stored_memories.insert_in_run(child, pii_tags=("health",))
    assert ends(ann, child) == {"ephemeral": 1, "critical_pii": 1, "session": 0}
    assert stored_memories.has([above, ordinary, both, critical]) == [True, True, False, False]
    assert ends(ann, root)["session"] == 1
    assert stored_memories.has([above, ordinary]) == [False, False]


def test_rows_of_a_child_that_outlives_its_root_go_with_the_child(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann = callers.person("ann")
    root, child = _parent_and_child(ann)
    ends(ann, root)
    late = stored_memories.insert_in_run(child)
    assert ends(ann, child)["session"] == 1
    assert stored_memories.has([late]) == [False]


def test_a_root_and_its_child_that_end_at_once_leave_no_session_row(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann = callers.person("ann")
    for _ in range(5):
        root, child = _parent_and_child(ann)
        rows = [stored_memories.insert_in_run(run) for run in (root, child)]
        removed = at_once([lambda r=run: ends(ann, r) for run in (root, child)])  # type: ignore[misc]
        assert sum(counts["session"] for counts in removed) == 2
        assert stored_memories.has(rows) == [False, False]


def test_with_cleanup_by_run_session_rows_go_with_their_own_run(host: Host) -> None:
    with host(runs__session_cleanup="run") as world, open_stored_memories(world) as stored_memories:
        ann = Callers(world).person("ann")
        root, child = _parent_and_child(ann)
        above, below = stored_memories.insert_in_run(root), stored_memories.insert_in_run(child)
        assert ends(ann, child)["session"] == 1
        assert stored_memories.has([above, below]) == [True, False]
        assert ends(ann, root)["session"] == 1


def _parent_and_child(ann: Caller) -> tuple[dict[str, Any], dict[str, Any]]:
    root = starts(ann, ann.registers())
    return root, starts(ann, ann.registers(), parent_run_id=root["id"])
