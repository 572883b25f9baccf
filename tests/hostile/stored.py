"""What a database holds, seen from outside: all rows of all tables, straight by SQL."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from recollect.db.columns import metadata
from tests.hostile.sample_tree import MARKER
from tests.support.engines import TestDatabase

EVENTS = "audit_events"
Rows = dict[str, list[str]]


def contents(database: TestDatabase) -> Rows:
    """Every row of every table as text, in an order of its own."""
    stored = database.contents(metadata.tables)
    return {table: sorted(repr(row) for row in rows) for table, rows in stored.items()}


@contextmanager
def nothing_stored(database: TestDatabase) -> Iterator[None]:
    """Whatever happens inside leaves every row as it was.

    The one exception are events of admin calls that were denied, or of reads that were let in and
    then found nothing: their event is written first. Neither holds content.
    """
    before = contents(database)
    yield
    after = contents(database)
    new_events = set(after.pop(EVENTS)) - set(before.pop(EVENTS))
    assert after == before, _difference(before, after)
    for event in new_events:
        assert "'denied'" in event or "'admin_read'" in event, event
        assert MARKER not in event


def _difference(before: Rows, after: Rows) -> dict[str, Any]:
    return {
        table: {
            "gone": set(before[table]) - set(after[table]),
            "new": set(rows) - set(before[table]),
        }
        for table, rows in after.items()
        if rows != before[table]
    }
