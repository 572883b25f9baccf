"""Building blocks for the doctor's rules. A rule is a SELECT of the ids that break it."""

from typing import Any

from sqlalchemy import ColumnElement, Select, Table, exists, literal_column, select

from recollect.db.tables.memories import memories

IdQuery = Select[Any]

ONE: ColumnElement[int] = literal_column("1")
# Memories that are being erased are left to the erasure job.
NOT_BEING_ERASED = memories.c.erasure_id.is_(None)


def select_ids(column: ColumnElement[Any], *broken: ColumnElement[bool]) -> IdQuery:
    """The values of a column, as `id`, where all conditions hold."""
    return select(column.label("id")).where(*broken)


def exists_row(*conditions: ColumnElement[bool], outer: Table) -> ColumnElement[bool]:
    """EXISTS of a row for which the conditions hold, correlated with the table `outer`."""
    return exists(select(ONE).where(*conditions).correlate(outer))
