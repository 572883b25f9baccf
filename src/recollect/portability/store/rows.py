"""Conversion between rows of a table and the values of a line.

A field that names a user or an agent is stored in two columns, its kind and its id. JSON is stored
as text.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Table

from recollect.db.engines.expressions import insert_if_absent
from recollect.db.statements import Query, Row, param
from recollect.db.tables.memories import approvals, memory_versions, relations
from recollect.db.tables.people import (
    agents,
    chat_participations,
    named_chats,
    people,
    person_aliases,
    person_merges,
    person_relationships,
    runs,
)
from recollect.kernel import strict_json
from recollect.kernel.owner import Owner, OwnerKind
from recollect.people.model import normal_form
from recollect.people.relationship_words import relationship_key

LineValues = dict[str, Any]

_JSON_COLUMNS = frozenset({"metadata", "moved", "snapshot"})


@dataclass(frozen=True)
class LineTable:
    """One table. `omitted` columns are not exported, `owners` are the fields that take two columns,
    `derived` computes columns from other fields when a row is inserted."""

    table: Table
    key: tuple[str, ...]
    owners: tuple[str, ...] = ()
    omitted: tuple[str, ...] = ()
    derived: Mapping[str, Any] | None = None

    @property
    def columns(self) -> tuple[Column[Any], ...]:
        """The columns that an export reads."""
        return tuple(column for column in self.table.columns if column.name not in self.omitted)

    def to_values(self, row: Row) -> LineValues:
        """The values of a row, by field."""
        named = dict(zip((column.name for column in self.columns), row, strict=True))
        for name in self.owners:
            kind, id_ = _owner_columns(name)
            named[name] = Owner(OwnerKind(named.pop(kind)), named.pop(id_))
        return {name: _parse_json(name, value) for name, value in named.items()}

    def to_params(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Bind parameters for all columns of the table."""
        params = {column.name: values.get(column.name) for column in self.table.columns}
        for name in self.owners:
            owner: Owner = values[name]
            params |= dict(zip(_owner_columns(name), (owner.kind, owner.id), strict=True))
        for name in _JSON_COLUMNS & params.keys():
            known = params[name]
            params[name] = known if isinstance(known, str) else strict_json.dump(known or {})
        for name, make in (self.derived or {}).items():
            params[name] = make(values)
        return params

    @property
    def insert_query(self) -> Query:
        """An INSERT that does nothing if the key is taken. It returns the first column of the key,
        or no row in that case."""
        values = {column.name: param(column.name, column) for column in self.table.columns}
        made = insert_if_absent(self.table, *self.key).values(values)
        return Query(made.returning(self.table.c[self.key[0]]))


def _owner_columns(name: str) -> tuple[str, str]:
    stem = name.removesuffix("_id")
    return f"{stem}_kind", f"{stem}_id"


def _parse_json(name: str, value: Any) -> Any:
    return strict_json.load(value) if name in _JSON_COLUMNS and isinstance(value, str) else value


def group_by_person(rows: Iterable[Row], table: LineTable, at: int) -> dict[str, list[LineValues]]:
    """Values of the rows, grouped by the person id in column `at`."""
    found: dict[str, list[LineValues]] = {}
    for row in rows:
        found.setdefault(row[at], []).append(table.to_values(row))
    return found


def group_texts(rows: Sequence[Row]) -> dict[str, list[str]]:
    """The texts of (id, text) rows, grouped by id."""
    found: dict[str, list[str]] = {}
    for id_, text in rows:
        found.setdefault(id_, []).append(text)
    return found


AGENTS = LineTable(agents, ("id",), ("owner_id", "created_by"))
PEOPLE = LineTable(
    people,
    ("id",),
    ("created_by",),
    ("normal_name", "erasure_id"),
    {"normal_name": lambda values: normal_form(values["name"])},
)
ALIASES = LineTable(
    person_aliases,
    ("id",),
    ("added_by",),
    ("normal_value",),
    {"normal_value": lambda values: normal_form(values["value"])},
)
RELATIONSHIPS = LineTable(
    person_relationships,
    ("id",),
    ("added_by",),
    ("normal_relationship",),
    {"normal_relationship": lambda values: relationship_key(values["relationship"])},
)
MERGES = LineTable(person_merges, ("id",), ("by",))
CHATS = LineTable(named_chats, ("id",), ("created_by",))
PARTICIPATIONS = LineTable(chat_participations, ())
RUNS = LineTable(runs, ("id",))
VERSIONS = LineTable(memory_versions, ("id",), ("by",))
RELATIONS = LineTable(relations, ("id",))
APPROVALS = LineTable(approvals, ("id",), ("requested_by",))
