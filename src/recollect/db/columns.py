"""Column types of our tables, one function each. Ids that callers choose are plain `text`."""

from sqlalchemy import BigInteger, Boolean, Column, DateTime, Double, MetaData, Text, Uuid

metadata = MetaData()
# Database views: never written to. The tests of their readers check their columns.
views = MetaData()


def uuid(name: str) -> Column[str]:
    """An id that we made, in canonical UUID text."""
    return Column(name, Uuid(as_uuid=False))


def text(name: str) -> Column[str]:
    """A text, possibly JSON."""
    return Column(name, Text)


def number(name: str) -> Column[int]:
    """A whole number."""
    return Column(name, BigInteger)


def real(name: str) -> Column[float]:
    """A floating-point number."""
    return Column(name, Double)


def flag(name: str) -> Column[bool]:
    return Column(name, Boolean)


def timestamp(name: str) -> Column[object]:
    """An instant with time zone; SQLite stores it as ISO-8601 text in UTC."""
    return Column(name, DateTime(timezone=True))
