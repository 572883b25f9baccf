"""Two servers on one database: expected on PostgreSQL, said to everybody on SQLite."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from recollect.doctor.health import SECOND_SERVER, SECOND_SERVER_ADVICE
from tests.conftest import Host
from tests.support.engines import TestDatabase
from tests.support.processes import start_server
from tests.support.world import World, history, new_id

WARNING = "another server works on this database file"


def health(world: World) -> dict[str, object]:
    shown = world.nobody.call("health").expect(200)
    detailed = world.admin.call("admin_health").expect(200)
    assert detailed["warnings"] == shown.get("warnings", [])
    return dict(shown)


@pytest.mark.amendment(17)
def test_servers_on_one_file_say_so_as_long_as_there_are_two(
    host: Host, new_database: Callable[[], TestDatabase]
) -> None:
    database = new_database()
    alone: dict[str, object] = {"status": "ok"}
    said = {"warnings": [SECOND_SERVER], "advice": [SECOND_SERVER_ADVICE]}
    of_two = alone | said if database.engine == "sqlite" else alone
    with host(database) as first:
        assert health(first) == alone
        with host(database) as second:
            assert (health(second), health(first)) == (of_two, of_two)
        assert health(first) == alone
    with host(database) as again:
        assert health(again) == alone


@pytest.mark.amendment(17)
def test_the_second_server_warns_in_its_log(
    tmp_path: Path, new_database: Callable[[], TestDatabase]
) -> None:
    database = new_database()
    settings: dict[str, Any] = {"DATABASE__MIGRATE_AT_START": True, "EMBEDDING__PROVIDER": "none"}
    with start_server(tmp_path, database, **settings) as (first, _):
        with start_server(tmp_path, database, **settings) as (second, port):
            assert httpx2.get(f"http://127.0.0.1:{port}/v1/health").status_code == 200
            assert (WARNING in second.stderr()) is (database.engine == "sqlite")
            assert second.stop() == 0
        assert WARNING not in first.stderr()


@pytest.mark.amendment(13)
def test_a_server_knows_whether_it_is_the_only_one(
    host: Host, new_database: Callable[[], TestDatabase]
) -> None:
    database = new_database()
    claim = "UPDATE idempotency_answers SET status = NULL"
    with host(database) as first:
        ann, conversation = first.user("ann").under("k"), new_id()
        said = ann.says(conversation, "A")
        database.rows(claim)
        with host(database) as second:
            again = (
                second.named(ann.name).under("k").call("append", conversation, body=history("A"))
            )
            again.refused(409, "conflict")
    with host(database) as third:
        assert third.named(ann.name).under("k").says(conversation, "A") == said
