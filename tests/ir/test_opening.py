"""How stores are opened, shared and closed, and what is said of those that can't be opened."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recollect.ir import (
    AbstractMemoryStore,
    MemoryEntry,
    PostgresMemoryStore,
    RunnerMemory,
    SQLiteMemoryStore,
)
from tests.ir.library import Library, a_store, an_entry, done, new_name
from tests.support.engines import TestDatabase

PASSWORD = "hunter2"


def test_threads_and_loops_share_one_store(library: Library) -> None:
    slug = new_name()

    async def adds(number: int) -> None:
        await library.store.create_memory(an_entry(slug, key=f"k{number}"))

    async def both() -> None:
        threads = (asyncio.to_thread(done, adds(number)) for number in range(8))
        await asyncio.gather(*threads, *(adds(number) for number in range(8, 16)))

    done(both())
    assert {entry.key for entry in library.lists(agent_slug=slug)} == {f"k{n}" for n in range(16)}


def test_a_store_works_between_initialize_and_close(opened: Callable[[], Any]) -> None:
    store: AbstractMemoryStore = opened()
    with pytest.raises(RuntimeError, match="initialize"):
        done(store.list_memories())
    done(store.initialize())
    done(store.initialize())
    assert done(store.list_memories()) == []
    done(store.close())
    done(store.close())
    for call in (store.list_memories, store.expire_old_memories):
        with pytest.raises(RuntimeError, match="initialize"):
            done(call())


def test_a_store_is_a_context_and_finishes_what_was_begun(opened: Callable[[], Any]) -> None:
    store: AbstractMemoryStore = opened()

    async def scenario() -> MemoryEntry:
        async with store:
            begun = asyncio.create_task(store.create_memory(an_entry()))
            await asyncio.sleep(0)
        return await begun

    assert done(scenario()).expires_at is not None


def test_a_file_that_cannot_be_opened_is_a_runtime_error_that_names_the_argument(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("no folder, and no database")
    for path in ("file/memory.db", "file", "."):
        with pytest.raises(RuntimeError, match=r"^db_path: ") as refusal:
            done(SQLiteMemoryStore(tmp_path / path).initialize())
        assert str(tmp_path) not in str(refusal.value)
        assert type(refusal.value) is RuntimeError


def test_a_server_that_does_not_answer_is_a_runtime_error_without_the_password() -> None:
    store = PostgresMemoryStore(f"postgresql://ann:{PASSWORD}@127.0.0.1:1/r")
    with pytest.raises(RuntimeError, match=r"^dsn: can't connect") as refusal:
        done(store.initialize())
    assert PASSWORD not in str(refusal.value)
    with pytest.raises(RuntimeError, match="initialize"):
        done(store.list_memories())


@pytest.mark.parametrize("dsn", ["nonsense", "mysql://host/db", "sqlite:///m.db", "", None, 5])
def test_what_is_no_address_of_a_server_is_a_value_error(dsn: Any) -> None:
    with pytest.raises(ValueError, match=r"^dsn: must be postgresql://"):
        PostgresMemoryStore(dsn)


@pytest.mark.parametrize("form", [f"ann:{PASSWORD}@b/c@d/e", f"ann:{PASSWORD}@b/c?nonsense=1"])
def test_an_address_that_nobody_can_read_is_a_value_error_without_the_password(form: str) -> None:
    with pytest.raises(ValueError, match=r"database\.url") as refusal:
        done(PostgresMemoryStore(f"postgresql://{form}").initialize())
    assert PASSWORD not in str(refusal.value)


@pytest.mark.parametrize("path", ["", "/", ":memory:", "a?b", "a#b", "\x00", None, 5, b"m.db"])
def test_what_is_no_path_of_a_file_is_a_value_error(path: Any) -> None:
    with pytest.raises(ValueError, match=r"^db_path: must be the path of a file"):
        SQLiteMemoryStore(path)


def test_a_store_that_could_not_be_opened_opens_once_it_can(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("in the way")
    store = SQLiteMemoryStore(tmp_path / "folder" / "memory.db")
    with pytest.raises(RuntimeError, match="db_path"):
        done(store.initialize())
    (tmp_path / "folder").unlink()
    done(store.initialize())
    assert done(store.list_memories()) == []
    done(store.close())


def test_one_row_is_deleted_once_whoever_asks_on_whichever_thread(library: Library) -> None:
    entry = library.adds()
    start, answers = threading.Barrier(8), list[bool]()

    def deletes() -> None:
        start.wait()
        answers.append(done(library.store.delete_memory(entry.memory_id)))

    threads = [threading.Thread(target=deletes) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [False] * 7 + [True]


def test_two_stores_on_one_database_see_what_the_other_wrote(
    new_database: Callable[[], TestDatabase],
) -> None:
    database = new_database()
    first, second = a_store(database), a_store(database)
    done(first.initialize())
    done(second.initialize())
    entry = done(first.create_memory(an_entry()))
    assert done(second.get_memory(entry.memory_id)) == entry
    assert done(second.delete_memory(entry.memory_id)) is True
    assert done(first.delete_memory(entry.memory_id)) is False
    done(first.close())
    assert done(second.list_memories()) == []
    done(second.close())


def test_a_view_and_a_runner_end_with_their_store(opened: Callable[[], Any]) -> None:
    store: AbstractMemoryStore = opened()
    view = store.as_principal("worker")
    with pytest.raises(RuntimeError, match="initialize"):
        done(view.list_memories())
    done(view.initialize())
    assert done(view.list_memories()) == []
    done(view.close())
    done(view.close())
    with pytest.raises(RuntimeError, match="closed"):
        done(view.list_memories())
    assert done(store.list_memories()) == []
    runner = RunnerMemory(store)
    assert done(runner.load_memories()) == []
    done(store.close())
    with pytest.raises(RuntimeError, match="initialize"):
        done(runner.load_memories())
    done(runner.close())
    done(runner.close())
