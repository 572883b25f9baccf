"""Which tables a read scans from one end to the other, by the plans of its statements."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from recollect.db.engines.sqlite.connection import DIALECT as SQLITE
from recollect.db.engines.sqlite.connection import connect
from recollect.db.statements import Query
from recollect.db.transaction import Tx
from tests.support.engines import TestDatabase
from tests.support.query_work import nodes, postgres_plans, record
from tests.support.storage import Storage

_SQLITE_SCAN = re.compile(r"SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?")


def full_scans(
    storage: Storage,
    work: Callable[[Tx], object],
    tables: Collection[str],
    *,
    but_for: Collection[str] = (),
) -> list[str]:
    """Full scans of any of these tables, or of an index of theirs, in any of the read's statements,
    however the engine plans it. Scans of the indexes `but_for` don't count."""
    ran = record(storage, work)
    scans = _sqlite_scans if storage.engine.name == "sqlite" else _postgres_scans
    found = set(scans(storage.database, ran))
    return sorted(
        f"{table} {index}" for table, index in found if table in tables and index not in but_for
    )


def _sqlite_scans(
    database: TestDatabase, ran: Sequence[tuple[Query, Mapping[str, Any]]]
) -> Iterator[tuple[str, str]]:
    connection = connect(database.path)
    for statement, params in ran:
        compiled = statement.compile_for(SQLITE)
        # Our connections plan without regard to the values.
        values = [None] * len(compiled.bind(params))
        explained = connection.execute(f"EXPLAIN QUERY PLAN {compiled.sql}", values)
        for *_, detail in explained:
            if (scan := _SQLITE_SCAN.match(str(detail))) is not None:
                yield scan[1], scan[2] or ""
    connection.close()


def _postgres_scans(
    database: TestDatabase, ran: Sequence[tuple[Query, Mapping[str, Any]]]
) -> Iterator[tuple[str, str]]:
    """An index without a condition is read to its end. The scan of a bitmap is named by its index,
    whose name begins with its table's."""
    for plan in postgres_plans(database, ran):
        for node in nodes(plan):
            if _reads_all(node):
                index = node.get("Index Name", "")
                yield node.get("Relation Name", index), index


def _reads_all(node: Mapping[str, Any]) -> bool:
    """The rows of a bitmap are those that its indexes have found. A condition without columns may
    keep a scan from being done at all."""
    kind, done = node["Node Type"], node["Actual Loops"] > 0
    return done and "Scan" in kind and kind != "Bitmap Heap Scan" and "Index Cond" not in node
