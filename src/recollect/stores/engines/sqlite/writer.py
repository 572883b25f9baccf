"""The writer thread's connection: how transactions that wait are committed together."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import apsw

from recollect.errors import Unavailable
from recollect.ports.database import Retry
from recollect.ports.metrics import Metrics
from recollect.stores.engines.base import ATTEMPTS_MAX, Request
from recollect.stores.engines.sqlite.connection import SqliteTx, translate


@dataclass(frozen=True, slots=True)
class Apart:
    """Work on the bare connection, outside of any transaction, while all writes wait."""

    act: Callable[[apsw.Connection], None]

    def __call__(self, connection: apsw.Connection) -> None:
        self.act(connection)


class Writer:
    """The writer thread's connection and its way of committing."""

    def __init__(self, connection: apsw.Connection, metrics: Metrics) -> None:
        self._connection = connection
        self._tx = SqliteTx(connection)
        self._metrics = metrics

    def close(self) -> None:
        self._connection.close()

    def run(self, batch: list[Request]) -> None:
        """Run all of them; afterwards each request holds its result or its error."""
        joined = [request for request in batch if not isinstance(request.work, Apart)]
        if joined and not self._together(joined):
            for request in joined:
                self._alone(request)
        for request in batch:
            if isinstance(request.work, Apart):
                self._apart(request)
        now = time.perf_counter()
        for request in batch:
            self._metrics.transaction("write", now - request.queued_at)

    def _together(self, batch: list[Request]) -> bool:
        """One commit for all. False: something changed and then failed; nothing was kept."""
        try:
            self._statement("BEGIN IMMEDIATE")
            for request in batch:
                if not self._run_in_batch(request):
                    self._abandon()
                    return False
            self._statement("COMMIT")
            self._metrics.commit_batch(len(batch))
        except apsw.Error as error:
            self._abandon()
            for request in batch:
                request.error = translate(error)
        return True

    def _run_in_batch(self, request: Request) -> bool:
        before = self._connection.total_changes()
        request.result = request.error = None
        try:
            request.result = request.work(self._tx)
        except Exception as error:  # noqa: BLE001 - outermost frame of a thread: the waiter gets it
            request.error = error
            lost_race = isinstance(error, Retry | apsw.Error)
            return not lost_race and self._connection.total_changes() == before
        return True

    def _alone(self, request: Request) -> None:
        for _ in range(ATTEMPTS_MAX):
            request.result = request.error = None
            try:
                self._statement("BEGIN IMMEDIATE")
                request.result = request.work(self._tx)
                self._statement("COMMIT")
                self._metrics.commit_batch(1)
                return
            except Retry:
                self._abandon()
                request.error = Unavailable("too many requests race for one conversation")
            except apsw.Error as error:
                self._abandon()
                request.error = translate(error)
                return
            except Exception as error:  # noqa: BLE001 - outermost frame of a thread
                self._abandon()
                request.error = error
                return

    def _apart(self, request: Request) -> None:
        try:
            request.work(self._connection)
        except apsw.Error as error:
            request.error = translate(error)
        except Exception as error:  # noqa: BLE001 - outermost frame of a thread: the waiter gets it
            request.error = error

    def _abandon(self) -> None:
        if self._connection.in_transaction:
            self._statement("ROLLBACK")

    def _statement(self, sql: str) -> None:
        self._connection.execute(sql).fetchall()
