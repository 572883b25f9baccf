"""Building blocks for the doctor's rules. A rule is a SELECT of the ids that break it."""

from typing import Any

from sqlalchemy import ColumnElement, Select, Table, exists, literal_column, select

from recollect.stores.memory_tables import memories

Found = Select[Any]

ONE: ColumnElement[int] = literal_column("1")
# Memories that are being erased are left to the erasure job.
STAYING = memories.c.erasure_id.is_(None)


def ids_of(column: ColumnElement[Any], *broken: ColumnElement[bool]) -> Found:
    """The values of a column, as `id`, where all conditions hold."""
    return select(column.label("id")).where(*broken)


def any_of(*conditions: ColumnElement[bool], beside: Table) -> ColumnElement[bool]:
    """EXISTS of a row for which the conditions hold, correlated with the table `beside`."""
    return exists(select(ONE).where(*conditions).correlate(beside))
