"""The bare drivers: captured appends, each in a transaction of its own, with nothing around them.

Connections are opened by the engines' own functions, so durability and settings are the same.
"""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg

from bench.harness.capture import Append, Replay, Step
from bench.harness.rounds import Run
from bench.harness.seeds import Tree
from recollect.db.engines.postgres import connection as postgres
from recollect.db.engines.sqlite import connection as sqlite
from recollect.kernel.clock import to_text


@contextmanager
def bare_sqlite(database_url: str, steps: Sequence[Step], trees: Sequence[Tree]) -> Iterator[Run]:
    """One connection: SQLite has one writer, whatever one does."""
    connection = sqlite.connect(Path(database_url.removeprefix("sqlite:///")))
    replay = Replay(steps, trees)

    def run(count: int) -> float:
        appends = [
            [(sql, _to_sqlite(params)) for sql, params in append]
            for append in replay.prepare(count)
        ]
        started_at = time.perf_counter()
        for append in appends:
            connection.execute("BEGIN IMMEDIATE").fetchall()
            for sql, params in append:
                connection.execute(sql, params).fetchall()
            connection.execute("COMMIT").fetchall()
        return time.perf_counter() - started_at

    try:
        yield run
    finally:
        connection.close()


@contextmanager
def bare_psycopg(
    database_url: str, steps: Sequence[Step], trees: Sequence[Tree], *, connections: int
) -> Iterator[Run]:
    """A thread for each connection; each has trees of its own, so nobody waits for a row."""
    with ExitStack() as stack:
        opened = [stack.enter_context(postgres.connect(database_url)) for _ in range(connections)]
        replays = [Replay(steps, trees[number::connections]) for number in range(connections)]
        pool = stack.enter_context(ThreadPoolExecutor(connections))

        def run(count: int) -> float:
            each = max(1, count // connections)
            appends = [replay.prepare(each) for replay in replays]
            started_at = time.perf_counter()
            list(pool.map(_run_appends, opened, appends))
            return (time.perf_counter() - started_at) * count / (each * connections)

        yield run


def _run_appends(connection: psycopg.Connection[Any], appends: list[Append]) -> None:
    cursor = psycopg.RawCursor(connection)
    for append in appends:
        cursor.execute("BEGIN")
        for sql, params in append:
            cursor.execute(sql.encode(), list(params.values()), prepare=True)
            if cursor.description:
                cursor.fetchall()
        cursor.execute("COMMIT")


def _to_sqlite(params: dict[str, Any]) -> list[Any]:
    return [to_text(v) if isinstance(v, datetime) else v for v in params.values()]
