"""Arguments of a wrong kind: whatever is passed, Python's own errors come out, and they do not
repeat it."""

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.ir import (
    AbstractMemoryStore,
    MemoryEntry,
    MemoryScope,
    PostgresMemoryStore,
    RunnerMemory,
    SQLiteMemoryStore,
    apply_default_ttl,
    create_memory,
)
from tests.ir.library import Library, an_entry, done, new_name

ENTRY: dict[str, Any] = {
    "scope": "long_term",
    "agent_slug": "worker",
    "key": "colour",
    "value": {"name": "ochre"},
}
MADE: dict[str, Any] = ENTRY | {
    "run_id": None,
    "ttl_seconds": 60,
    "pii_tags": ["name"],
    "tags": ["t"],
    "retention_policy": None,
    "metadata": {"n": 1},
}
METHODS: dict[str, dict[str, Any]] = {
    "create_memory": {"entry": None},
    "get_memory": {"memory_id": "m"},
    "update_memory": {"entry": None},
    "delete_memory": {"memory_id": "m"},
    "list_memories": {
        "scope": None,
        "agent_slug": "worker",
        "run_id": None,
        "key": None,
        "tags": None,
        "include_expired": False,
        "limit": 1,
        "offset": 0,
    },
    "search_memories": {"query": "ochre", "scope": None, "agent_slug": "worker", "limit": 1},
    "vacuum": {"scope": None, "older_than_days": 90, "dry_run": True},
    "as_principal": {"agent_slug": "worker", "run_id": None, "org_id": "default"},
    "start_run": {"agent_slug": "worker", "run_id": None, "parent_run_id": None},
    "complete_run": {"run_id": "r", "status": "failed"},
}
RUNNER_METHODS: dict[str, dict[str, Any]] = {
    "save_memory": MADE,
    "load_memories": {
        name: value
        for name, value in METHODS["list_memories"].items()
        if name not in ("include_expired", "offset")
    },
    "search_memories": METHODS["search_memories"],
    "delete_memory": METHODS["delete_memory"],
    "start_run": METHODS["start_run"],
    "complete_run": METHODS["complete_run"],
    "as_principal": METHODS["as_principal"],
}

SAID = "zanzibar"
_leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.binary(max_size=8)
    | st.sampled_from([SAID, SAID.encode(), 10**30, -(10**400), object(), {1, 2}, ..., int])
)
junk = st.recursive(
    _leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(st.text(max_size=4) | st.integers(), inner, max_size=3)
    ),
    max_leaves=6,
)
fuzzed = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def tried(call: Callable[..., Any], good: dict[str, Any], name: str, wrong: object) -> None:
    """Calls it with one wrong argument. Other errors than Python's three get through to pytest."""
    said = ""
    try:
        answer = call(**good | {name: wrong})
        if isawaitable(answer):
            done(_awaited(answer))
    except (ValueError, PermissionError, RuntimeError) as error:
        said = str(error)
    assert SAID not in said


async def _awaited(work: Awaitable[Any]) -> Any:
    return await work


def one_of(methods: dict[str, dict[str, Any]]) -> st.SearchStrategy[tuple[str, str]]:
    """A method, and one of its arguments."""
    return st.sampled_from([(call, name) for call, good in methods.items() for name in good])


@fuzzed
@given(st.sampled_from(sorted(MADE)), junk)
def test_a_new_entry_takes_or_refuses_anything(name: str, wrong: object) -> None:
    tried(create_memory, MADE, name, wrong)


@fuzzed
@given(st.sampled_from(sorted(MemoryEntry.model_fields)), junk)
def test_a_field_takes_or_refuses_anything(name: str, wrong: object) -> None:
    tried(MemoryEntry, ENTRY, name, wrong)
    entry = MemoryEntry(**ENTRY)
    tried(lambda **said: setattr(entry, name, said[name]), {}, name, wrong)
    assert MemoryEntry(**entry.model_dump()) == entry


@fuzzed
@given(junk)
def test_terms_and_moments_take_or_refuse_anything(wrong: object) -> None:
    tried(MemoryEntry(**ENTRY).set_ttl, {}, "seconds", wrong)
    tried(MemoryEntry(**ENTRY).is_expired, {}, "now", wrong)
    tried(apply_default_ttl, {}, "scope", wrong)


@fuzzed
@given(one_of(METHODS), junk)
def test_a_store_takes_or_refuses_anything(
    library: Library, at: tuple[str, str], wrong: object
) -> None:
    call, name = at
    for store in (library.store, library.store.as_principal("worker")):
        tried(getattr(store, call), METHODS[call], name, wrong)


@fuzzed
@given(one_of(RUNNER_METHODS), junk)
def test_a_runner_takes_or_refuses_anything(
    library: Library, at: tuple[str, str], wrong: object
) -> None:
    call, name = at
    tried(getattr(RunnerMemory(library.store), call), RUNNER_METHODS[call], name, wrong)


@fuzzed
@given(st.sampled_from(["stage", "direction", "payload", "run_id", "agent_slug", "task_id"]), junk)
def test_a_capture_never_fails(library: Library, name: str, wrong: object) -> None:
    runner = RunnerMemory(library.store)
    good = {"stage": "mag", "direction": "input", "payload": 1, "run_id": "r", "agent_slug": "a"}
    capture = runner.capture(**good | {name: wrong})  # type: ignore[arg-type]
    assert capture is not None
    capture.result(60)
    done(runner.close())


@fuzzed
@given(junk)
def test_whatever_opens_no_store_is_a_value_error(wrong: object) -> None:
    tried(PostgresMemoryStore, {}, "dsn", wrong)
    tried(SQLiteMemoryStore, {}, "db_path", wrong)
    tried(SQLiteMemoryStore, {"db_path": "m.db"}, "enable_fts", wrong)
    tried(RunnerMemory, {"enable_memory": False}, "store", wrong)
    tried(RunnerMemory, {"store": SQLiteMemoryStore("m.db")}, "enable_memory", wrong)


@pytest.mark.parametrize("name", ["tags", "pii_tags"])
@pytest.mark.parametrize("wrong", ["email", "", b"email", {"email": 1}, 5, [1], False], ids=repr)
def test_tags_are_a_list_of_texts_and_no_text(name: str, wrong: object) -> None:
    with pytest.raises(ValueError, match=name):
        create_memory(**MADE | {name: wrong})
    with pytest.raises(ValueError, match=name):
        MemoryEntry(**ENTRY, **{name: wrong})
    entry = MemoryEntry(**ENTRY)
    with pytest.raises(ValueError, match=name):
        setattr(entry, name, wrong)
    assert getattr(entry, name) == []


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("memory_id", b"m"),
        ("agent_slug", b"worker"),
        ("run_id", b"run"),
        ("key", b"colour"),
        ("value", {b"name": "ochre"}),
        ("metadata", {b"name": "ochre"}),
        ("retention_policy", b"dev"),
        ("embedding", ["1.5"]),
        ("created_at", 60),
        ("expires_at", 60),
        ("expires_at", "60"),
        ("expires_at", True),
    ],
    ids=repr,
)
def test_what_only_resembles_a_value_is_refused(name: str, wrong: object) -> None:
    with pytest.raises(ValueError, match=name):
        MemoryEntry(**ENTRY | {name: wrong})


@pytest.mark.parametrize(
    ("call", "name", "wrong"),
    [
        ("create_memory", "entry", None),
        ("create_memory", "entry", ENTRY),
        ("update_memory", "entry", "m"),
        ("get_memory", "memory_id", None),
        ("delete_memory", "memory_id", b"m"),
        ("list_memories", "scope", SAID),
        ("list_memories", "agent_slug", 5),
        ("list_memories", "run_id", b"r"),
        ("list_memories", "key", ["k"]),
        ("list_memories", "tags", SAID),
        ("list_memories", "tags", b"ab"),
        ("list_memories", "tags", [None]),
        ("list_memories", "include_expired", "no"),
        ("list_memories", "limit", "10"),
        ("list_memories", "limit", 1001),
        ("list_memories", "offset", None),
        ("list_memories", "offset", -1),
        ("search_memories", "query", None),
        ("search_memories", "query", b"ochre"),
        ("search_memories", "limit", 0),
        ("vacuum", "scope", [MemoryScope.ORG]),
        ("vacuum", "older_than_days", 10**30),
        ("vacuum", "dry_run", 0),
        ("as_principal", "agent_slug", None),
        ("as_principal", "run_id", 7),
        ("as_principal", "org_id", None),
        ("start_run", "agent_slug", 5),
        ("start_run", "run_id", ""),
        ("start_run", "parent_run_id", 5),
        ("complete_run", "run_id", None),
        ("complete_run", "status", SAID),
        ("complete_run", "status", "running"),
    ],
    ids=repr,
)
def test_a_store_names_the_argument_that_is_wrong(
    library: Library, call: str, name: str, wrong: object
) -> None:
    with pytest.raises(ValueError, match=name) as refusal:
        done(_called(library.store, call, METHODS[call] | {name: wrong}))
    assert SAID not in str(refusal.value)


@pytest.mark.parametrize("wrong", ["done", "running"])
def test_a_refused_end_of_a_run_names_the_ends_that_there_are(library: Library, wrong: str) -> None:
    with pytest.raises(ValueError, match=r"of succeeded, failed, cancelled$"):
        done(library.store.complete_run("r", wrong))


async def _called(store: AbstractMemoryStore, call: str, arguments: dict[str, Any]) -> None:
    answer = getattr(store, call)(**arguments)
    if isawaitable(answer):
        await answer


def test_tags_may_be_any_collection_of_texts(library: Library) -> None:
    slug = new_name()
    entry = library.adds(slug, tags=("a", "b"))
    for tags in (["a"], ("a", "b"), {"b"}, [], None):
        assert library.lists(agent_slug=slug, tags=tags) == [entry]


def test_an_instant_may_be_a_text() -> None:
    entry = an_entry()
    entry.expires_at = "2026-03-01T12:00:00+09:00"  # type: ignore[assignment]
    assert str(entry.expires_at) == "2026-03-01 03:00:00+00:00"
