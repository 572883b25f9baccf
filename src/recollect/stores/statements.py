"""A statement is written once with SQLAlchemy Core and compiled once per engine.

What runs is the compiled text on the bare driver; SQLAlchemy's engine, session and pool are not
used. Where scopes, cursors and filters compose, a cached function returns one Statement a shape.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Dialect, bindparam, literal_column
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import BindParameter, ColumnElement

Params = Mapping[str, Any]
Row = tuple[Any, ...]


class Statement:
    """A statement and its text on each engine that has run it."""

    __slots__ = ("_compiled", "clause")

    def __init__(self, clause: ClauseElement) -> None:
        self.clause = clause
        self._compiled: dict[str, Compiled] = {}

    def on(self, dialect: Dialect) -> "Compiled":
        """The compiled form; the first call on an engine compiles."""
        compiled = self._compiled.get(dialect.name)
        if compiled is None:
            compiled = self._compiled[dialect.name] = Compiled(self.clause, dialect)
        return compiled


class Compiled:
    """Text, the order of its parameters and which of them are instants, the constants that
    SQLAlchemy turned into parameters, and the types of the result's columns."""

    __slots__ = ("constants", "instants", "order", "sql", "types")

    def __init__(self, clause: ClauseElement, dialect: Dialect) -> None:
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
        """The values to send, in the order of the text."""
        given = {**self.constants, **params} if self.constants else params
        return [given[name] for name in self.order]


def param(name: str, like: ColumnElement[Any] | None = None) -> BindParameter[Any]:
    """A named parameter, given at each run, of the type of a column."""
    return bindparam(name, required=False, type_=None if like is None else like.type)


def word(value: str) -> ColumnElement[str]:
    """A constant word in the text itself, so that a partial index can match it."""
    if not value.isidentifier():
        raise ValueError("only plain words go into a statement's text")
    return literal_column(f"'{value}'")
