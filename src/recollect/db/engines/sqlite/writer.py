"""The writer thread's connection, and group commit: waiting transactions share one COMMIT.

A durable COMMIT costs an fsync, so it is paid once for a whole batch (decision 0003). Nobody gets
an answer before the COMMIT of their batch.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import apsw

from recollect.db.engines.base import ATTEMPTS_MAX, PendingTransaction
from recollect.db.engines.sqlite.connection import SqliteTx, translate_error
from recollect.db.transaction import RetryTransaction
from recollect.kernel.errors import Unavailable
from recollect.observability.metrics import Metrics


@dataclass(frozen=True, slots=True)
class ExclusiveWork:
    """Work on the bare connection outside of any transaction, such as VACUUM. All writes wait."""

    act: Callable[[apsw.Connection], None]

    def __call__(self, connection: apsw.Connection) -> None:
        self.act(connection)


class SqliteWriter:
    """Runs batches of write transactions on the one connection that writes.

    The functions of a batch run one after the other inside one database transaction, without a
    savepoint around each: savepoints cost about 15 % of the throughput (decision 0003). The price
    is paid when a function fails:

    - It failed before it changed a row (refusals, mostly): there is nothing to undo. It gets its
      error, the rest of the batch goes on. SQLite's `total_changes` tells whether it changed a row.
    - It failed after a change, lost a race or hit a database error: its changes can't be taken out
      of the shared transaction. The whole batch is rolled back, and then every function of it runs
      again from the start, each in a transaction of its own. So functions may run more than once,
      and must change nothing but their `Tx`.

    Results of a first run that was rolled back are overwritten by the second run; no caller sees
    them, because results are delivered only after `run_batch`.
    """

    def __init__(self, connection: apsw.Connection, metrics: Metrics) -> None:
        self._connection = connection
        self._tx = SqliteTx(connection)
        self._metrics = metrics

    def close(self) -> None:
        self._connection.close()

    def run_batch(self, batch: list[PendingTransaction]) -> None:
        """Run a batch; afterwards each request holds its result or its error.

        Exclusive work comes last, whatever its place in the batch: it can't run inside the shared
        transaction. Raises only when the connection itself fails, such as in a ROLLBACK.
        """
        joined = [request for request in batch if not isinstance(request.work, ExclusiveWork)]
        if joined and not self._commit_together(joined):
            for request in joined:
                self._commit_alone(request)
        for request in batch:
            if isinstance(request.work, ExclusiveWork):
                self._run_exclusive(request)
        now = time.perf_counter()
        for request in batch:
            self._metrics.record_transaction("write", now - request.queued_at)

    def _commit_together(self, batch: list[PendingTransaction]) -> bool:
        """Run all in one transaction. False if it was rolled back and must be run again singly.

        A failure of BEGIN or COMMIT is the error of every request: each would fail alone too (the
        disk is full, another process holds the write lock), so they are not run again.
        """
        try:
            self._execute("BEGIN IMMEDIATE")
            for request in batch:
                if not self._run_in_batch(request):
                    self._roll_back()
                    return False
            self._execute("COMMIT")
            self._metrics.record_commit_batch(len(batch))
        except apsw.Error as error:
            self._roll_back()
            for request in batch:
                request.error = translate_error(error)
        return True

    def _run_in_batch(self, request: PendingTransaction) -> bool:
        """Run one function of the batch. False if the shared transaction must be rolled back."""
        before = self._connection.total_changes()
        request.result = request.error = None
        try:
            request.result = request.work(self._tx)
        except Exception as error:  # noqa: BLE001 - outermost frame of a thread: the waiter gets it
            request.error = error
            # A lost race forces the rerun even without a change: alone it may win. A database
            # error may have rolled back the transaction already, so the batch can't go on.
            lost_race = isinstance(error, RetryTransaction | apsw.Error)
            return not lost_race and self._connection.total_changes() == before
        return True

    def _commit_alone(self, request: PendingTransaction) -> None:
        """Run one function in its own transaction; a lost race is tried again, nothing else."""
        for _ in range(ATTEMPTS_MAX):
            request.result = request.error = None
            try:
                self._execute("BEGIN IMMEDIATE")
                request.result = request.work(self._tx)
                self._execute("COMMIT")
                self._metrics.record_commit_batch(1)
                return
            except RetryTransaction:
                self._roll_back()
                request.error = Unavailable("too many requests race for one conversation")
            except apsw.Error as error:
                self._roll_back()
                request.error = translate_error(error)
                return
            except Exception as error:  # noqa: BLE001 - outermost frame of a thread
                self._roll_back()
                request.error = error
                return

    def _run_exclusive(self, request: PendingTransaction) -> None:
        try:
            request.work(self._connection)
        except apsw.Error as error:
            request.error = translate_error(error)
        except Exception as error:  # noqa: BLE001 - outermost frame of a thread: the waiter gets it
            request.error = error

    def _roll_back(self) -> None:
        # SQLite rolls back by itself after some errors; a second ROLLBACK would then fail.
        if self._connection.in_transaction:
            self._execute("ROLLBACK")

    def _execute(self, sql: str) -> None:
        self._connection.execute(sql).fetchall()
