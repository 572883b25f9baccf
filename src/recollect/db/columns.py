"""Column types of our tables, one function each, and columns whose values are encrypted.

Ids that callers choose are plain `text`.
"""

from typing import Any, NamedTuple

import structlog
from sqlalchemy import BigInteger, Boolean, Column, DateTime, Double, MetaData, Text, Uuid

from recollect.kernel.errors import Unreadable
from recollect.kernel.runtime import Cipher

_log = structlog.get_logger("recollect.encryption")

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


class OpenedText(NamedTuple):
    """A decrypted value; None if nothing is stored, or if it is `unreadable`."""

    text: str | None
    unreadable: bool


class EncryptedColumn:
    """A column that may be encrypted. Each value is bound to its table, column and row, so a
    ciphertext that is copied to another row can't be decrypted there."""

    def __init__(self, cipher: Cipher, column: Column[Any]) -> None:
        self._cipher = cipher
        self._table = column.table.name
        self._column = column.name

    def seal(self, text: str | None, row_id: str) -> str | None:
        """Encrypt a value for storing; None stays None."""
        if text is None:
            return None
        return self._cipher.seal(text, table=self._table, column=self._column, row_id=row_id)

    def open(self, stored: str | None, row_id: str) -> str | None:
        """Decrypt a stored value; None stays None. Raises Unreadable."""
        if stored is None:
            return None
        return self._cipher.open(stored, table=self._table, column=self._column, row_id=row_id)

    def open_to_show(self, stored: str | None, row_id: str) -> OpenedText:
        """Decrypt a value for a reader. One that can't be decrypted is logged and does not fail the
        read: a list shows its other rows."""
        try:
            return OpenedText(self.open(stored, row_id), unreadable=False)
        except Unreadable as error:
            _log.warning("a stored value is unreadable", reason=str(error))
            return OpenedText(None, unreadable=True)
