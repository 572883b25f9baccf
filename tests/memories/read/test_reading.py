"""Reading memories: who sees a memory, when, and in which order."""

import json
import struct
from datetime import timedelta
from typing import Any

import pytest

from recollect.kernel.ids import AgentId, MemoryId
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import MemoryStatus
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.store import StoredMemories
from tests.support.world import new_id

pytestmark = pytest.mark.surfaces("grpc")

MEMBERS = [
    "id",
    "kind",
    "content",
    "key",
    "value",
    "space",
    "group_id",
    "visibility",
    "scope",
    "agent_id",
    "org_id",
    "type",
    "sensitivity",
    "portable",
    "subjects",
    "stated_by",
    "learned_in",
    "learned_in_conversation",
    "origin",
    "observed_at",
    "confidence",
    "verified",
    "trust",
    "tags",
    "metadata",
    "pii_tags",
    "retention_policy",
    "expires_at",
    "expiry_rule",
    "requested_expires_at",
    "valid_from",
    "valid_until",
    "created_at",
    "updated_at",
    "retracted_at",
    "supersedes",
    "superseded_by",
    "conflicts_with",
    "repeats",
    "version",
    "source",
    "source_entries",
    "source_memories",
    "source_agent",
    "run_id",
    "parent_run_id",
    "status",
    "archive_reason",
]


def own(caller: Caller) -> Space:
    return Space(SpaceKind.USER, caller.name)


def of_agent(agent: dict[str, Any], kind: SpaceKind = SpaceKind.AGENT_PUBLIC) -> dict[str, Any]:
    return {"space": Space(kind, agent["id"]), "agent_id": AgentId(agent["id"])}


def ids(found: list[dict[str, Any]]) -> list[str]:
    return [memory["id"] for memory in found]


def test_a_memory_has_all_its_members(callers: Callers, stored_memories: StoredMemories) -> None:
    ann = callers.person("ann")
    agent = ann.registers()
    memory_id = stored_memories.puts(
        **of_agent(agent), key="theme", value={"colour": "dark"}, tags=("a",)
    )
    memory = ann.get("/memories/{}", memory_id).expect(200)
    assert sorted(memory) == sorted(MEMBERS)
    assert memory["space"] == {"kind": "agent_public", "id": agent["id"]}
    assert memory["group_id"] == f"agent-{agent['id']}-public"
    assert (memory["visibility"], memory["scope"]) == ("public", "long_term")
    assert (memory["kind"], memory["key"]) == ("record", "theme")
    assert memory["value"] == {"colour": "dark"}
    assert (memory["status"], memory["version"], memory["tags"]) == ("active", 1, ["a"])


def test_memories_answer_without_a_version_in_the_path_too(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann = callers.person("ann")
    memory_id = stored_memories.puts(own(ann))
    found = ann.get("../memories/{}", memory_id).expect(200)
    assert found == ann.get("/memories/{}", memory_id).expect(200)


@pytest.mark.parametrize("path", ["/memories/{}", "/memories/{}/history", "/memories/{}/explain"])
def test_who_may_not_read_it_is_told_as_of_an_unknown_one(
    callers: Callers, stored_memories: StoredMemories, path: str
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    private = stored_memories.puts(**of_agent(ann.registers(), SpaceKind.AGENT_PRIVATE))
    ann.get(path, private).expect(200)
    hidden = bob.get(path, private)
    unknown = new_id()
    assert hidden.refused(404, "not_found") == {"resource": "memory", "id": private}
    told = bob.get(path, unknown)
    assert json.dumps(told.body).replace(unknown, private) == json.dumps(hidden.body)


@pytest.mark.parametrize("id_", ["a b", "ü", "\x00", "x" * 129])
def test_what_can_be_no_id_is_unknown(callers: Callers, id_: str) -> None:
    callers.person("ann").get("/memories/{}", id_).refused(404, "not_found")


def test_an_unknown_cursor_is_refused(callers: Callers) -> None:
    ann = callers.person("ann")
    assert ann.get("/memories", spaces="all", after="x").status == 422


def test_pages_show_everything_once_newest_first(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann = callers.person("ann")
    at = stored_memories.now
    made = sorted((stored_memories.puts(own(ann), at=at) for _ in range(5)), reverse=True)
    older = stored_memories.puts(own(ann), at=at - timedelta(days=1))
    assert ids(ann.lists("/memories", user_id=ann.name, limit=2)) == [*made, older]


def test_a_cursor_outlives_its_row(callers: Callers, stored_memories: StoredMemories) -> None:
    ann = callers.person("ann")
    at = stored_memories.now
    made = [stored_memories.puts(own(ann), at=at - timedelta(seconds=n)) for n in range(4)]
    page = ann.get("/memories", user_id=ann.name, limit=2).expect(200)
    memories = stored_memories.storage.stores.memories
    stored_memories.storage.do(memories.delete, MemoryId(made[1]), at=at)
    rest = ann.get("/memories", user_id=ann.name, after=page["next_cursor"]).expect(200)
    assert ids(rest["data"]) == made[2:]
    assert rest["next_cursor"] is None


def test_a_due_memory_is_hidden_from_its_instant_on(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent = ann.registers()
    clock = callers.world.clock
    with clock.hold() as now:
        due = now + timedelta(days=3)
        memory_id = stored_memories.puts(
            **of_agent(agent), expires_at=due, expiry_rule="type:observation"
        )
        clock.advance(seconds=259_199.999999)
        assert ann.get("/memories/{}", memory_id).expect(200)["status"] == "active"
        assert ids(bob.lists("/memories", agent_id=agent["id"])) == [memory_id]
        clock.advance(microseconds=1)
        ann.get("/memories/{}", memory_id).refused(404, "not_found")
        ann.get("/memories/{}/history", memory_id).refused(404, "not_found")
        ann.get("/memories/{}/explain", memory_id).refused(404, "not_found")
        assert ann.lists("/memories", agent_id=agent["id"]) == []
        (shown,) = ann.lists("/memories", agent_id=agent["id"], include_expired=True)
        assert (shown["id"], shown["status"]) == (memory_id, "expired")
        assert ids(ann.lists("/memories", agent_id=agent["id"], status="expired")) == [memory_id]
        assert bob.lists("/memories", agent_id=agent["id"], include_expired=True) == []


@pytest.mark.parametrize(
    "status", [MemoryStatus.SUPERSEDED, MemoryStatus.ARCHIVED, MemoryStatus.QUARANTINED]
)
def test_lists_have_active_memories_unless_asked_for_others(
    callers: Callers, stored_memories: StoredMemories, status: MemoryStatus
) -> None:
    ann = callers.person("ann")
    memory_id = stored_memories.puts(own(ann), status=status)
    assert ann.lists("/memories", user_id=ann.name) == []
    asked = ann.lists("/memories", user_id=ann.name, status=str(status))
    assert ids(asked) == ([] if status is MemoryStatus.QUARANTINED else [memory_id])


@pytest.mark.rest_only("a message has no vector that is null")
def test_the_vector_is_for_writers_who_ask(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    memory_id = stored_memories.puts(**of_agent(ann.registers()))
    asked = {"include": "embedding"}
    assert ann.get("/memories/{}", memory_id, **asked).expect(200)["embedding"] is None
    put_vector(stored_memories, memory_id, [0.5, -2.0])
    assert ann.get("/memories/{}", memory_id, **asked).expect(200)["embedding"] == [0.5, -2.0]
    assert "embedding" not in ann.get("/memories/{}", memory_id).expect(200)
    assert "embedding" not in bob.get("/memories/{}", memory_id, **asked).expect(200)


def test_an_agent_reads_what_its_run_left(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann = callers.person("ann")
    agent = ann.registers()
    run = ann.post("/runs", body={"agent_id": agent["id"]}).expect(201)
    in_run = stored_memories.insert_in_run(run)
    itself = callers.agent(agent["id"])
    assert ids(itself.lists("/memories", run_id=run["id"])) == [in_run]
    itself.get("/memories/{}", in_run).expect(200)


def put_vector(stored_memories: StoredMemories, memory_id: str, vector: list[float]) -> None:
    sent: Any = str(vector)
    if stored_memories.world.database.engine == "sqlite":
        sent = struct.pack(f">{len(vector)}f", *vector)
    stored_memories.world.database.rows(
        "INSERT INTO memory_embeddings (doc, memory_id, embedding, model, dimensions)"
        " SELECT doc, id, :vector, 'test', 2 FROM memories WHERE id = :id",
        id=memory_id,
        vector=sent,
    )
