"""How much work statements are: rows and pages on PostgreSQL, steps of the machine on SQLite.

Work is counted, not timed, so that the numbers are the same on every machine.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from recollect.db.engines.postgres.connection import DIALECT as POSTGRES
from recollect.db.engines.sqlite.connection import SqliteTx, connect
from recollect.db.statements import Query
from recollect.db.transaction import Tx
from tests.support.engines import TestDatabase
from tests.support.storage import Storage

_PLAN_MODES = ("force_custom_plan", "force_generic_plan")


@dataclass(frozen=True, slots=True)
class Work:
    """`rows` are rows read on PostgreSQL and virtual-machine steps on SQLite."""

    statements: int
    rows: int
    pages: int


class Recorder:
    """A transaction that remembers its statements."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self.ran: list[tuple[Query, Mapping[str, Any]]] = []

    def fetch(self, statement: Any, params: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        """Run, remember, return every row."""
        self.ran.append((statement, params))
        return self._tx.fetch(statement, params)

    def fetch_first(self, statement: Any, params: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """Run, remember, return the first row."""
        self.ran.append((statement, params))
        return self._tx.fetch_first(statement, params)

    def run(self, statement: Any, params: Mapping[str, Any]) -> None:
        """A measured transaction only reads."""
        raise AssertionError("a measured transaction only reads")

    def lock(self, statement: Any, params: Mapping[str, Any]) -> None:
        """A measured transaction only reads."""
        raise AssertionError("a measured transaction only reads")

    def run_and_count(self, statement: Any, params: Mapping[str, Any]) -> int:
        """A measured transaction only reads."""
        raise AssertionError("a measured transaction only reads")


def measure(storage: Storage, work: Callable[[Tx], object]) -> list[Work]:
    """The work of a read, once for each way in which the engine may plan it."""
    ran = record(storage, work)
    if storage.engine.name == "sqlite":
        steps = _sqlite_steps(storage.database, ran)
        return [Work(len(ran), steps, 0)]
    return [_postgres_work(storage.database, ran, mode) for mode in _PLAN_MODES]


def record(storage: Storage, work: Callable[[Tx], object]) -> list[tuple[Query, Mapping[str, Any]]]:
    """The statements of a read, with their parameters."""

    def recorded(tx: Tx) -> list[tuple[Query, Mapping[str, Any]]]:
        recorder = Recorder(tx)
        work(recorder)
        return recorder.ran

    return storage.read(recorded)


def postgres_plans(
    database: TestDatabase, ran: Sequence[tuple[Query, Mapping[str, Any]]]
) -> Iterator[dict[str, Any]]:
    """The plan of each statement, each way."""
    for mode in _PLAN_MODES:
        yield from _plans(database, ran, mode)


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The plan's node and all below it."""
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def _sqlite_steps(database: TestDatabase, ran: Sequence[tuple[Query, Mapping[str, Any]]]) -> int:
    connection = connect(database.path)
    steps = 0

    def count() -> bool:
        nonlocal steps
        steps += 1
        return False

    tx = SqliteTx(connection)
    for statement, params in ran:  # once before: preparing reads the schema
        tx.fetch(statement, params)
    connection.set_progress_handler(count, 1)
    for statement, params in ran:
        tx.fetch(statement, params)
    connection.close()
    return steps


def _postgres_work(
    database: TestDatabase, ran: Sequence[tuple[Query, Mapping[str, Any]]], mode: str
) -> Work:
    rows = pages = 0
    for plan in _plans(database, ran, mode):
        rows += sum(_rows_read(node) for node in nodes(plan))
        pages += plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
    return Work(len(ran), rows, pages)


def _plans(
    database: TestDatabase, ran: Sequence[tuple[Query, Mapping[str, Any]]], mode: str
) -> Iterator[dict[str, Any]]:
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute(f"SET plan_cache_mode = {mode}".encode())
        for number, (statement, params) in enumerate(ran):
            yield _explain(connection, f"s{number}", statement, params)


def _explain(
    connection: "psycopg.Connection[Any]",
    name: str,
    statement: Query,
    params: Mapping[str, Any],
) -> dict[str, Any]:
    compiled = statement.compile_for(POSTGRES)
    values = sql.SQL(", ").join(sql.Literal(value) for value in compiled.bind(params))
    connection.execute(f"PREPARE {name} AS {compiled.sql}".encode())
    explain = sql.SQL("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE {}({})")
    row = connection.execute(explain.format(sql.Identifier(name), values)).fetchone()
    assert row is not None
    plan: dict[str, Any] = row[0][0]["Plan"]
    return plan


def _rows_read(node: dict[str, Any]) -> int:
    """What a scan has looked at, also if it threw it away."""
    if "Scan" not in node["Node Type"]:
        return 0
    dropped = sum(node.get(f"Rows Removed by {why}", 0) for why in ("Filter", "Index Recheck"))
    return int((node["Actual Rows"] + dropped) * node["Actual Loops"])
