"""A server whose encryption keys do not fit the database does not start, and changes nothing."""

import json
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Host
from tests.support.encryption import KEY_A, KEY_B
from tests.support.engines import TestDatabase
from tests.support.processes import run_command

NewDatabase = Callable[[], TestDatabase]
Command = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.amendment(15)

WRONG_A = {"id": "a", "key": KEY_B["key"]}
TABLES = ("conversations", "entries", "server_state", "tasks", "schema_versions")


@pytest.fixture
def sealed(host: Host, new_database: NewDatabase) -> TestDatabase:
    """A database with a conversation under key a, as a server left it."""
    database = new_database()
    with host(database, encryption__keys=[KEY_A]) as world:
        ann = world.user("ann")
        ann.says(ann.starts("purple title")["id"], "purple text")
    return database


@pytest.fixture
def run(tmp_path: Path) -> Command:
    return partial(run_command, tmp_path)


def settings(database: TestDatabase, *keys: dict[str, str], **more: Any) -> dict[str, str]:
    return {
        "DATABASE__URL": database.url,
        "DATABASE__MIGRATE_AT_START": "true",
        "EMBEDDING__PROVIDER": "none",
        "ENCRYPTION__KEYS": json.dumps(keys),
    } | more


def stored(database: TestDatabase) -> object:
    """All that may not change: the bytes of the file, or the rows of PostgreSQL."""
    if database.engine == "sqlite":
        return database.path.read_bytes()
    return database.contents(TABLES)


def refusal(result: subprocess.CompletedProcess[str]) -> str:
    assert result.returncode == 2, result.stderr
    (line,) = result.stderr.splitlines()
    assert line.startswith("recollect: encryption.keys: ")
    assert KEY_A["key"] not in line
    assert KEY_B["key"] not in line
    return line


def forget_checks(database: TestDatabase) -> None:
    """As a server that kept no check values left it."""
    database.rows("DELETE FROM server_state WHERE substr(name, 1, 10) = 'encryption'")


def test_keys_that_do_not_fit_refuse_the_start_and_change_nothing(
    run: Command, sealed: TestDatabase
) -> None:
    before = stored(sealed)
    serve = partial(run, "serve", "--port", "0")
    assert "need the key 'a'" in refusal(serve(**settings(sealed)))
    assert "'a' is not the key" in refusal(serve(**settings(sealed, WRONG_A)))
    assert "need the key 'a'" in refusal(run("worker", **settings(sealed, KEY_B)))
    assert stored(sealed) == before


def test_values_alone_refuse_the_start_where_no_check_value_is_kept_yet(
    run: Command, sealed: TestDatabase
) -> None:
    forget_checks(sealed)
    before = stored(sealed)
    assert "'a' is not the key" in refusal(run("serve", "--port", "0", **settings(sealed, WRONG_A)))
    assert stored(sealed) == before
