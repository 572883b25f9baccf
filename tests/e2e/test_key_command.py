"""`recollect key`, run as operators run it, beside a server on the same database."""

import json
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from tests.support.engines import TestDatabase
from tests.support.processes import on_database, run_command, start_server
from tests.support.world import JWT_SECRET

NewDatabase = Callable[[], TestDatabase]


@pytest.mark.amendment(17)
def test_a_key_of_the_command_line_works_until_it_is_revoked(
    tmp_path: Path, new_database: NewDatabase
) -> None:
    database = new_database()
    settings = on_database(database) | {"AUTH__MODE": "jwt", "AUTH__JWT_SECRET": JWT_SECRET}
    settings |= {"AUTH__API_KEYS": {"gateway": []}, "AUTH__TRUSTED_CLIENTS": ["gateway"]}
    with start_server(tmp_path, database, **settings) as (_, port):

        def status(key: str) -> int:
            headers = {"X-API-Key": key, "X-Requester-Id": "ann"}
            url = f"http://127.0.0.1:{port}/v1/conversations"
            return httpx2.get(url, headers=headers).status_code

        made = run_command(tmp_path, "key", "create", "gateway", "--name", "front", **settings)
        key = made.stdout.strip()
        assert (made.returncode, made.stdout.count("\n")) == (0, 1), made.stderr
        assert key not in made.stderr
        assert status(key) == 200
        listed = run_command(tmp_path, "key", "list", "--json", **settings)
        [shown] = json.loads(listed.stdout)
        assert (shown["client_id"], shown["name"], shown["state"]) == ("gateway", "front", "active")
        assert key not in listed.stdout
        assert shown["id"] in run_command(tmp_path, "key", "list", **settings).stdout
        assert run_command(tmp_path, "key", "revoke", shown["id"], **settings).returncode == 0
        assert status(key) == 401
        unknown = run_command(tmp_path, "key", "revoke", "no-such-id", **settings)
        assert (unknown.returncode, unknown.stdout) == (4, "")
    assert key not in database.stored_text()


@pytest.mark.amendment(17)
def test_a_secret_that_can_be_guessed_refuses_the_start(
    tmp_path: Path, new_database: NewDatabase
) -> None:
    settings = on_database(new_database()) | {"AUTH__MODE": "jwt", "AUTH__JWT_SECRET": "s" * 31}
    refused = run_command(tmp_path, "serve", **settings)
    assert refused.returncode == 2
    (line,) = refused.stderr.splitlines()
    assert "auth.jwt_secret" in line
    assert "should have at least 32 bytes" in line
    assert "sss" not in line
