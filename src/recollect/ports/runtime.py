"""The rest of the outside: time, ids and encryption of stored text."""

from dataclasses import dataclass
from typing import Protocol

from recollect.domain.clock import Clock
from recollect.domain.ids import Ids

# A sealed value starts with the marker and then its key's id, so that a statement can tell the key
# of a row by its first characters. Compare them with `=` or a range, never with LIKE: the prefix
# may hold `_`, and LIKE ignores letter case on one engine.
SEALED_MARKER = "\x01rc1:"
SEALED_PREFIX_CHARACTERS = 33


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
        """The id of the key that sealed a stored value; None if it is plain.

        The value's first `SEALED_PREFIX_CHARACTERS` are enough, and the key need not be known.
        Raises Internal on a marker without a key id behind it.
        """
        ...

    def key_ids(self) -> tuple[str, ...]:
        """Every known key, the one that encrypts first; empty when plain."""
        ...

    def prefix(self, key_id: str) -> str:
        """The `SEALED_PREFIX_CHARACTERS` that every value sealed with this key starts with."""
        ...

    def current_prefix(self) -> str | None:
        """The prefix of what is sealed now; None when plain."""
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
