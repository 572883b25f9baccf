"""Verification of the full-text index: does a search by an erased name still find a memory?"""

from collections.abc import Iterable, Sequence
from itertools import islice

from sqlalchemy import select

from recollect.db.columns import EncryptedColumn
from recollect.db.engines.expressions import InTextList
from recollect.db.statements import Query, param
from recollect.db.tables.memories import memory_index
from recollect.db.transaction import Tx
from recollect.erasure.plan import RedactionPlan
from recollect.erasure.redact_text import is_found_by_name
from recollect.kernel import strict_json
from recollect.kernel.runtime import Cipher
from recollect.memories.model import StoredMemory

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
            if is_found_by_name(
                plan.matcher_for_memory(by_id[id_]),
                by_id[id_].memory.content,
                self._terms.open(terms, id_) or "",
            )
        }


_TERMS = Query(select(_i.memory_id, _i.terms).where(InTextList(_i.memory_id, param("ids"))))
