"""`recollect backup` and `recollect restore`, run as operators run them."""

import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.backup.conftest import NewTarget
from tests.backup.planted import all_rows, back_up, restore
from tests.crash.load import Load, check, join
from tests.support.builders import an_entry, plant, put
from tests.support.encryption import KEY_A
from tests.support.engines import ENGINES, TestDatabase, a_sqlite_database
from tests.support.processes import (
    RECOLLECT,
    environment,
    on_database,
    run_command,
    run_doctor,
    start_server,
)
from tests.support.storage import a_storage

NewDatabase = Callable[[], TestDatabase]
PASSPHRASE = "correct horse"
# Ends itself, without a chance to tidy up, once it has come this far.
KILLED = """
import os, signal, sys
from pathlib import Path
from typing import Any
from tests.backup import planted
from tests.support.engines import TestDatabase

def end(done, total):
    os.kill(os.getpid(), signal.SIGKILL)

planted.silent = end
getattr(planted, sys.argv[1])(TestDatabase(sys.argv[2], sys.argv[3]), Path(sys.argv[4]))
"""


@pytest.fixture(scope="module")
def small(new_database: NewDatabase) -> TestDatabase:
    """A tree with some entries."""
    return a_small(new_database())


@pytest.fixture(scope="module")
def small_file(tmp_path_factory: pytest.TempPathFactory) -> TestDatabase:
    """The same on one engine, for what has nothing to do with engines."""
    return a_small(a_sqlite_database(tmp_path_factory.mktemp("small")))


def a_small(database: TestDatabase) -> TestDatabase:
    with a_storage(database) as storage:
        root = plant(storage, title="kept")
        put(storage, *(an_entry(storage, root, seq) for seq in range(1, 50)))
    return database


def test_a_backup_under_writers_is_one_state_and_opens_on_the_other_engine(
    new_database: NewDatabase, new_target: NewTarget, tmp_path: Path
) -> None:
    database, load = new_database(), Load()
    [other] = set(ENGINES) - {database.engine}
    with start_server(tmp_path, database) as (server, port):
        clients = load.start(port)
        load.wait_for(100)
        before = list(load.acknowledged)
        made = run_command(tmp_path, "backup", "file", **on_database(database))
        assert made.returncode == 0, made.stderr
        load.wait_for(20)
        server.stop()
        join(clients)
    target = new_target(other)
    restored = run_command(tmp_path, "restore", "file", **on_database(target))
    assert restored.returncode == 0, restored.stderr
    kept = Load()
    kept.acknowledged = before
    check(target, kept)
    assert load.statuses <= {201, 503}
    run_doctor(tmp_path, target)
    with start_server(tmp_path, target) as (_, port):
        [hit] = _search(port, before[-1][1])
        assert hit["entryId"]


def _search(port: int, text: str) -> list[dict[str, str]]:
    answer = httpx2.post(
        f"http://127.0.0.1:{port}/v1/conversations/search",
        headers={"X-Requester-Id": "ann"},
        json={"query": f'"{text}"', "searchType": "fulltext", "limit": 1},
    )
    assert answer.status_code == 200, answer.text
    found: list[dict[str, str]] = answer.json()["data"]
    return found


def test_a_killed_backup_leaves_no_file_and_the_next_one_works(
    small: TestDatabase, tmp_path: Path
) -> None:
    _kill("back_up", small, tmp_path / "file")
    assert [path.name for path in tmp_path.glob("file*")] == ["file.part"]
    back_up(small, tmp_path / "file")
    assert [path.name for path in tmp_path.glob("file*")] == ["file"]
    if small.engine == "sqlite":
        assert {path.suffix for path in small.path.parent.glob(f"{small.path.stem}*")} <= {
            ".db",
            ".db-wal",
            ".db-shm",
        }


@pytest.mark.parametrize("engine", ENGINES)
def test_a_killed_restore_leaves_an_empty_database(
    small: TestDatabase, new_target: NewTarget, tmp_path: Path, engine: str
) -> None:
    back_up(small, tmp_path / "file")
    target = new_target(engine)
    _kill("restore", target, tmp_path / "file")
    if engine == "sqlite":
        assert not target.path.exists()
    else:
        assert target.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'") == []
    restore(target, tmp_path / "file")
    assert all_rows(target) == all_rows(small)


def _kill(what: str, database: TestDatabase, path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", KILLED, what, database.engine, database.url, str(path)],
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert run.returncode == -signal.SIGKILL


def test_a_full_disk_leaves_nothing(small: TestDatabase, tmp_path: Path) -> None:
    """No file may have more than a few blocks."""

    def run(*arguments: str, database: TestDatabase) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["bash", "-c", 'ulimit -f 8; exec "$@"', "bash", RECOLLECT, *arguments],
            cwd=tmp_path,
            env=environment(on_database(database)),
            capture_output=True,
            text=True,
            check=False,
        )

    refused = run("backup", "file", database=small)
    assert (refused.returncode, refused.stdout) == (7, "")
    assert len(refused.stderr.splitlines()) == 1
    assert list(tmp_path.glob("file*")) == []
    back_up(small, tmp_path / "file")
    target = TestDatabase("sqlite", f"sqlite:///{tmp_path / 'target.db'}")
    refused = run("restore", "file", database=target)
    assert (refused.returncode, refused.stdout) == (7, "")
    assert len(refused.stderr.splitlines()) == 1
    assert {path.name for path in tmp_path.glob("target*")} <= {"target.db-servers"}


def test_the_passphrase_comes_from_a_file_or_the_settings(
    small_file: TestDatabase, new_target: NewTarget, tmp_path: Path
) -> None:
    settings = on_database(small_file)
    secret = tmp_path / "secret"
    secret.write_text(f"{PASSPHRASE}\n")
    run = run_command(tmp_path, "backup", "file", "--passphrase-file", "secret", **settings)
    assert "not encrypted" not in run.stdout
    assert "encrypted" in run.stdout
    assert b"conversation_groups" not in (tmp_path / "file").read_bytes()
    wrong = run_command(
        tmp_path, "backup", "--verify", "file", DATABASE__BACKUP_PASSPHRASE="wrong", **settings
    )
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == "recollect: the passphrase is not that of this backup\n"
    none = run_command(tmp_path, "backup", "--verify", "file", **settings)
    assert none.returncode == 2
    assert "--passphrase-file" in none.stderr
    target = new_target("sqlite")
    run = run_command(
        tmp_path, "restore", "file", DATABASE__BACKUP_PASSPHRASE=PASSPHRASE, **on_database(target)
    )
    assert run.returncode == 0, run.stderr
    assert PASSPHRASE not in run.stdout + run.stderr
    assert all_rows(target) == all_rows(small_file)


def test_a_file_is_its_owners_and_is_not_overwritten(
    small_file: TestDatabase, tmp_path: Path
) -> None:
    settings = on_database(small_file)
    quiet = run_command(tmp_path, "backup", "file", "-q", **settings)
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600
    first = (tmp_path / "file").read_bytes()
    refused = run_command(tmp_path, "backup", "file", **settings)
    assert (refused.returncode, refused.stdout) == (5, "")
    assert "--force" in refused.stderr
    assert (tmp_path / "file").read_bytes() == first
    forced = run_command(tmp_path, "backup", "file", "--force", "--json", **settings)
    told = json.loads(forced.stdout)
    assert (told["tables"]["entries"], told["encrypted"]) == (49, False)
    assert told["bytes"] == (tmp_path / "file").stat().st_size
    assert told["rows"] == sum(told["tables"].values())
    assert (tmp_path / "file").read_bytes() != first
    verified = json.loads(run_command(tmp_path, "backup", "--verify", "file", "--json").stdout)
    assert verified["tables"] == told["tables"]


def test_a_restore_without_the_keys_says_which_and_the_start_is_refused(
    new_target: NewTarget, tmp_path: Path
) -> None:
    database, target = new_target("sqlite"), new_target("sqlite")
    keys: dict[str, Any] = {"ENCRYPTION__KEYS": [KEY_A]}
    with start_server(tmp_path, database, **keys) as (_, port):
        answer = httpx2.post(
            f"http://127.0.0.1:{port}/v1/memories",
            headers={"X-Requester-Id": "ann"},
            json={"content": "I like green tea", "space": {"kind": "user"}},
        )
        assert answer.status_code == 201, answer.text
    made = run_command(tmp_path, "backup", "file", **on_database(database))
    assert "encryption keys a;" in made.stdout
    assert KEY_A["key"].encode() not in (tmp_path / "file").read_bytes()
    assert b"green tea" not in (tmp_path / "file").read_bytes()
    restored = run_command(tmp_path, "restore", "file", **on_database(target))
    assert restored.returncode == 0
    assert "encryption key 'a'" in restored.stderr
    refused = run_command(tmp_path, "serve", **on_database(target))
    assert refused.returncode == 2
    with start_server(tmp_path, target, **keys) as (_, port):
        listed = httpx2.get(
            f"http://127.0.0.1:{port}/v1/memories?user_id=ann", headers={"X-Requester-Id": "ann"}
        )
        assert "green tea" in listed.text


@pytest.mark.parametrize("engine", ENGINES)
def test_a_server_on_the_database_keeps_a_restore_out(
    small_file: TestDatabase, new_target: NewTarget, tmp_path: Path, engine: str
) -> None:
    back_up(small_file, tmp_path / "file")
    target = new_target(engine)
    with start_server(tmp_path, target):
        refused = run_command(tmp_path, "restore", "file", **on_database(target))
        assert (refused.returncode, refused.stdout) == (5, "")
        assert "stop it" in refused.stderr
    restored = run_command(tmp_path, "restore", "file", **on_database(target))
    assert restored.returncode == 0, restored.stderr


def test_two_backups_to_one_file_do_not_mix(small_file: TestDatabase, tmp_path: Path) -> None:
    part = os.open(tmp_path / "file.part", os.O_CREAT | os.O_WRONLY)
    fcntl.flock(part, fcntl.LOCK_EX)
    refused = run_command(tmp_path, "backup", "file", **on_database(small_file))
    os.close(part)
    assert refused.returncode == 5
    assert "another process writes" in refused.stderr
