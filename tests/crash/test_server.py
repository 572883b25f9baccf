"""The server is killed while clients append, or asked to stop."""

import random
from collections.abc import Callable
from pathlib import Path
from signal import SIGTERM

from tests.conftest import SoakSize
from tests.crash.load import Load, check, join, stored_texts
from tests.support.engines import TestDatabase
from tests.support.processes import run_doctor, start_server

NewDatabase = Callable[[], TestDatabase]

END_BACKENDS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


def test_every_acknowledged_entry_survives_a_kill(
    new_database: NewDatabase, tmp_path: Path, soak_size: SoakSize
) -> None:
    database, load = new_database(), Load()
    chance = random.Random(1)
    for number in range(soak_size(5, 50)):
        with start_server(tmp_path, database) as (server, port):
            clients = load.start(port)
            load.wait_for(chance.randint(1, 150))
            if database.engine == "postgres" and number % 2:
                database.rows(END_BACKENDS)
                load.wait_for(chance.randint(1, 50))
            server.kill()
            join(clients)
        check(database, load)
    assert load.statuses <= {201, 503}
    run_doctor(tmp_path, database)


def test_every_accepted_request_is_answered_before_a_stop(
    new_database: NewDatabase, tmp_path: Path
) -> None:
    database, load = new_database(), Load()
    for _ in range(2):
        with start_server(tmp_path, database) as (server, port):
            clients = load.start(port)
            load.wait_for(100)
            server.send_signal(SIGTERM)
            join(clients)
            assert server.wait() == 0
        check(database, load)
        stored = {(id_, text) for id_, texts in stored_texts(database).items() for text in texts}
        assert stored == set(load.acknowledged), "an entry was stored and not acknowledged"
    assert load.statuses == {201}
    run_doctor(tmp_path, database)
