"""The rest of the outside: encryption of stored text, and metrics of what we do."""

from dataclasses import dataclass
from typing import Protocol

from recollect.domain.clock import Clock
from recollect.domain.ids import Ids


class Cipher(Protocol):
    """Encrypts and decrypts single stored values.

    `table`, `column` and `row_id` are bound to the ciphertext: moved elsewhere it fails to open.
    """

    @property
    def enabled(self) -> bool:
        """Is there a key to encrypt with?"""
        ...

    def seal(self, text: str, *, table: str, column: str, row_id: str) -> str:
        """What to store for `text`: the text itself when no key is configured."""
        ...

    def open(self, stored: str, *, table: str, column: str, row_id: str) -> str:
        """The text of a stored value. Raises Internal on an unknown key or a bad tag."""
        ...

    def key_id(self, stored: str) -> str | None:
        """The id of the key that sealed a stored value; None if it is plain."""
        ...

    def is_current(self, stored: str) -> bool:
        """Would sealing this value's text now use the same key (or none)?"""
        ...


@dataclass(frozen=True, slots=True)
class Runtime:
    """What every service needs besides stores."""

    clock: Clock
    ids: Ids
    cipher: Cipher
