"""What services need besides storage: clock, ids, and encryption of stored values."""

from dataclasses import dataclass
from typing import Protocol

from recollect.kernel.clock import Clock
from recollect.kernel.ids import Ids

# An encrypted value starts with the marker and its key's id, so SQL can tell a row's key by its
# first characters. Compare them with `=` or a range, never with LIKE: the prefix may contain `_`,
# a wildcard of LIKE, and SQLite's LIKE ignores letter case.
SEALED_MARKER = "\x01rc1:"
SEALED_PREFIX_CHARACTERS = 33
# No word begins with the mark: full-text search takes a hash for a word like any other.
WORD_HASH_MARK = "=="
WORD_HASH_CHARACTERS = 18


class Cipher(Protocol):
    """Encrypts (`seal`) and decrypts (`open`) single stored values.

    `table`, `column` and `row_id` are authenticated with the ciphertext: a value that was moved to
    another place fails to open.
    """

    @property
    def is_enabled(self) -> bool:
        """Is a key configured, so that values are encrypted?"""
        ...

    @property
    def seals_index(self) -> bool:
        """Does the search index hold keyed hashes instead of words?"""
        ...

    def hash_word(self, word: str, key_id: str | None = None) -> str:
        """A hash of `WORD_HASH_CHARACTERS` that can't be computed without this key, else the
        current one. Raises KeyError without it."""
        ...

    def seal(
        self, text: str, *, table: str, column: str, row_id: str, key_id: str | None = None
    ) -> str:
        """The value to store for `text`, encrypted with this key, else with the current one: the
        text itself if no key is configured."""
        ...

    def open(self, stored: str, *, table: str, column: str, row_id: str) -> str:
        """The text of a stored value. Raises Unreadable on an unknown key or a bad tag."""
        ...

    def key_id(self, stored: str) -> str | None:
        """The id of the key that encrypted a stored value; None if it is plain text.

        The value's first `SEALED_PREFIX_CHARACTERS` are enough, and the key need not be known.
        Raises Internal if no key id follows the marker.
        """
        ...

    def key_ids(self) -> tuple[str, ...]:
        """The ids of all configured keys, first the one that encrypts; empty without keys."""
        ...

    def prefix(self, key_id: str) -> str:
        """The `SEALED_PREFIX_CHARACTERS` that every value encrypted with this key starts with."""
        ...

    def current_prefix(self) -> str | None:
        """The prefix of values encrypted now; None without keys."""
        ...

    def is_current(self, stored: str) -> bool:
        """Was this value encrypted with the current key, or is it plain and there is no key?"""
        ...


@dataclass(frozen=True, slots=True)
class Runtime:
    """Clock, ids and cipher, as every service gets them."""

    clock: Clock
    ids: Ids
    cipher: Cipher
