"""Verification of the full-text index: is a memory that stays still found by an erased name?"""

from collections.abc import Iterable, Sequence
from itertools import islice

from sqlalchemy import select

from recollect.db.columns import EncryptedColumn
from recollect.db.engines.expressions import InTextList
from recollect.db.statements import Query, param
from recollect.db.tables.memories import memory_index
from recollect.db.transaction import Tx
from recollect.erasure.identifier_matcher import ERASED
from recollect.erasure.plan import RedactionPlan
from recollect.kernel import strict_json
from recollect.kernel.runtime import Cipher
from recollect.memories.model import StoredMemory
from recollect.search.model import index_words

_PAGE = 200
_i = memory_index.c


class MemoryIndexCheck:
    """Reads the index rows, decrypted where needed."""

    def __init__(self, cipher: Cipher) -> None:
        self._terms = EncryptedColumn(cipher, _i.terms)

    def count_stale(self, tx: Tx, linked: Iterable[StoredMemory], plan: RedactionPlan) -> int:
        """How many memories have an identifier in their text or an out-of-date index row."""
        rows, found = iter(linked), set[int]()
        while page := list(islice(rows, _PAGE)):
            found |= self._stale_docs(tx, page, plan)
        return len(found)

    def _stale_docs(self, tx: Tx, page: Sequence[StoredMemory], plan: RedactionPlan) -> set[int]:
        by_id = {one.memory.id: one for one in page}
        rows = tx.fetch(_TERMS, {"ids": strict_json.dump(list(by_id))})
        return {
            by_id[id_].doc
            for id_, terms in rows
            if _is_found_by_name(by_id[id_], self._terms.open(terms, id_) or "", plan)
        }


def _is_found_by_name(stored: StoredMemory, terms: str, plan: RedactionPlan) -> bool:
    """Words of the erased name are not searched in the index: another word of the text may be the
    same. A redacted text must have exactly the index words that follow from it."""
    text = stored.memory.content
    if plan.matcher_for_memory(stored).has_match(text):
        return True
    return ERASED in text and index_words(text).terms != terms


_TERMS = Query(select(_i.memory_id, _i.terms).where(InTextList(_i.memory_id, param("ids"))))
