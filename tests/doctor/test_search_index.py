"""What `recollect doctor` says of the search index: nothing of a healthy one, and each fault."""

from typing import Any

import pytest

from recollect.conversations.entries.entry import Entry
from recollect.db.transaction import Tx
from recollect.search.model import index_words
from tests.support.builders import NOON, an_entry, plant
from tests.support.storage import Storage

FAULTS = {
    "index_rows_without_entry": "DELETE FROM entries WHERE id = :entry",
    "texts_missing_in_the_index": "DELETE FROM entry_index WHERE entry_id = :entry",
    "trees_with_a_wrong_index_count": (
        "UPDATE conversation_groups SET index_entries = 7 WHERE id = :tree"
    ),
}


def indexed(storage: Storage) -> Entry:
    """An entry with its text in the index."""
    root = plant(storage)
    entry = an_entry(storage, root, 1, indexed_content="a heron")

    def work(tx: Tx) -> None:
        branch = storage.stores.conversations.locate(tx, root.id, root.owner_user_id)
        assert branch is not None
        storage.stores.conversations.record_append(tx, branch, entry, None)
        storage.stores.entries.insert(tx, entry)
        storage.stores.search.insert(tx, entry, index_words("a heron"), pending=False)

    storage.write(work)
    return entry


def orphans(storage: Storage) -> dict[str, int]:
    """What is found beyond nothing."""
    found = storage.ask(storage.stores.maintenance.count_orphans)
    assert set(FAULTS) <= set(found)
    return {name: count for name, count in found.items() if count}


def break_it(storage: Storage, entry: Entry, statement: str) -> None:
    values: dict[str, Any] = {"entry": entry.id, "tree": entry.tree_id}
    named = {name: value for name, value in values.items() if f":{name}" in statement}
    storage.database.rows(statement, **named)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_the_index_is_counted(storage: Storage, name: str) -> None:
    before = orphans(storage)
    entry = indexed(storage)
    assert orphans(storage) == before
    break_it(storage, entry, FAULTS[name])
    assert orphans(storage)[name] == before.get(name, 0) + 1


def test_what_a_job_will_put_into_the_index_is_no_fault(storage: Storage) -> None:
    name = "texts_missing_in_the_index"
    break_it(storage, indexed(storage), FAULTS[name])
    assert orphans(storage)[name] >= 1
    job = storage.new_id()
    storage.database.rows(
        "INSERT INTO tasks (id, task_type, task_body, created_at, retry_at)"
        " VALUES (:id, 'search_backfill', '{}', :at, :at)",
        id=job,
        at=NOON if storage.engine.name == "postgres" else NOON.isoformat(),
    )
    assert name not in orphans(storage)
    storage.database.rows("DELETE FROM tasks WHERE id = :id", id=job)
