"""Queries: written once with SQLAlchemy Core, compiled once per engine, run on the bare driver.

SQLAlchemy's engine, session and pool are not used (decision 0002). Where scopes, cursors and
filters combine, a cached function returns one Query for each combination.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Dialect, bindparam, literal_column
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import BindParameter, ColumnElement

Params = Mapping[str, Any]
Row = tuple[Any, ...]


class Query:
    """A SQL statement and its compiled text for each engine that has run it."""

    __slots__ = ("_compiled", "clause")

    def __init__(self, clause: ClauseElement) -> None:
        self.clause = clause
        self._compiled: dict[str, CompiledQuery] = {}

    def compile_for(self, dialect: Dialect) -> "CompiledQuery":
        """The compiled form for an engine; compiled at the first call."""
        compiled = self._compiled.get(dialect.name)
        if compiled is None:
            compiled = self._compiled[dialect.name] = CompiledQuery(self.clause, dialect)
        return compiled


class CompiledQuery:
    """The SQL text of a query for one engine, and what is needed to run it.

    `order` names the parameters by position, `instants` are the positions of date-times,
    `constants` are literals that SQLAlchemy turned into parameters, `types` those of the columns.
    """

    __slots__ = ("constants", "instants", "order", "sql", "types")

    def __init__(self, clause: ClauseElement, dialect: Dialect) -> None:
        # `render_postcompile` expands IN lists now: the text must be final, since it is run later
        # without SQLAlchemy.
        compiled = clause.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})
        if not isinstance(compiled, SQLCompiler):
            raise TypeError("a statement must be SQL")
        self.sql = str(compiled)
        self.order: tuple[str, ...] = tuple(compiled.positiontup or ())
        kinds = [type(compiled.binds[name].type).__name__ for name in self.order]
        self.instants = tuple(i for i, kind in enumerate(kinds) if kind == "DateTime")
        self.constants = {k: v for k, v in compiled.params.items() if v is not None}
        columns = getattr(clause, "exported_columns", ())
        self.types = tuple(type(column.type).__name__ for column in columns)

    def bind(self, params: Params) -> list[Any]:
        """The parameter values in the order of the text. Raises KeyError for a missing one."""
        values = {**self.constants, **params} if self.constants else params
        return [values[name] for name in self.order]


def param(name: str, like: ColumnElement[Any] | None = None) -> BindParameter[Any]:
    """A named parameter of the type of the column `like`; its value is given at each run."""
    return bindparam(name, required=False, type_=None if like is None else like.type)


def literal_word(value: str) -> ColumnElement[str]:
    """A constant in the SQL text itself, not a parameter, so that a partial index can match it."""
    if not value.isidentifier():
        raise ValueError("only plain words go into a statement's text")
    return literal_column(f"'{value}'")
