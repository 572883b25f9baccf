"""Verification of the full-text index: is a memory that stays still found by an erased name?"""

from collections.abc import Iterable, Sequence
from itertools import islice

from sqlalchemy import select

from recollect.domain import jsontext
from recollect.domain.search import index_words
from recollect.domain.traces import ERASED
from recollect.ports.database import Tx
from recollect.ports.erasures import Cleaning
from recollect.ports.memories import Stored
from recollect.ports.runtime import Cipher
from recollect.stores.engines.expressions import AmongTexts
from recollect.stores.memory_tables import memory_index
from recollect.stores.rows import Sealed
from recollect.stores.statements import Statement, param

_PAGE = 200
_i = memory_index.c


class ErasedIndex:
    """Reads the index rows, decrypted where needed."""

    def __init__(self, cipher: Cipher) -> None:
        self._terms = Sealed(cipher, _i.terms)

    def stale(self, tx: Tx, linked: Iterable[Stored], cleaning: Cleaning) -> int:
        """How many memories have an identifier in their text or an out-of-date index row."""
        rows, found = iter(linked), set[int]()
        while page := list(islice(rows, _PAGE)):
            found |= self._stale(tx, page, cleaning)
        return len(found)

    def _stale(self, tx: Tx, page: Sequence[Stored], cleaning: Cleaning) -> set[int]:
        by_id = {one.memory.id: one for one in page}
        rows = tx.fetch(_TERMS, {"ids": jsontext.dump(list(by_id))})
        return {
            by_id[id_].doc
            for id_, terms in rows
            if _is_found(by_id[id_], self._terms.open(terms, id_) or "", cleaning)
        }


def _is_found(stored: Stored, terms: str, cleaning: Cleaning) -> bool:
    """Words of the erased name are not searched in the index: another word of the text may be the
    same. A redacted text must have exactly the index words that follow from it."""
    text = stored.memory.content
    if cleaning.of_memory(stored).are_in(text):
        return True
    return ERASED in text and index_words(text).terms != terms


_TERMS = Statement(select(_i.memory_id, _i.terms).where(AmongTexts(_i.memory_id, param("ids"))))
