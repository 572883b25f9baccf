"""The memory of a runner: when it is on, what it captures, and that no agent notices."""

import asyncio
import logging
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect.ir import (
    Capture,
    MemoryEntry,
    MemoryScope,
    RunnerMemory,
    SQLiteMemoryStore,
    capturing,
)
from tests.ir.library import Library, done, new_name

SESSION, LONG_TERM = MemoryScope.SESSION, MemoryScope.LONG_TERM
FLAG, ALIAS = "RECOLLECT_MEMORY__ENABLED", "MAGSAG_MEMORY_ENABLED"
PATH, PATH_ALIAS = "RECOLLECT_MEMORY__DB_PATH", "MAGSAG_MEMORY_DB_PATH"
SECRET = "sk-" + "a1b2c3d4e5f6g7h8i9"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (FLAG, ALIAS, PATH, PATH_ALIAS):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def runner(library: Library) -> Iterator[RunnerMemory]:
    memory = RunnerMemory(library.store)
    yield memory
    done(memory.close())


@pytest.mark.parametrize(
    ("environment", "enable_memory", "on"),
    [
        ({}, None, False),
        ({}, True, True),
        ({FLAG: "true"}, None, True),
        ({FLAG: "true"}, False, False),
        ({ALIAS: "true"}, None, True),
        ({ALIAS: "false"}, True, True),
        ({FLAG: "false", ALIAS: "true"}, None, False),
        ({FLAG: "", ALIAS: "true"}, None, True),
    ],
    ids=repr,
)
def test_memory_is_on_if_asked_for_or_flagged(
    environment: dict[str, str],
    enable_memory: bool | None,
    on: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert RunnerMemory(enable_memory=enable_memory).enabled is on


@pytest.mark.parametrize("set_too", [{}, {FLAG: ""}])
def test_a_bad_flag_is_told_by_the_name_that_was_set(
    set_too: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in ({ALIAS: "perhaps"} | set_too).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=ALIAS) as refusal:
        RunnerMemory()
    assert FLAG not in str(refusal.value)
    monkeypatch.setenv(FLAG, "maybe")
    with pytest.raises(ValueError, match=FLAG) as refusal:
        RunnerMemory()
    assert ALIAS not in str(refusal.value)


def test_a_store_that_was_given_is_used_unless_memory_is_off(library: Library) -> None:
    assert RunnerMemory(library.store).enabled
    assert not RunnerMemory(library.store, enable_memory=False).enabled


@pytest.mark.parametrize(
    ("environment", "file"),
    [
        ({}, ".recollect/memory.db"),
        ({PATH: "ours.db"}, "ours.db"),
        ({PATH_ALIAS: "theirs.db"}, "theirs.db"),
        ({PATH: "ours.db", PATH_ALIAS: "theirs.db"}, "ours.db"),
    ],
    ids=["default", "ours", "alias", "both"],
)
def test_the_file_is_where_the_environment_says(
    environment: dict[str, str], file: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    async def scenario() -> None:
        async with RunnerMemory(enable_memory=True) as runner:
            await runner.save_memory(LONG_TERM, "a", "k", {"n": 1})

    done(scenario())
    assert [path.name for path in tmp_path.rglob("*.db")] == [Path(file).name]
    assert (tmp_path / file).exists()


def test_a_store_that_cannot_start_fails_at_the_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv(PATH, str(tmp_path / "file" / "memory.db"))
    runner = RunnerMemory(enable_memory=True)
    with pytest.raises(RuntimeError, match="db_path: the database file can't be opened"):
        done(runner.start())
    with pytest.raises(RuntimeError, match="db_path"):
        done(runner.load_memories())


def test_a_runner_without_memory_says_so_only_where_somebody_relies_on_it(tmp_path: Path) -> None:
    off = RunnerMemory(enable_memory=False)
    with pytest.raises(RuntimeError, match="memory is off"):
        done(off.save_memory(LONG_TERM, "a", "k", {}))
    assert done(off.load_memories()) == []
    assert done(off.search_memories("anything")) == []
    assert done(off.delete_memory("x")) is False
    assert done(off.start_run("a")) is None
    assert done(off.complete_run("r", "succeeded")) is None
    assert off.capture("mag", "input", {}, "r", "a") is None
    assert not off.as_principal("a", "r").enabled
    done(off.close())
    assert list(tmp_path.iterdir()) == []


def test_what_is_saved_is_loaded_found_and_deleted(runner: RunnerMemory) -> None:
    slug = new_name()
    entry = done(
        runner.save_memory(LONG_TERM, slug, "prefs", {"theme": "dark"}, tags=["t"], ttl_seconds=60)
    )
    assert done(runner.load_memories(LONG_TERM, slug, key="prefs", tags=["t"], limit=1)) == [entry]
    assert done(runner.search_memories("dark", LONG_TERM, slug)) == [entry]
    assert done(runner.delete_memory(entry.memory_id)) is True
    assert done(runner.load_memories(agent_slug=slug)) == []


@pytest.mark.parametrize(
    ("direction", "payload", "value"),
    [
        ("input", {"q": 1}, {"payload": {"q": 1}}),
        ("output", "text", {"result": "text"}),
        ("error", KeyError("gone"), {"type": "KeyError", "message": "'gone'"}),
    ],
)
def test_a_capture_is_an_entry_of_the_session(
    runner: RunnerMemory, direction: str, payload: object, value: dict[str, Any]
) -> None:
    slug, run = new_name(), new_name("run")

    async def captured() -> MemoryEntry | None:
        return await _awaited(runner.capture("sag", direction, payload, run, slug, task_id="t-1"))

    entry = done(captured())
    assert entry is not None
    assert (entry.key, entry.value) == (direction, value | {"task_id": "t-1"})
    assert (entry.scope, entry.agent_slug, entry.run_id) == (SESSION, slug, run)
    assert (entry.tags, entry.metadata) == (
        ["sag", direction],
        {"stage": "sag", "direction": direction, "task_id": "t-1"},
    )
    assert entry.expires_at == entry.created_at + timedelta(seconds=3_600)
    assert done(runner.load_memories(run_id=run)) == [entry]


def test_a_master_has_no_task(runner: RunnerMemory) -> None:
    entry = _kept(runner.capture("mag", "input", 1, new_name("run"), new_name()))
    assert entry is not None
    assert (entry.value, entry.metadata) == ({"payload": 1}, {"stage": "mag", "direction": "input"})


def test_captures_are_there_for_the_next_call_in_their_order(runner: RunnerMemory) -> None:
    slug, run = new_name(), new_name("run")
    for number in range(20):
        runner.capture("mag", "input", number, run, slug)
    loaded = done(runner.load_memories(run_id=run))
    assert [entry.value["payload"] for entry in loaded] == list(reversed(range(20)))
    runner.capture("mag", "output", "last", run, slug)
    ended = done(runner.complete_run(run, "succeeded"))
    assert ended is not None
    assert done(runner.load_memories(run_id=run)) == []


def test_input_and_output_of_an_agent_are_kept(runner: RunnerMemory) -> None:
    slug, run = new_name(), new_name("run")

    async def doubled(payload: int) -> int:
        return payload * 2

    assert done(runner.run_agent("mag", doubled, 21, run_id=run, agent_slug=slug)) == 42
    kept = {entry.key: entry.value for entry in done(runner.load_memories(run_id=run))}
    assert kept == {"input": {"payload": 21}, "output": {"result": 42}}


def test_what_an_agent_raises_is_kept_and_raised(runner: RunnerMemory) -> None:
    slug, run = new_name(), new_name("run")

    async def failing(payload: object) -> None:
        raise ZeroDivisionError("by zero")

    with pytest.raises(ZeroDivisionError):
        done(runner.run_agent("sag", failing, 1, run_id=run, agent_slug=slug, task_id="t"))
    kept = {entry.key: entry.value for entry in done(runner.load_memories(run_id=run))}
    assert kept["error"] == {"type": "ZeroDivisionError", "message": "by zero", "task_id": "t"}
    assert kept.keys() == {"input", "error"}


def test_secrets_in_a_capture_are_replaced_and_personal_data_is_tagged(
    runner: RunnerMemory, library: Library
) -> None:
    payload = {
        "prompt": f"use {SECRET} here",
        "db_password": "hunter2",
        "tokens": {"access_token": [SECRET, "x"]},
        "to": "ann@example.com",
        "fine": "the password is stored in the vault",
    }
    entry = _kept(runner.capture("mag", "input", payload, new_name("run"), new_name()))
    assert entry is not None
    assert entry.value["payload"] == {
        "prompt": "[refused]",
        "db_password": "[refused]",
        "tokens": {"access_token": ["[refused]", "[refused]"]},
        "to": "ann@example.com",
        "fine": "the password is stored in the vault",
    }
    assert entry.pii_tags == ["email"]
    stored = library.database.stored_text()
    assert SECRET not in stored
    assert "hunter2" not in stored


class Unprintable:
    def __str__(self) -> str:
        raise ValueError("not today")


@pytest.mark.parametrize(
    ("stage", "payload"), [("mag", Unprintable()), ("boss", {})], ids=["payload", "stage"]
)
def test_a_capture_that_fails_is_one_warning_and_none(
    runner: RunnerMemory, caplog: pytest.LogCaptureFixture, stage: str, payload: object
) -> None:
    with caplog.at_level(logging.WARNING, "recollect.ir"):
        capture = runner.capture(stage, "input", payload, "run-1", new_name())
        assert _kept(capture) is None
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "not today" not in record.getMessage()


def test_a_store_that_is_gone_is_a_warning_and_no_error(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    store = SQLiteMemoryStore(tmp_path / "m.db")
    runner = RunnerMemory(store)
    done(runner.start())
    done(store.close())
    with caplog.at_level(logging.WARNING, "recollect.ir"):
        assert _kept(runner.capture("mag", "input", 1, "run-1", "a")) is None
    assert len(caplog.records) == 1
    done(runner.close())


class SlowStore(SQLiteMemoryStore):
    """Keeps nothing before it is let go."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.gate = threading.Event()

    async def create_memory(self, entry: MemoryEntry) -> MemoryEntry:
        await asyncio.to_thread(self.gate.wait, 60)
        return await super().create_memory(entry)


def test_nobody_waits_for_a_slow_store_and_nothing_is_lost(tmp_path: Path) -> None:
    store = SlowStore(tmp_path / "m.db")
    runner = RunnerMemory(store)
    payload = {"n": 1}
    capture = runner.capture("mag", "input", payload, "run-1", "a")
    payload["n"] = 2
    later = runner.capture("mag", "output", payload, "run-1", "a")
    store.gate.set()
    assert [one.value for one in (_kept(capture), _kept(later)) if one] == [
        {"payload": {"n": 1}},
        {"result": {"n": 2}},
    ]
    done(runner.close())
    done(store.close())


def test_captures_that_wait_for_a_stuck_store_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(capturing, "PENDING_MAX", 2)
    store = SlowStore(tmp_path / "m.db")
    runner = RunnerMemory(store)
    kept = [runner.capture("mag", "input", number, "run-1", "a") for number in range(2)]
    with caplog.at_level(logging.WARNING, "recollect.ir"):
        assert _kept(runner.capture("mag", "input", 3, "run-1", "a")) is None
    assert len(caplog.records) == 1
    store.gate.set()
    assert all(_kept(capture) for capture in kept)
    done(runner.close())
    done(store.close())


def test_who_gives_up_waiting_does_not_take_a_capture_back(tmp_path: Path) -> None:
    store = SlowStore(tmp_path / "m.db")
    runner = RunnerMemory(store)

    async def scenario() -> list[MemoryEntry]:
        capture = runner.capture("mag", "input", 1, "run-1", "a")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(_awaited(capture), 0.01)
        store.gate.set()
        return await runner.load_memories(run_id="run-1")

    assert [entry.value for entry in done(scenario())] == [{"payload": 1}]
    done(runner.close())
    done(store.close())


async def _awaited(capture: Capture | None) -> MemoryEntry | None:
    assert capture is not None
    return await capture


def _kept(capture: Capture | None) -> MemoryEntry | None:
    assert capture is not None
    return capture.result(60)


def test_settings_that_are_wrong_are_a_value_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ALIAS, "perhaps")
    with pytest.raises(ValueError, match="ENABLED"):
        RunnerMemory()
    monkeypatch.setenv(ALIAS, "true")
    monkeypatch.setenv(PATH, ":memory:")
    with pytest.raises(ValueError, match="db_path"):
        RunnerMemory()


def test_master_and_sub_agent_have_a_handle_on_their_own_run(runner: RunnerMemory) -> None:
    mag, sag, beside = new_name("mag"), new_name("sag"), new_name("sag")
    root, child, other = new_name("run"), new_name("run"), new_name("run")
    for slug, run, parent in ((mag, root, None), (sag, child, root), (beside, other, root)):
        started = done(runner.start_run(slug, run, parent))
        assert started is not None
        assert (started.id, started.parent_run_id) == (run, parent)
    master, worker = runner.as_principal(mag, root), runner.as_principal(sag, child)
    stranger = runner.as_principal(beside, other)
    master.capture("mag", "input", {"task": "paint"}, root, mag)
    worker.capture("sag", "output", "done", child, sag, task_id="t")
    assert {entry.key for entry in done(worker.load_memories(SESSION))} == {"input", "output"}
    assert {entry.key for entry in done(master.load_memories(SESSION))} == {"input", "output"}
    assert done(stranger.load_memories(SESSION, run_id=child)) == []
    with pytest.raises(PermissionError):
        done(worker.save_memory(SESSION, sag, "k", {}, root))
    done(worker.close())
    assert done(runner.load_memories(run_id=child)) != []
