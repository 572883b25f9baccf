"""Code that agents were written with before there was this package: it runs as it stands, with
another line of imports."""

import ast
import asyncio
import inspect
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from recollect.ir import (
    AbstractMemoryStore,
    MemoryEntry,
    MemoryScope,
    create_memory,
)
from tests.ir.library import a_store
from tests.support.engines import TestDatabase

CREATING = """
from recollect.ir import create_memory, MemoryScope

# Create a session-scoped memory
session_memory = create_memory(
    scope=MemoryScope.SESSION,
    agent_slug="my-agent",
    run_id="run-abc123",
    key="task_context",
    value={
        "user_query": "Implement feature X",
        "current_step": "analysis"
    },
    ttl_seconds=3600,  # 1 hour
    tags=["task", "context"]
)

# Create a long-term memory
user_prefs = create_memory(
    scope=MemoryScope.LONG_TERM,
    agent_slug="my-agent",
    key="user_preferences",
    value={
        "theme": "dark",
        "language": "python",
        "verbosity": "detailed"
    },
    retention_policy="production",
    tags=["preferences"]
)

# Create an org-wide shared memory
org_config = create_memory(
    scope=MemoryScope.ORG,
    agent_slug="config-agent",
    key="api_limits",
    value={
        "max_requests_per_minute": 100,
        "max_tokens_per_request": 4096
    },
    retention_policy="permanent"
)
"""

STORING = """
from recollect.ir import SQLiteMemoryStore

# Initialize SQLite store (development)
store = SQLiteMemoryStore(
    db_path=".magsag/memory.db",
    enable_fts=True  # Enable full-text search
)
await store.initialize()

# Create a memory entry
await store.create_memory(session_memory)
"""

WORKING = """
# Retrieve a memory
entry = await store.get_memory(memory_id)

# Update a memory
entry.value["current_step"] = "implementation"
await store.update_memory(entry)

# List memories with filters
memories = await store.list_memories(
    scope=MemoryScope.LONG_TERM,
    agent_slug="my-agent",
    tags=["preferences"]
)

# Full-text search
results = await store.search_memories(
    query="python",
    scope=MemoryScope.LONG_TERM
)
"""

PERSONAL = """
# Create memory with PII tags
user_data = create_memory(
    scope=MemoryScope.LONG_TERM,
    agent_slug="my-agent",
    key="user_contact",
    value={
        "email": "user@example.com",
        "phone": "+1-555-0123"
    },
    pii_tags=["email", "phone"],
    retention_policy="compliance"
)
user_profile = create_memory(
    scope=MemoryScope.LONG_TERM,
    agent_slug="my-agent",
    key="user_profile",
    value={
        "name": "John Doe",
        "email": "john@example.com",
        "preferences": {"theme": "dark"}
    },
    pii_tags=["name", "email"]  # Only PII fields
)
"""

POLICY = """
# Use a named retention policy
memory = create_memory(
    scope=MemoryScope.LONG_TERM,
    agent_slug="my-agent",
    key="audit_log",
    value={"action": "data_access", "timestamp": "..."},
    retention_policy="compliance"
)
"""

TERMS = """
# Set TTL explicitly
memory.set_ttl(3600)  # 1 hour

# Check if expired
if memory.is_expired():
    print("Memory has expired")

# Apply default TTL for scope
from recollect.ir import apply_default_ttl

ttl = apply_default_ttl(MemoryScope.SESSION)  # 3600 seconds
"""

CLEANING = """
# Manually expire old memories
count = await store.expire_old_memories()
print(f"Deleted {count} expired memories")

# Vacuum old memories (retention-based cleanup)
report = await store.vacuum(
    scope=MemoryScope.SESSION,
    older_than_days=7,
    dry_run=True  # Preview what would be deleted
)
print(f"Would delete: {report['would_delete_count']} memories")

# Perform actual cleanup
report = await store.vacuum(
    older_than_days=90,
    dry_run=False
)
"""

TAGGING = """
# Good: Explicit TTL for session data
temp_data = create_memory(
    scope=MemoryScope.SESSION,
    agent_slug="my-agent",
    run_id=run_id,
    key="temp_result",
    value=result,
    ttl_seconds=3600  # Clean up after 1 hour
)

# Good: Use named policy for compliance
audit_log = create_memory(
    scope=MemoryScope.LONG_TERM,
    agent_slug="my-agent",
    key="access_log",
    value=log_entry,
    retention_policy="compliance"  # 365 days
)

# Good: Use descriptive tags
memory = create_memory(
    scope=MemoryScope.LONG_TERM,
    agent_slug="my-agent",
    key="experiment_results",
    value=results,
    tags=["experiment", "ml", "production"]
)
for entry in (temp_data, audit_log, memory):
    await store.create_memory(entry)

# Later: Query by tags
ml_memories = await store.list_memories(tags=["ml", "production"])
"""

RUN_CLEANING = '''
async def cleanup_run_memories(run_id: str, store: AbstractMemoryStore) -> None:
    """Clean up all session memories for a completed run."""
    memories = await store.list_memories(
        scope=MemoryScope.SESSION,
        run_id=run_id
    )

    for memory in memories:
        await store.delete_memory(memory.memory_id)
'''

DELEGATING = """
# MAG creates session-scoped context for delegation
async def delegate_task(mag_agent: Agent, task: str) -> None:
    # Store delegation context
    context = create_memory(
        scope=MemoryScope.SESSION,
        agent_slug=mag_agent.slug,
        run_id=mag_agent.run_id,
        key=f"delegation_{task_id}",
        value={
            "task": task,
            "delegated_to": "sag-worker",
            "started_at": datetime.utcnow().isoformat()
        },
        tags=["delegation", "task"]
    )

    await memory_store.create_memory(context)

# SAG accesses parent MAG context
async def execute_subtask(sag_agent: Agent, parent_run_id: str) -> None:
    # Read parent context
    contexts = await memory_store.list_memories(
        scope=MemoryScope.SESSION,
        run_id=parent_run_id,
        tags=["delegation"]
    )
    seen.extend(contexts)

    # Store own results
    result = create_memory(
        scope=MemoryScope.SESSION,
        agent_slug=sag_agent.slug,
        run_id=sag_agent.run_id,
        key="subtask_result",
        value={"status": "completed", "output": output},
        tags=["result"]
    )

    await memory_store.create_memory(result)
"""

ASKING = """
# Agents can only access their own LONG_TERM memories
memories = await store.list_memories(
    scope=MemoryScope.LONG_TERM,
    agent_slug=current_agent.slug  # Enforced by store
)
memory = await store.get_memory(memory_id)
if memory is None:
    # Check if expired
    all_memories = await store.list_memories(include_expired=True)
"""


async def run(code: str, names: dict[str, Any]) -> dict[str, Any]:
    """Run code that awaits at its outermost level; the names that it knows then."""
    compiled = compile(code, "<example>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    awaited = eval(compiled, names)
    if inspect.isawaitable(awaited):
        await awaited
    return names


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def names(new_database: Callable[[], TestDatabase]) -> dict[str, Any]:
    """What the examples use without saying where it is from."""
    return {
        "AbstractMemoryStore": AbstractMemoryStore,
        "Agent": SimpleNamespace,
        "MemoryScope": MemoryScope,
        "create_memory": create_memory,
        "datetime": SimpleNamespace(utcnow=lambda: datetime.now(UTC)),
        "memory_store": a_store(new_database()),
        "task_id": "t-1",
        "output": "42",
        "seen": [],
        "run_id": "run-1",
        "result": {"n": 1},
        "log_entry": {"who": "ann"},
        "results": {"score": 0.5},
    }


def test_the_first_steps_in_a_file(
    names: dict[str, Any], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    async def steps() -> None:
        await run(CREATING + STORING, names)
        await names["store"].create_memory(names["user_prefs"])
        await names["store"].create_memory(names["org_config"])
        names["memory_id"] = names["session_memory"].memory_id
        await run(WORKING, names)
        await run(CLEANING, names)
        await names["store"].close()

    asyncio.run(steps())
    assert names["entry"].value["current_step"] == "implementation"
    prefs = names["user_prefs"].memory_id
    assert [one.memory_id for one in names["memories"]] == [prefs]
    assert [one.memory_id for one in names["results"]] == [prefs]
    assert capsys.readouterr().out == "Deleted 0 expired memories\nWould delete: 0 memories\n"
    assert (tmp_path / ".magsag" / "memory.db").exists()


def stored_by(names: dict[str, Any], code: str, *made: str) -> list[MemoryEntry]:
    """Run code on the shared store, and store the entries that it made."""

    async def steps() -> list[MemoryEntry]:
        async with names["memory_store"] as store:
            names["store"] = store
            await run(code, names)
            return [await store.create_memory(names[name]) for name in made]

    return asyncio.run(steps())


def test_personal_data_has_its_caps(names: dict[str, Any]) -> None:
    contact, profile = stored_by(names, PERSONAL, "user_data", "user_profile")
    assert contact.expires_at == contact.created_at + timedelta(days=90)
    assert profile.pii_tags == ["email", "name"]
    assert profile.expires_at == profile.created_at + timedelta(days=30)


def test_a_policy_has_its_term(names: dict[str, Any]) -> None:
    (log,) = stored_by(names, POLICY, "memory")
    assert log.expires_at == log.created_at + timedelta(days=365)


def test_terms_are_set_and_looked_up(
    names: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    (memory,) = stored_by(names, POLICY + TERMS, "memory")
    assert names["ttl"] == 3600
    assert memory.expires_at == names["memory"].expires_at
    assert capsys.readouterr().out == ""


def test_entries_are_found_by_all_their_tags(names: dict[str, Any]) -> None:
    stored_by(names, TAGGING)
    assert [one.key for one in names["ml_memories"]] == ["experiment_results"]


def test_a_master_hands_its_context_to_a_sub_agent_and_a_run_is_cleaned(
    names: dict[str, Any],
) -> None:
    mag = SimpleNamespace(slug="mag", run_id="run-mag")
    sag = SimpleNamespace(slug="sag-worker", run_id="run-sag")

    async def steps() -> list[list[str]]:
        await run(RUN_CLEANING + DELEGATING, names)
        async with names["memory_store"] as store:
            await names["delegate_task"](mag, "paint")
            await names["execute_subtask"](sag, mag.run_id)
            await names["cleanup_run_memories"](mag.run_id, store)
            left = [await store.list_memories(run_id=one.run_id) for one in (mag, sag)]
            return [[entry.key for entry in entries] for entries in left]

    assert asyncio.run(steps()) == [[], ["subtask_result"]]
    assert [entry.value["task"] for entry in names["seen"]] == ["paint"]


def test_state_of_a_file_becomes_an_entry(names: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "my-agent.json"
    file.write_text(json.dumps({"step": 3}))
    names |= {"agent_slug": "my-agent", "state": json.loads(file.read_text())}
    code = """
memory = create_memory(
    scope=MemoryScope.LONG_TERM,
    agent_slug=agent_slug,
    key="agent_state",
    value=state
)
await memory_store.create_memory(memory)
"""
    stored_by(names, code)
    names |= {"current_agent": SimpleNamespace(slug="my-agent"), "memory_id": "unknown"}
    stored_by(names, ASKING)
    assert [entry.value for entry in names["memories"]] == [{"step": 3}]
    assert [entry.key for entry in names["all_memories"]] == ["agent_state"]
