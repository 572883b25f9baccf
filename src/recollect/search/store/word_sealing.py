"""Index words as they are stored: plain, or encrypted beside keyed hashes that the engine's word
index finds rows by.

A hash stands for a whole word or a marked stem. The words themselves are opened for the ranking, so
scores do not depend on how they are stored.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column

from recollect.db.columns import EncryptedColumn
from recollect.kernel.runtime import Cipher
from recollect.search.model import IndexedWords

# A token of a word query, with the mark of a prefix if it has one.
_TOKEN = re.compile(r'"([^"]+)"(?: \*)?')


@dataclass(frozen=True, slots=True)
class StoredWords:
    """The columns of an index row, and what the engine's word index gets."""

    terms: str
    stems: str
    searched: str


class WordSealer:
    """Seals and opens the words of one index; `terms` is its column of words. With `stems`, its
    column of stems, and a key, words that are not hashed are encrypted."""

    def __init__(
        self, cipher: Cipher, terms: Column[Any], stems: Column[Any] | None = None
    ) -> None:
        self._cipher = cipher
        self._terms = EncryptedColumn(cipher, terms)
        hides = cipher.is_enabled and not cipher.seals_index
        self._stems = EncryptedColumn(cipher, stems) if stems is not None and hides else None

    @property
    def hides_words(self) -> bool:
        """Whether words are encrypted and not hashed, so that the engine's word index has none."""
        return self._stems is not None

    def to_stored(self, found: IndexedWords, row_id: str) -> StoredWords:
        """The words as the settings want them stored."""
        if self._stems is not None:
            stems = self._stems.seal(found.stems, row_id) or ""
            return StoredWords(self._seal_terms(found.terms, row_id), stems, "")
        if not self._cipher.seals_index:
            return StoredWords(found.terms, found.stems, f"{found.terms} {found.stems}")
        hashes = self._hash_words([*found.terms.split(), *found.stems.split()])
        return StoredWords(self._seal_terms(found.terms, row_id), hashes, hashes)

    def open_terms(self, stored: str, row_id: str) -> str:
        """The words of a row, however they are stored; none if they can't be decrypted."""
        return self._terms.open_to_show(stored, row_id).text or ""

    def open_to_rewrite(self, stored: str, row_id: str) -> str | None:
        """The words of a row; None if they can't be decrypted."""
        opened = self._terms.open_to_show(stored, row_id)
        return None if opened.unreadable else opened.text or ""

    def widen_query(self, query: str) -> str:
        """A word query that finds sealed rows too, under each key: a rotation may be under way.

        AND binds more tightly than OR, so the alternatives need no brackets. A prefix becomes the
        whole word: the hash of a beginning is the hash of another word.
        """
        if not self._cipher.seals_index:
            return query
        hashed = (_hash_tokens(query, self._cipher, id_) for id_ in self._cipher.key_ids())
        return " OR ".join([query, *hashed])

    def _seal_terms(self, terms: str, row_id: str) -> str:
        return self._terms.seal(terms, row_id) or ""

    def _hash_words(self, words: Sequence[str]) -> str:
        """The hash of nothing, which tells the key, then those of the words. Sorted, so that they
        say nothing of the text's order."""
        distinct = sorted({self._cipher.hash_word(word) for word in words})
        return " ".join([self._cipher.hash_word(""), *distinct])


def _hash_tokens(query: str, cipher: Cipher, key_id: str) -> str:
    return _TOKEN.sub(lambda found: f'"{cipher.hash_word(found[1], key_id)}"', query)
