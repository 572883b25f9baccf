"""Conversion between rows of a table and the values of a line.

A field that names a user or an agent is stored in two columns, its kind and its id. JSON is stored
as text.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Table

from recollect.domain import jsontext
from recollect.domain.agents import Owner, OwnerKind
from recollect.domain.people import normal_form
from recollect.domain.relationship_words import relationship_key
from recollect.stores.engines.expressions import insert_if_absent
from recollect.stores.memory_tables import approvals, memory_versions, relations
from recollect.stores.people_tables import (
    agents,
    chat_participations,
    named_chats,
    people,
    person_aliases,
    person_merges,
    person_relationships,
    runs,
)
from recollect.stores.statements import Row, Statement, param

Values = dict[str, Any]

_JSON = frozenset({"metadata", "moved", "snapshot"})


@dataclass(frozen=True)
class Rows:
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

    def to_values(self, row: Row) -> Values:
        """The values of a row, by field."""
        named = dict(zip((column.name for column in self.columns), row, strict=True))
        for name in self.owners:
            kind, id_ = _pair(name)
            named[name] = Owner(OwnerKind(named.pop(kind)), named.pop(id_))
        return {name: _opened(name, value) for name, value in named.items()}

    def to_params(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Bind parameters for all columns of the table."""
        params = {column.name: values.get(column.name) for column in self.table.columns}
        for name in self.owners:
            owner: Owner = values[name]
            params |= dict(zip(_pair(name), (owner.kind, owner.id), strict=True))
        for name in _JSON & params.keys():
            known = params[name]
            params[name] = known if isinstance(known, str) else jsontext.dump(known or {})
        for name, make in (self.derived or {}).items():
            params[name] = make(values)
        return params

    @property
    def insert(self) -> Statement:
        """An INSERT that does nothing if the key is taken. It returns the first column of the key,
        or no row in that case."""
        values = {column.name: param(column.name, column) for column in self.table.columns}
        made = insert_if_absent(self.table, *self.key).values(values)
        return Statement(made.returning(self.table.c[self.key[0]]))


def _pair(name: str) -> tuple[str, str]:
    stem = name.removesuffix("_id")
    return f"{stem}_kind", f"{stem}_id"


def _opened(name: str, value: Any) -> Any:
    return jsontext.load(value) if name in _JSON and isinstance(value, str) else value


def by_person(rows: Iterable[Row], table: Rows, at: int) -> dict[str, list[Values]]:
    """Values of the rows, grouped by the person id in column `at`."""
    found: dict[str, list[Values]] = {}
    for row in rows:
        found.setdefault(row[at], []).append(table.to_values(row))
    return found


def texts_by(rows: Sequence[Row]) -> dict[str, list[str]]:
    """The texts of (id, text) rows, grouped by id."""
    found: dict[str, list[str]] = {}
    for id_, text in rows:
        found.setdefault(id_, []).append(text)
    return found


AGENTS = Rows(agents, ("id",), ("owner_id", "created_by"))
PEOPLE = Rows(
    people,
    ("id",),
    ("created_by",),
    ("normal_name", "erasure_id"),
    {"normal_name": lambda values: normal_form(values["name"])},
)
ALIASES = Rows(
    person_aliases,
    ("id",),
    ("added_by",),
    ("normal_value",),
    {"normal_value": lambda values: normal_form(values["value"])},
)
RELATIONSHIPS = Rows(
    person_relationships,
    ("id",),
    ("added_by",),
    ("normal_relationship",),
    {"normal_relationship": lambda values: relationship_key(values["relationship"])},
)
MERGES = Rows(person_merges, ("id",), ("by",))
CHATS = Rows(named_chats, ("id",), ("created_by",))
STAYS = Rows(chat_participations, ())
RUNS = Rows(runs, ("id",))
VERSIONS = Rows(memory_versions, ("id",), ("by",))
RELATIONS = Rows(relations, ("id",))
APPROVALS = Rows(approvals, ("id",), ("requested_by",))
