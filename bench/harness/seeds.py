"""Rows put into a database in bulk, where a benchmark needs more than it could ask for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import apsw
import psycopg
from psycopg import sql

from recollect.kernel.clock import to_text
from recollect.kernel.strict_json import dump

Row = dict[str, Any]

START = datetime(2026, 1, 1, tzinfo=UTC)
TEXT = "The quick brown fox jumps over the lazy dog while the agent takes a note of it. " * 3
TEXT_CHARS = 200


def an_id(kind: int, number: int) -> str:
    """A UUID of a kind of thing; numbers up to 2**48."""
    return str(UUID(int=kind << 96 | 0x7000_8000 << 48 | number))


def entry_content(text: str) -> str:
    """Stored history content that says `text`."""
    return dump([{"role": "USER", "text": text}])


@dataclass(slots=True)
class Tree:
    """A tree that grows in memory. Positions count through the whole tree, as they do in life.

    One that is `indexed` counts its entries as such; who plants it writes their index as well.
    """

    owner: str
    number: int
    branches: list[Row] = field(default_factory=list)
    entries: list[Row] = field(default_factory=list)
    indexed: bool = False

    @property
    def id(self) -> str:
        """The root's id too."""
        return an_id(1, self.number << 20)

    def root(self) -> str:
        """Add the root."""
        return self._branch(None, None)

    def fork(self, parent: str, entry: Row) -> str:
        """Add a fork whose last inherited entry is this one."""
        return self._branch(parent, entry)

    def say(self, branch: str, times: int = 1) -> Row:
        """Add history entries to a branch; the last of them."""
        for _ in range(times):
            self.tell(branch, f"{len(self.entries) + 1} {TEXT}"[:TEXT_CHARS])
        return self.entries[-1]

    def tell(self, branch: str, text: str) -> None:
        """Add a history entry with this text."""
        self.entries.append(self._entry(branch, len(self.entries) + 1, text))

    def _entry(self, branch: str, seq: int, text: str) -> Row:
        return {
            "id": an_id(2, self.number << 28 | seq),
            "conversation_id": branch,
            "conversation_group_id": self.id,
            "seq": seq,
            "channel": "history",
            "content_type": "history",
            "content": entry_content(text),
            "created_at": _at(seq),
            "user_id": self.owner,
            "text_seq": seq,
            "indexed_content": text,
            "indexed_at": _at(seq) if self.indexed else None,
        }

    def _branch(self, parent: str | None, point: Row | None) -> str:
        id_ = an_id(1, self.number << 20 | len(self.branches))
        at = _at(len(self.entries) + len(self.branches))
        self.branches.append(
            {
                "id": id_,
                "conversation_group_id": self.id,
                "owner_user_id": self.owner,
                "title": f"Conversation {self.number}",
                "title_pending": False,
                "last_message_preview": TEXT[:100],
                "last_text_seq": point["seq"] if point else None,
                "metadata": "{}",
                "forked_at_conversation_id": parent,
                "forked_at_entry_id": point["id"] if point else None,
                "forked_at_seq": point["seq"] if point else (0 if parent else None),
                "created_at": at,
                "updated_at": at,
            }
        )
        return id_


def plant(database_url: str, trees: Sequence[Tree]) -> None:
    """Insert trees."""
    tables = {
        "conversation_groups": [_tree_row(tree) for tree in trees],
        "conversations": [row for tree in trees for row in tree.branches],
        "conversation_memberships": [_owner_row(tree) for tree in trees],
        "entries": [row for tree in trees for row in tree.entries],
    }
    insert_rows(database_url, tables)


def insert_rows(database_url: str, tables: Mapping[str, Sequence[Row]]) -> None:
    """Insert rows into tables of ours. PostgreSQL learns their statistics at once, as it
    would within a minute."""
    filled = {table: rows for table, rows in tables.items() if rows}
    if database_url.startswith("sqlite:///"):
        _plant_sqlite(Path(database_url.removeprefix("sqlite:///")), filled)
    else:
        _plant_postgres(database_url, filled)


def _tree_row(tree: Tree) -> Row:
    seq = len(tree.entries)
    return {
        "id": tree.id,
        "created_at": START,
        "last_seq": seq,
        "last_at": _at(seq),
        "index_entries": seq if tree.indexed else 0,
        "index_revision": seq if tree.indexed else 0,
    }


def _owner_row(tree: Tree) -> Row:
    return {
        "conversation_group_id": tree.id,
        "user_id": tree.owner,
        "access_level": "owner",
        "created_at": START,
    }


def _at(number: int) -> datetime:
    return START + timedelta(milliseconds=number)


def _plant_sqlite(path: Path, tables: Mapping[str, Sequence[Row]]) -> None:
    connection = apsw.Connection(str(path))
    with connection:
        for table, rows in tables.items():
            columns = list(rows[0])
            marks = ",".join("?" * len(columns))
            statement = f"INSERT INTO {table} ({','.join(columns)}) VALUES ({marks})"
            values = (tuple(map(_to_sqlite, row.values())) for row in rows)
            connection.executemany(statement, values)
    connection.close()


def _plant_postgres(url: str, tables: Mapping[str, Sequence[Row]]) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        with connection.transaction(), connection.cursor() as cursor:
            for table, rows in tables.items():
                columns = sql.SQL(",").join(map(sql.Identifier, rows[0]))
                into = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), columns)
                with cursor.copy(into) as copy:
                    for row in rows:
                        copy.write_row(tuple(row.values()))
        connection.execute("VACUUM ANALYZE")


def _to_sqlite(value: Any) -> Any:
    return to_text(value) if isinstance(value, datetime) else value
