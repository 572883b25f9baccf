"""Events as followers see them: not before every older transaction of the server has ended."""

import time

from tests.support.engines import TestDatabase

WAIT_SECONDS = 60
_HELD_BACK = """
SELECT count(*) FROM audit_events WHERE position >= pg_snapshot_xmin(pg_current_snapshot())
"""


def settle(database: TestDatabase) -> None:
    """Wait until all that was written is shown. Transactions of the server's other databases count
    too, and those are of tests that run at the same time."""
    if database.engine == "sqlite":
        return
    patience = time.monotonic() + WAIT_SECONDS
    while database.rows(_HELD_BACK) != [(0,)]:
        assert time.monotonic() < patience, "somebody keeps a transaction open"
