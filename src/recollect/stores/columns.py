"""The columns that tables are made of. A plain `text` also holds the ids that callers choose."""

from sqlalchemy import BigInteger, Boolean, Column, DateTime, Double, MetaData, Text, Uuid

metadata = MetaData()
# What the database computes of tables: never written, and checked by the tests of its readers.
views = MetaData()


def uuid(name: str) -> Column[str]:
    """An id of ours."""
    return Column(name, Uuid(as_uuid=False))


def text(name: str) -> Column[str]:
    """A text, or a JSON text."""
    return Column(name, Text)


def number(name: str) -> Column[int]:
    """A whole number."""
    return Column(name, BigInteger)


def real(name: str) -> Column[float]:
    """Any other number."""
    return Column(name, Double)


def flag(name: str) -> Column[bool]:
    """True or false."""
    return Column(name, Boolean)


def at(name: str) -> Column[object]:
    """An instant."""
    return Column(name, DateTime(timezone=True))
