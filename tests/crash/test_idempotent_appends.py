"""The server is killed while clients append under keys; what got no answer is sent again."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import SoakSize
from tests.crash.load import Load, check, join, stored_texts
from tests.support.engines import TestDatabase
from tests.support.processes import run_doctor, start_server

NewDatabase = Callable[[], TestDatabase]


@pytest.mark.amendment(13)
def test_entries_sent_again_after_a_kill_are_neither_lost_nor_doubled(
    new_database: NewDatabase, tmp_path: Path, soak_size: SoakSize
) -> None:
    database, load = new_database(), Load(keys=True)
    chance = random.Random(2)
    for _ in range(soak_size(5, 50)):
        with start_server(tmp_path, database) as (server, port):
            clients = load.start(port)
            load.wait_for(chance.randint(1, 100))
            server.kill()
            join(clients)
        unanswered, load.unanswered = load.unanswered, []
        assert unanswered
        with start_server(tmp_path, database) as (server, port):
            load.send_again(port, unanswered)
            load.send_again(port, chance.sample(load.acknowledged, 1))
            load.send_again(port, unanswered)
            server.kill()
        load.acknowledged += unanswered
        check(database, load)
        stored = [(id_, text) for id_, texts in stored_texts(database).items() for text in texts]
        assert sorted(stored) == sorted(load.acknowledged)
    run_doctor(tmp_path, database)
