"""A session: a PostgreSQL connection that is reopened when it breaks, and transactions on it.

Writes run at READ COMMITTED and take the tree's row lock first, so what they read after it is
current. Reads run at REPEATABLE READ: each request sees one snapshot.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import psycopg

from recollect.db.engines.base import ATTEMPTS_MAX, PendingTransaction
from recollect.db.engines.postgres.connection import (
    PipelinedConnection,
    PostgresTx,
    is_lost_race,
    translate_error,
)
from recollect.db.transaction import RetryTransaction
from recollect.kernel.errors import Unavailable
from recollect.observability.metrics import TransactionKind

T = TypeVar("T")

_BEGIN: dict[TransactionKind, str] = {
    "read": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "write": "BEGIN",
}


class PostgresSession:
    """Owns one connection. It is opened at the first use, and again after it broke."""

    def __init__(self, open_connection: Callable[[], PipelinedConnection]) -> None:
        self._open_connection = open_connection
        self._connection: PipelinedConnection | None = None
        self._committing = False

    def close(self) -> None:
        """Close the connection, if it is open."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def run(self, request: PendingTransaction) -> None:
        """Run the transaction; afterwards the request holds its result or its error. Never raises.

        It runs again, up to ATTEMPTS_MAX times, in three cases: the function raised
        RetryTransaction, the server reported a lost race (serialization failure, deadlock, unique
        or foreign key violation), or a connection that was open before broke ahead of COMMIT.
        """
        for _ in range(ATTEMPTS_MAX):
            request.result = request.error = None
            used_before = self._connection is not None
            try:
                request.result = self._run_once(request.kind, request.work)
                return
            except RetryTransaction:
                request.error = Unavailable("too many requests race for one conversation")
            except psycopg.Error as error:
                request.error = translate_error(error)
                # A connection that was opened just now and fails is no stale one: the server is
                # down, and trying again would only make every caller wait longer.
                if not (is_lost_race(error) or (used_before and self._can_rerun)):
                    return
            except Exception as error:  # noqa: BLE001 - outermost frame: the waiter gets it
                request.error = error
                return

    @property
    def _can_rerun(self) -> bool:
        """Did the connection break before COMMIT was sent?

        An idle connection may have ended unnoticed. A transaction that never sent its COMMIT left
        nothing behind, so it may run again on a new connection. Once COMMIT was sent, nobody knows
        whether it took effect: repeating it could write twice, so the caller gets 503.
        """
        return self._connection is None and not self._committing

    def _run_once(self, kind: TransactionKind, work: Callable[[Any], T]) -> T:
        if self._connection is None:
            self._connection = self._open_connection()
        connection = self._connection
        self._committing = False
        try:
            # BEGIN is only queued: it travels with the function's first statements.
            connection.queue(_BEGIN[kind])
            result = work(PostgresTx(connection))
            self._committing = True
            self._commit(connection)
        except Exception:
            self._roll_back(connection)
            raise
        except BaseException:  # the greenlet itself is ended: it can't wait for a rollback
            self.close()
            raise
        return result

    def _commit(self, connection: PipelinedConnection) -> None:
        """Commit, and read every outstanding answer.

        An error of a statement that was only queued shows up here, before COMMIT's own answer. If
        the connection breaks after COMMIT was confirmed, the transaction still succeeded.
        """
        answer = connection.queue("COMMIT")
        try:
            connection.sync()
        except psycopg.OperationalError:
            if answer.result is None:
                raise
            self.close()

    def _roll_back(self, connection: PipelinedConnection) -> None:
        try:
            connection.recover()
        except psycopg.Error:  # the connection itself is gone, and the transaction with it
            self.close()
