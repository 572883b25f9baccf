"""The embedded store's names and signatures, as agents' code calls them."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from recollect import ir
from recollect.ir import (
    AbstractMemoryStore,
    MemoryEntry,
    MemoryScope,
    PostgresMemoryStore,
    RunnerMemory,
    SQLiteMemoryStore,
)

NAMES = {
    "AbstractMemoryStore",
    "Capture",
    "MemoryEntry",
    "MemoryScope",
    "PostgresMemoryStore",
    "Run",
    "RunStatus",
    "RunnerMemory",
    "SQLiteMemoryStore",
    "SecretRefused",
    "apply_default_ttl",
    "create_memory",
}
FIELDS = (
    "memory_id scope agent_slug run_id key value created_at updated_at expires_at pii_tags "
    "retention_policy embedding tags metadata unreadable"
)
NONE = inspect.Parameter.empty
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "create": (
        ir.create_memory,
        {
            "scope": NONE,
            "agent_slug": NONE,
            "key": NONE,
            "value": NONE,
            "run_id": None,
            "ttl_seconds": None,
            "pii_tags": None,
            "tags": None,
            "retention_policy": None,
            "metadata": None,
        },
    ),
    "list": (
        AbstractMemoryStore.list_memories,
        {
            "scope": None,
            "agent_slug": None,
            "run_id": None,
            "key": None,
            "tags": None,
            "include_expired": False,
            "limit": 100,
            "offset": 0,
        },
    ),
    "search": (
        AbstractMemoryStore.search_memories,
        {"query": NONE, "scope": None, "agent_slug": None, "limit": 100},
    ),
    "vacuum": (
        AbstractMemoryStore.vacuum,
        {"scope": None, "older_than_days": 90, "dry_run": False},
    ),
    "bind": (
        AbstractMemoryStore.as_principal,
        {"agent_slug": NONE, "run_id": None, "org_id": "default"},
    ),
    "file": (SQLiteMemoryStore.__init__, {"db_path": ".recollect/memory.db", "enable_fts": True}),
    "server": (PostgresMemoryStore.__init__, {"dsn": NONE}),
    "runner": (RunnerMemory.__init__, {"store": None, "enable_memory": None}),
    "load": (
        RunnerMemory.load_memories,
        {
            "scope": None,
            "agent_slug": None,
            "run_id": None,
            "key": None,
            "tags": None,
            "limit": 100,
        },
    ),
    "capture": (
        RunnerMemory.capture,
        {
            "stage": NONE,
            "direction": NONE,
            "payload": NONE,
            "run_id": NONE,
            "agent_slug": NONE,
            "task_id": None,
        },
    ),
    "start": (
        RunnerMemory.start_run,
        {"agent_slug": NONE, "run_id": None, "parent_run_id": None},
    ),
}


def test_the_package_has_these_names() -> None:
    assert set(ir.__all__) == NAMES
    assert all(hasattr(ir, name) for name in NAMES)


def test_an_entry_has_these_fields() -> None:
    assert list(MemoryEntry.model_fields) == FIELDS.split()
    assert {scope.name: scope.value for scope in MemoryScope} == {
        "SESSION": "session",
        "LONG_TERM": "long_term",
        "ORG": "org",
    }


@pytest.mark.parametrize("name", CALLS)
def test_calls_take_these_arguments_by_place_and_by_name(name: str) -> None:
    call, expected = CALLS[name]
    parameters = inspect.signature(call).parameters
    taken = {name: one.default for name, one in parameters.items() if name != "self"}
    assert taken == expected
    assert list(taken) == list(expected)
    by_place = inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert {one.kind for one in parameters.values()} == {by_place}


@pytest.mark.parametrize("store", [SQLiteMemoryStore, PostgresMemoryStore])
def test_stores_take_what_the_abstract_one_takes(store: type[AbstractMemoryStore]) -> None:
    for name in AbstractMemoryStore.__abstractmethods__:
        own, abstract = (
            inspect.signature(getattr(one, name)) for one in (store, AbstractMemoryStore)
        )
        assert own.parameters == abstract.parameters, name
