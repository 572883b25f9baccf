"""Workers are killed in the middle of their jobs; the jobs are done all the same."""

import base64
import json
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recollect.kernel.strict_json import JsonText
from tests.conftest import SoakSize
from tests.support.builders import NOON, an_entry, plant, put
from tests.support.bulk import insert
from tests.support.encryption import KEY_A, KEY_B
from tests.support.engines import TestDatabase
from tests.support.processes import on_database, run_doctor, start_command
from tests.support.storage import a_storage

NewDatabase = Callable[[], TestDatabase]

WAIT_SECONDS = 60
LOOK_SECONDS = 0.02
LEASE: dict[str, Any] = {"JOBS__LEASE_SECONDS": 1, "JOBS__POLL_MS": 10}
KILLS = 2
# Enough for a rotation to be caught in the middle, on an engine that is fast at it.
ROWS = {"sqlite": 15_000, "postgres": 3_000}
# What these tests queue; the server's own rounds are always planned beside.
DUE = "SELECT count(*) FROM tasks WHERE task_type IN ('vector_store_delete', 'encryption_rotation')"

# A worker with keys also looks for what was indexed without them, once.
INDEX_FORM = "SELECT count(*) FROM tasks WHERE task_type = 'search_index_form'"


def test_every_job_of_killed_workers_is_done(
    new_database: NewDatabase, tmp_path: Path, soak_size: SoakSize
) -> None:
    database = new_database()
    # So many that no pause of this process lets a worker end them unseen.
    count = soak_size(2_000, 4_000)
    queue_vector_deletes(database, count)
    for kill in range(KILLS):
        with a_worker(tmp_path, database) as worker:
            left = count - (kill + 1) * count // (KILLS + 2)
            wait_until(lambda left=left: number(database, DUE) < left)  # type: ignore[misc]
            worker.kill()
        assert number(database, DUE) > 0
    finish(tmp_path, database)
    examine(tmp_path, database)
    assert number(database, "SELECT count(*) FROM entry_embeddings") == 0


def test_a_rotation_ends_though_its_workers_are_killed(
    new_database: NewDatabase, tmp_path: Path, soak_size: SoakSize
) -> None:
    database = new_database()
    rows = soak_size(ROWS[database.engine], 60_000)
    seal_entries(database, rows, key=KEY_A)
    keys: dict[str, Any] = {"ENCRYPTION__KEYS": [KEY_B, KEY_A]}
    assert changed(database) == 0
    for kill in range(KILLS):
        wanted = (kill + 1) * rows // (2 * KILLS)
        with a_worker(tmp_path, database, **keys) as worker:
            wait_until(lambda wanted=wanted: changed(database) >= wanted)  # type: ignore[misc]
            worker.kill()
        assert number(database, DUE) == 1
    finish(tmp_path, database, **keys)
    report = examine(tmp_path, database, ENCRYPTION__KEYS=[KEY_B])
    counts = report["rows_by_encryption_key"]
    assert counts["entries.content"] == {"b": rows}
    assert counts["conversations.title"] == {"b": 1}


def a_worker(folder: Path, database: TestDatabase, **settings: Any) -> Any:
    """A worker with a short lease, so that a killed one's jobs come back soon."""
    return start_command(folder, "worker", **on_database(database), **LEASE, **settings)


def finish(folder: Path, database: TestDatabase, **settings: Any) -> None:
    """A last worker does the rest and stops when asked to."""
    with a_worker(folder, database, **settings) as worker:
        wait_until(lambda: number(database, DUE) == 0 and number(database, INDEX_FORM) == 0)
        assert worker.stop() == 0


def examine(folder: Path, database: TestDatabase, **settings: Any) -> dict[str, Any]:
    """The report of the doctor: no problem, and nothing waits."""
    report = run_doctor(folder, database, **settings)
    assert report["queue"] == {"depth": 0, "stuck": 0}
    return report


def number(database: TestDatabase, query: str) -> int:
    return int(database.rows(query)[0][0])


def changed(database: TestDatabase) -> int:
    """Rows that do not begin as those that the first key sealed."""
    query = "SELECT count(*) FROM entries WHERE substr(content, 1, 33) <> :first"
    first = database.rows("SELECT value FROM server_state WHERE name = 'test_first'")[0][0]
    return int(database.rows(query, first=first)[0][0])


def wait_until(true: Callable[[], bool]) -> None:
    """Look again and again: another process makes it true."""
    pause, end = threading.Event(), time.monotonic() + WAIT_SECONDS
    while not true():
        assert time.monotonic() < end, "it never became true"
        pause.wait(LOOK_SECONDS)


def queue_vector_deletes(database: TestDatabase, count: int) -> None:
    """As an eviction leaves them: due jobs, and vectors whose entries are gone."""
    with a_storage(database):
        trees = [str(uuid.uuid4()) for _ in range(count)]
    vector = b"123" if database.engine == "sqlite" else "[1,2,3]"
    columns = ("entry_id", "conversation_id", "conversation_group_id", "embedding")
    vectors = ((str(uuid.uuid4()), tree, tree, vector) for tree in trees)
    insert(database, "entry_embeddings", columns, vectors)
    kind = "vector_store_delete"
    jobs = (
        (tree, f"{kind}:{tree}", kind, json.dumps({"conversationGroupId": tree}), NOON, NOON)
        for tree in trees
    )
    named = ("id", "task_name", "task_type", "task_body", "created_at", "retry_at")
    insert(database, "tasks", named, jobs)


def seal_entries(database: TestDatabase, rows: int, *, key: dict[str, str]) -> None:
    """One conversation with a title and many entries, all sealed by the key."""
    secret = base64.b64decode(key["key"])
    with a_storage(database, keys=[(key["id"], secret)]) as storage:
        root = plant(storage, title="sealed")
        content = JsonText('["some text"]')
        put(storage, *(an_entry(storage, root, n + 1, content=content) for n in range(rows)))
        storage.do(
            storage.stores.conversations.record_append,
            storage.ask(storage.stores.conversations.locate, root.id, root.owner_user_id),
            an_entry(storage, root, rows, content=content),
            None,
        )
        prefix = storage.runtime.cipher.prefix(key["id"])
        storage.do(storage.stores.maintenance.put_state, "test_first", prefix)
