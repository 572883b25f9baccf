"""How a rule of the doctor is written: a select of the ids of what breaks it."""

from typing import Any

from sqlalchemy import ColumnElement, Select, Table, exists, literal_column, select

from recollect.stores.memory_tables import memories

Found = Select[Any]

ONE: ColumnElement[int] = literal_column("1")
# What is being erased is the business of that job alone.
STAYING = memories.c.erasure_id.is_(None)


def ids_of(column: ColumnElement[Any], *broken: ColumnElement[bool]) -> Found:
    """The ids in a column where all of this holds."""
    return select(column.label("id")).where(*broken)


def any_of(*conditions: ColumnElement[bool], beside: Table) -> ColumnElement[bool]:
    """Is there a row for which this holds, beside a row of the table?"""
    return exists(select(ONE).where(*conditions).correlate(beside))
