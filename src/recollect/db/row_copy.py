"""How all rows of a database are read and written, whatever its engine and schema version.

Values have the form in which SQLite stores them: None, int, float, str or bytes. Instants are texts
(`kernel/clock.py`), truth values 0 and 1, UUIDs texts, vectors bytes. So rows of one engine can be
written to the other.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any, Protocol

Row = Sequence[Any]

# The position of an event means nothing outside its database (decision 0007): rows are copied in
# its order, and get new ones.
LOCAL_COLUMNS = {"audit_events": "position"}
ROW_ORDER = {"audit_events": "position, id"}


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table with its rows. `blobs` are the places of columns of bytes. `last_number` is the
    highest number that the engine gave to a row, also to one that is gone."""

    name: str
    columns: tuple[str, ...]
    blobs: tuple[int, ...]
    rows: int = 0
    last_number: int | None = None


class RowReader(Protocol):
    """One consistent state of a database."""

    @property
    def schema_version(self) -> int: ...

    @property
    def tables(self) -> Sequence[StoredTable]:
        """All tables; one that another refers to comes first."""
        ...

    def read(self, table: StoredTable) -> Iterator[Row]:
        """The rows, with the columns that `table` names. They are not gathered in memory."""
        ...


class RowWriter(Protocol):
    """An empty database that is being filled. Nobody sees it before it is complete."""

    def create(self, schema_version: int) -> Mapping[str, StoredTable]:
        """Make the tables, as they were at this version."""
        ...

    def write(self, table: StoredTable, rows: Iterable[Row]) -> None:
        """Add rows. Raises InvalidInput for values that the engine can't store."""
        ...

    def read(self, table: StoredTable) -> Iterator[Row]:
        """What was written."""
        ...

    def finish(self) -> None:
        """Make the indexes, check references, and bring the schema up to date."""
        ...


def in_order_of_references(
    tables: Iterable[StoredTable], references: Iterable[tuple[str, str]]
) -> list[StoredTable]:
    """By name, but behind the tables that they refer to. `references` are pairs of names."""
    by_name = {table.name: table for table in sorted(tables, key=lambda table: table.name)}
    sorter: TopologicalSorter[str] = TopologicalSorter(dict.fromkeys(by_name, ()))
    for name, target in references:
        if name in by_name and target in by_name and name != target:
            sorter.add(name, target)
    return [by_name[name] for name in sorter.static_order()]


def select_list(columns: Iterable[str]) -> str:
    """Column names in SQL."""
    return ", ".join(f'"{name}"' for name in columns)


def order_clause(table: StoredTable) -> str:
    """The order of rows that has a meaning, in SQL; most tables have none."""
    order = ROW_ORDER.get(table.name)
    return f" ORDER BY {order}" if order else ""
