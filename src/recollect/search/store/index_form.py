"""Rewrites the stored words and texts of the search index to the form that the settings want:
plain, encrypted beside keyed hashes, or, with keys, without what was made of raw texts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from sqlalchemy import (
    ColumnElement,
    Table,
    and_,
    delete,
    exists,
    false,
    func,
    literal_column,
    not_,
    null,
    or_,
    select,
    update,
)

from recollect.conversations.entries.content import extract_text
from recollect.conversations.entries.entry import INDEXED_CHARS_MAX, Entry
from recollect.conversations.store.rows import ENTRY_COLUMNS, EntryRows
from recollect.db.columns import EncryptedColumn
from recollect.db.statements import Query, param
from recollect.db.tables.conversations import entries, index
from recollect.db.tables.memories import memory_embeddings, memory_index
from recollect.db.transaction import Tx
from recollect.kernel import strict_json
from recollect.kernel.runtime import SEALED_MARKER, WORD_HASH_CHARACTERS, WORD_HASH_MARK, Cipher
from recollect.search.model import EntryTrait, IndexedWords, marked_stems
from recollect.search.store.word_sealing import WordSealer

_e, _v = entries.c, memory_embeddings.c

DROPPED = "dropped"
UNREADABLE = "unreadable"


class IndexPart(StrEnum):
    """What is rewritten: the indexed texts of entries, the words of entries and of memories, and
    the vectors of memories. Texts come first: the words of an entry follow its text."""

    TEXTS = "texts"
    ENTRIES = "entries"
    MEMORIES = "memories"
    VECTORS = "memory_vectors"


@dataclass(frozen=True, slots=True)
class RewriteStep:
    """A batch: how many rows were rewritten, by part, and how many were `DROPPED` or are
    `UNREADABLE`; the key of the last row, None at the end."""

    counts: Counter[str]
    last: int | str | None


@dataclass(frozen=True, slots=True)
class TextChange:
    """An indexed text as it is stored, and what it has to become: None for a raw text."""

    entry: Entry
    stored: str
    text: str | None


@dataclass(frozen=True, slots=True)
class TextReview:
    """What has to change of a batch of indexed texts, how many could not be judged, because they
    or their entries can't be decrypted, and the id of the last one, None at the end."""

    changes: Sequence[TextChange]
    unreadable: int
    last: str | None


class IndexFormStore:
    """Finds rows of another form, and rewrites them. With `sealed_words`, a key and an index that
    is not sealed, raw texts of entries and vectors of memories are in no index."""

    def __init__(self, cipher: Cipher, *, sealed_words: bool) -> None:
        self._cipher = cipher
        stems = memory_index.c.stems if sealed_words else None
        self._sealers = {
            IndexPart.ENTRIES: WordSealer(cipher, index.c.terms),
            IndexPart.MEMORIES: WordSealer(cipher, memory_index.c.terms, stems),
        }
        self._entries = EntryRows(cipher)
        self._texts = EncryptedColumn(cipher, _e.indexed_content)

    @property
    def form(self) -> str:
        """The name of the form that rows are written in now. Another key is another form."""
        if self._cipher.seals_index:
            return f"sealed:{self._cipher.hash_word('')}"
        return "given_texts" if self.drops_raw else "plain"

    @property
    def drops_raw(self) -> bool:
        """Whether the index may hold nothing that was made of a raw text: of entries only the
        texts that callers gave for it, of memories encrypted words."""
        return self._sealers[IndexPart.MEMORIES].hides_words

    def rewrite(
        self, tx: Tx, part: IndexPart, *, after: int | str | None, limit: int
    ) -> RewriteStep:
        """Rewrite the next rows that have another form. One that can't be decrypted stays."""
        params = {"after": after, "limit": limit}
        if part is IndexPart.VECTORS:
            return self._drop_vectors(tx, params)
        sealed, cursor = self._cipher.seals_index, after is not None
        if sealed:
            params["header"] = self._cipher.hash_word("")
        if part is IndexPart.TEXTS:
            rows = tx.fetch(_stale_texts(sealed=sealed, cursor=cursor), params)
            done = [self._rewrite_text(tx, *row) for row in rows]
        else:
            hidden = self._sealers[part].hides_words
            statement = _stale_words(part, sealed=sealed, hidden=hidden, cursor=cursor)
            rows = tx.fetch(statement, params)
            done = [self._rewrite_words(tx, part, row) for row in rows]
        last = rows[-1][0] if len(rows) == limit else None
        return RewriteStep(Counter({part: done.count(True), UNREADABLE: done.count(False)}), last)

    def review_texts(self, tx: Tx, *, after: int | str | None, limit: int) -> TextReview:
        """Judge the next indexed texts, by id. A raw text is the entry's own, whoever sent it."""
        cursor = after is not None
        rows = tx.fetch(_indexed_texts(cursor=cursor), {"after": after, "limit": limit})
        changes, unreadable = list[TextChange](), 0
        for row in rows:
            entry, opened = self._entries.from_row(row), self._texts.open_to_show(row[-1], row[0])
            if entry.unreadable or opened.unreadable:
                unreadable += 1
            elif _is_raw(entry, opened.text):
                changes.append(TextChange(entry, row[-1], None))
            elif opened.text != row[-1]:
                changes.append(TextChange(entry, row[-1], opened.text))
        return TextReview(changes, unreadable, rows[-1][0] if len(rows) == limit else None)

    def apply(self, tx: Tx, change: TextChange) -> bool:
        """Store what the text has to become. False if somebody wrote another one meanwhile."""
        params = {"id": change.entry.id, "before": change.stored}
        if change.text is None:
            return tx.run_and_count(_DROP_TEXT, params) > 0
        return tx.run_and_count(_SET_TEXT, params | {"text": change.text}) > 0

    def _drop_vectors(self, tx: Tx, params: dict[str, int | str | None]) -> RewriteStep:
        if not self.drops_raw:
            return RewriteStep(Counter(), None)
        docs = [row[0] for row in tx.fetch(_NEXT_VECTORS, {"limit": params["limit"]})]
        for doc in docs:
            # First the index row, as a job does that stores a vector: else the two could deadlock.
            tx.run(_FORGET_VECTOR, {"doc": doc})
            tx.run(_DELETE_VECTOR, {"doc": doc})
        last = docs[-1] if len(docs) == params["limit"] else None
        return RewriteStep(Counter({IndexPart.VECTORS: len(docs)}), last)

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


def _is_raw(entry: Entry, text: str | None) -> bool:
    own = extract_text(strict_json.load(entry.content))
    return own is not None and own[:INDEXED_CHARS_MAX] == text


def _is_encrypted(column: ColumnElement[str]) -> ColumnElement[bool]:
    return func.substr(column, 1, 1) == literal_column(f"'{SEALED_MARKER[0]}'")


_TABLES = {IndexPart.ENTRIES: index, IndexPart.MEMORIES: memory_index}


def _row_id(table: Table) -> ColumnElement[str]:
    return table.c.entry_id if table is index else table.c.memory_id


def _has_encrypted_text(table: Table) -> ColumnElement[bool]:
    if table is not index:
        return false()
    here = and_(_e.id == table.c.entry_id, _is_encrypted(_e.indexed_content))
    return exists(select(literal_column("1")).where(here))


@cache
def _stale_words(part: IndexPart, *, sealed: bool, hidden: bool, cursor: bool) -> Query:
    table = _TABLES[part]
    stems = table.c.stems
    hashed = func.substr(stems, 1, len(WORD_HASH_MARK)) == literal_column(f"'{WORD_HASH_MARK}'")
    if sealed:
        header = func.substr(stems, 1, WORD_HASH_CHARACTERS) == param("header", stems)
        stale = not_(and_(_is_encrypted(table.c.terms), header))
    elif hidden:
        stale = not_(_is_encrypted(stems))
    else:
        # The text of an entry that stays encrypted has unreadable parts; so may its words.
        stale = and_(or_(hashed, _is_encrypted(stems)), not_(_has_encrypted_text(table)))
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


@cache
def _indexed_texts(*, cursor: bool) -> Query:
    query = select(*ENTRY_COLUMNS, _e.indexed_content).where(_e.indexed_content.is_not(None))
    if cursor:
        query = query.where(_e.id > param("after", _e.id))
    return Query(query.order_by(_e.id).limit(param("limit", _e.seq)))


def _set_words(table: Table) -> Query:
    named = {name: param(name, table.c[name]) for name in ("terms", "stems")}
    same = table.c.terms == param("before", table.c.terms)
    return Query(update(table).where(table.c.doc == param("doc", table.c.doc), same).values(named))


_SET_WORDS = {part: _set_words(table) for part, table in _TABLES.items()}
_SAME_TEXT = and_(
    _e.id == param("id", _e.id), _e.indexed_content == param("before", _e.indexed_content)
)
_SET_TEXT = Query(
    update(entries).where(_SAME_TEXT).values(indexed_content=param("text", _e.indexed_content))
)
_DROP_TEXT = Query(
    update(entries).where(_SAME_TEXT).values(indexed_content=null(), indexed_at=null())
)
_NEXT_VECTORS = Query(select(_v.doc).order_by(_v.doc).limit(param("limit", _v.doc)))
_FORGET_VECTOR = Query(
    update(memory_index)
    .where(memory_index.c.doc == param("doc", memory_index.c.doc))
    .values(vector_model=null())
)
_DELETE_VECTOR = Query(delete(memory_embeddings).where(_v.doc == param("doc", _v.doc)))
