"""One encrypted column: how its values are sealed on the way in and opened on the way out."""

from typing import Any

from sqlalchemy import Column

from recollect.kernel.runtime import Cipher


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
        """Decrypt a stored value; None stays None."""
        if stored is None:
            return None
        return self._cipher.open(stored, table=self._table, column=self._column, row_id=row_id)
