"""Rewrites the stored words and texts of the search index to the form that the settings want:
plain, or encrypted beside keyed hashes."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from sqlalchemy import ColumnElement, Table, and_, func, literal_column, not_, select, update

from recollect.db.columns import EncryptedColumn
from recollect.db.statements import Query, param
from recollect.db.tables.conversations import entries, index
from recollect.db.tables.memories import memory_index
from recollect.db.transaction import Tx
from recollect.kernel.runtime import SEALED_MARKER, WORD_HASH_CHARACTERS, WORD_HASH_MARK, Cipher
from recollect.search.model import EntryTrait, IndexedWords, marked_stems
from recollect.search.store.word_sealing import WordSealer

_e = entries.c


class IndexPart(StrEnum):
    """What is rewritten: the words of entries and of memories, and the indexed texts of entries."""

    ENTRIES = "entries"
    MEMORIES = "memories"
    TEXTS = "texts"


@dataclass(frozen=True, slots=True)
class RewriteStep:
    """A batch: how many rows were rewritten, how many could not be decrypted, and the key of the
    last row, None at the end."""

    rewritten: int
    unreadable: int
    last: int | str | None


class IndexFormStore:
    """Finds rows of another form, and rewrites them."""

    def __init__(self, cipher: Cipher) -> None:
        self._cipher = cipher
        self._sealers = {
            IndexPart.ENTRIES: WordSealer(cipher, index.c.terms),
            IndexPart.MEMORIES: WordSealer(cipher, memory_index.c.terms),
        }
        self._texts = EncryptedColumn(cipher, _e.indexed_content)

    @property
    def form(self) -> str:
        """The name of the form that rows are written in now. Another key is another form."""
        return f"sealed:{self._cipher.hash_word('')}" if self._cipher.seals_index else "plain"

    def rewrite(
        self, tx: Tx, part: IndexPart, *, after: int | str | None, limit: int
    ) -> RewriteStep:
        """Rewrite the next rows that have another form. One that can't be decrypted stays."""
        params = {"after": after, "limit": limit}
        if self._cipher.seals_index:
            params["header"] = self._cipher.hash_word("")
        sealed = self._cipher.seals_index
        if part is IndexPart.TEXTS:
            rows = tx.fetch(_stale_texts(sealed=sealed, cursor=after is not None), params)
            done = [self._rewrite_text(tx, *row) for row in rows]
        else:
            statement = _stale_words(part, sealed=sealed, cursor=after is not None)
            rows = tx.fetch(statement, params)
            done = [self._rewrite_words(tx, part, row) for row in rows]
        last = rows[-1][0] if len(rows) == limit else None
        return RewriteStep(done.count(True), done.count(False), last)

    def _rewrite_words(self, tx: Tx, part: IndexPart, row: Sequence[object]) -> bool:
        doc, row_id, stored = row
        sealer = self._sealers[part]
        opened = sealer.open_to_rewrite(str(stored), str(row_id))
        if opened is None:
            return False
        found = IndexedWords(opened, marked_stems(opened.split()), 0, EntryTrait.NONE)
        words = sealer.to_stored(found, str(row_id))
        # Only if nobody wrote other words meanwhile: those have the right form already.
        params = {"doc": doc, "before": stored, "terms": words.terms, "stems": words.stems}
        tx.run(_SET_WORDS[part], params)
        return True

    def _rewrite_text(self, tx: Tx, entry_id: str, stored: str) -> bool:
        opened = self._texts.open_to_show(stored, entry_id)
        if opened.unreadable:
            return False
        sealed = self._cipher.seals_index
        text = self._texts.seal(opened.text, entry_id) if sealed else opened.text
        tx.run(_SET_TEXT, {"id": entry_id, "before": stored, "text": text})
        return True


def _is_encrypted(column: ColumnElement[str]) -> ColumnElement[bool]:
    return func.substr(column, 1, 1) == literal_column(f"'{SEALED_MARKER[0]}'")


_TABLES = {IndexPart.ENTRIES: index, IndexPart.MEMORIES: memory_index}


def _row_id(table: Table) -> ColumnElement[str]:
    return table.c.entry_id if table is index else table.c.memory_id


@cache
def _stale_words(part: IndexPart, *, sealed: bool, cursor: bool) -> Query:
    table = _TABLES[part]
    stems = table.c.stems
    if sealed:
        header = func.substr(stems, 1, WORD_HASH_CHARACTERS) == param("header", stems)
        stale = not_(and_(_is_encrypted(table.c.terms), header))
    else:
        stale = func.substr(stems, 1, len(WORD_HASH_MARK)) == literal_column(f"'{WORD_HASH_MARK}'")
    query = select(table.c.doc, _row_id(table), table.c.terms).where(stale)
    if cursor:
        query = query.where(table.c.doc > param("after", table.c.doc))
    return Query(query.order_by(table.c.doc).limit(param("limit", table.c.doc)))


@cache
def _stale_texts(*, sealed: bool, cursor: bool) -> Query:
    text = _e.indexed_content
    stale = not_(_is_encrypted(text)) if sealed else _is_encrypted(text)
    query = select(_e.id, text).where(text.is_not(None), stale)
    if cursor:
        query = query.where(_e.id > param("after", _e.id))
    return Query(query.order_by(_e.id).limit(param("limit", _e.seq)))


def _set_words(table: Table) -> Query:
    named = {name: param(name, table.c[name]) for name in ("terms", "stems")}
    same = table.c.terms == param("before", table.c.terms)
    return Query(update(table).where(table.c.doc == param("doc", table.c.doc), same).values(named))


_SET_WORDS = {part: _set_words(table) for part, table in _TABLES.items()}
_SET_TEXT = Query(
    update(entries)
    .where(_e.id == param("id", _e.id), _e.indexed_content == param("before", _e.indexed_content))
    .values(indexed_content=param("text", _e.indexed_content))
)
