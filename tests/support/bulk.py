"""Large trees, written past the stores because tests have no hour to wait."""

from collections.abc import Iterable, Sequence
from typing import Any

import apsw
import psycopg
from psycopg import sql

from recollect.conversations.model import Conversation
from recollect.kernel.clock import to_text
from recollect.kernel.ids import EntryId
from tests.support.builders import NOON, a_conversation, plant
from tests.support.engines import TestDatabase
from tests.support.storage import Storage

_CONVERSATION = (
    "id",
    "conversation_group_id",
    "owner_user_id",
    "forked_at_conversation_id",
    "forked_at_seq",
    "created_at",
    "updated_at",
)
_ENTRY = (
    "id",
    "conversation_id",
    "conversation_group_id",
    "seq",
    "client_id",
    "channel",
    "epoch",
    "content_type",
    "content",
    "text_seq",
    "created_at",
)
_TEXT = '[{"role": "USER", "text": "some words"}]'


class BulkTree:
    """A tree that grows in memory and is written at once."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.root = plant(storage)
        self._forks: list[Conversation] = []
        self._entries: list[Sequence[Any]] = []
        self.seq = 0

    def append(
        self, branch: Conversation, count: int, *, client: str | None = None, epoch: int = 1
    ) -> list[EntryId]:
        """Entries of history, or of a client's memory."""
        ids = [EntryId(self._storage.new_id()) for _ in range(count)]
        for id_ in ids:
            self.seq += 1
            channel = "memory" if client else "history"
            self._entries.append(
                (
                    id_,
                    branch.id,
                    branch.tree_id,
                    self.seq,
                    client,
                    channel,
                    epoch if client else None,
                    channel,
                    _TEXT,
                    self.seq,
                    NOON,
                )
            )
        return ids

    def fork(self, parent: Conversation, point: int) -> Conversation:
        """A branch that shows the parent up to a position."""
        fork = a_conversation(
            self._storage,
            tree_id=self.root.tree_id,
            forked_at_conversation_id=parent.id,
            forked_at_seq=point,
        )
        self._forks.append(fork)
        return fork

    def write(self) -> None:
        """Put everything into the database."""
        forks = (
            (f.id, f.tree_id, "ann", f.forked_at_conversation_id, f.forked_at_seq, NOON, NOON)
            for f in self._forks
        )
        insert(self._storage.database, "conversations", _CONVERSATION, forks)
        insert(self._storage.database, "entries", _ENTRY, self._entries)


def insert(
    database: TestDatabase, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    """Rows in one transaction, by the engine's own fast way."""
    if database.engine == "sqlite":
        _insert_sqlite(database, table, columns, rows)
    else:
        _copy_postgres(database, table, columns, rows)


def _insert_sqlite(
    database: TestDatabase, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    connection = apsw.Connection(str(database.path))
    # The server may be writing: on a busy machine its commit takes longer than no wait at all.
    connection.set_busy_timeout(10_000)
    places = ", ".join("?" * len(columns))
    values = ([to_text(v) if v is NOON else v for v in row] for row in rows)
    with connection:
        connection.executemany(
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", values
        )
    connection.close()


def _copy_postgres(
    database: TestDatabase, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    command = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), names)
    with psycopg.connect(database.url) as connection:
        with connection.cursor().copy(command) as copy:
            for row in rows:
                copy.write_row(row)
        connection.commit()
        connection.execute(f"ANALYZE {table}".encode())
