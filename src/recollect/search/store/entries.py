"""The store of entry words and vectors, in SQL for both engines. It selects rows within a scope and
returns them; scores are computed elsewhere."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np

from recollect.conversations.entries.entry import Entry
from recollect.conversations.store.rows import ConversationRows, EntryRows
from recollect.db.engines.base import Engine
from recollect.db.statements import Row
from recollect.db.tables.conversations import index
from recollect.db.transaction import Tx
from recollect.embedding.port import Vector
from recollect.kernel.ids import ConversationId, EntryId, TreeId
from recollect.kernel.runtime import Cipher
from recollect.search.model import EntryTrait, IndexedWords
from recollect.search.ports import (
    EMBEDDED_CHARS,
    FoundEntry,
    IndexProgress,
    NewVectors,
    PendingText,
    PositionedText,
    ScopeSpeakers,
    SearchScope,
    TextRow,
    TreeState,
    VectorRow,
)
from recollect.search.store import entries_sql as sql
from recollect.search.store.entries_sql import scope_shape, scope_values
from recollect.search.store.nearest import NearestSearch
from recollect.search.store.word_sealing import StoredWords, WordSealer


class SqlEntrySearch:
    """Implements SearchStore. `nearest` finds near vectors in scopes that are too large to rank in
    memory."""

    def __init__(self, cipher: Cipher, engine: Engine, nearest: NearestSearch) -> None:
        self._nearest = nearest
        self._words = engine.words
        self._entries = EntryRows(cipher)
        self._conversations = ConversationRows(cipher)
        self._sealer = WordSealer(cipher, index.c.terms)

    def insert(self, tx: Tx, entry: Entry, found: IndexedWords, *, pending: bool) -> None:
        stored = self._sealer.to_stored(found, entry.id)
        tx.run(sql.INSERT, _index_params(entry, found, stored, pending=pending))
        self._words.add(tx, stored.searched)

    def replace(self, tx: Tx, entry: Entry, found: IndexedWords, *, pending: bool) -> None:
        if not self.is_in_index(tx, entry):
            tx.run(sql.BUMP_AND_COUNT, {"tree_id": entry.tree_id})
            self.insert(tx, entry, found, pending=pending)
            return
        tx.run(sql.BUMP_REVISION, {"tree_id": entry.tree_id})
        stored = self._sealer.to_stored(found, entry.id)
        tx.run(sql.REPLACE, _index_params(entry, found, stored, pending=pending))
        tx.run(sql.DELETE_VECTORS, {"entry_id": entry.id})

    def remove(self, tx: Tx, entry: Entry, *, reembed: bool) -> None:
        if not self.is_in_index(tx, entry):
            return
        near = self.window_texts(tx, entry.conversation_id, entry.seq, reach=1)
        tx.run(sql.COUNT_REMOVAL, {"tree_id": entry.tree_id})
        tx.run(sql.DELETE, {"entry_id": entry.id})
        tx.run(sql.DELETE_VECTORS, {"entry_id": entry.id})
        for text in near:
            params = {"tree_id": entry.tree_id, "entry_id": text.entry_id}
            tx.run(sql.CLEAR_WINDOW, params)
            if reembed:
                tx.run(sql.MARK_ENTRY_PENDING, params)

    def update_text(self, tx: Tx, entry_id: EntryId, text: str, *, at: datetime | None) -> None:
        sealed = self._entries.seal_indexed(text, entry_id)
        tx.run(sql.SET_TEXT, {"id": entry_id, "text": sealed, "at": at})

    def page_unindexed(
        self, tx: Tx, *, after: tuple[datetime, str] | None, limit: int
    ) -> list[Entry]:
        at, id_ = after or (None, None)
        statement = sql.unindexed_entries(cursor=after is not None)
        rows = tx.fetch(statement, {"after_at": at, "after_id": id_, "limit": limit})
        return [self._entries.from_row(row) for row in rows]

    def page_not_in_index(
        self, tx: Tx, *, after: EntryId | None, limit: int
    ) -> list[tuple[Entry, str]]:
        statement = sql.entries_not_in_index(cursor=after is not None)
        rows = tx.fetch(statement, {"after": after, "limit": limit})
        return [(self._entries.from_row(row), self._open_text(row[-1], row[0])) for row in rows]

    def is_in_index(self, tx: Tx, entry: Entry) -> bool:
        tx.lock(sql.LOCK_TREE, {"tree_id": entry.tree_id})
        return tx.fetch_first(sql.SELECT_DOC, {"entry_id": entry.id}) is not None

    def tree_states(self, tx: Tx, scope: SearchScope, *, limit: int) -> list[TreeState]:
        rows = tx.fetch(sql.tree_states(scope_shape(scope)), scope_values(scope) | {"limit": limit})
        return [TreeState(TreeId(row[0]), *row[1:]) for row in rows]

    def scope_speakers(self, tx: Tx, scope: SearchScope) -> ScopeSpeakers:
        rows = tx.fetch(sql.scope_speakers(scope_shape(scope)), scope_values(scope))
        user_ids = [speaker for speaker, assistant in rows if not assistant]
        return ScopeSpeakers(user_ids, assistant=len(user_ids) < len(rows))

    def texts(self, tx: Tx, scope: SearchScope) -> list[TextRow]:
        return [
            self._text_row(row)
            for row in tx.fetch(sql.texts(scope_shape(scope)), scope_values(scope))
        ]

    def changed_texts(self, tx: Tx, tree_id: TreeId, *, after_revision: int) -> list[TextRow]:
        params = {"tree_id": tree_id, "revision": after_revision}
        return [self._text_row(row) for row in tx.fetch(sql.CHANGED_TEXTS, params)]

    def texts_matching(
        self, tx: Tx, scope: SearchScope, query: str, *, after_doc: int, limit: int
    ) -> tuple[list[TextRow], int | None]:
        query = self._sealer.widen_query(query)
        params = scope_values(scope) | {"query": query, "after_doc": after_doc, "limit": limit}
        rows = tx.fetch(sql.texts_matching(scope_shape(scope)), params)
        last = int(rows[-1][-1]) if len(rows) == limit else None
        return [self._text_row(row) for row in rows], last

    def texts_with_neighbours(
        self, tx: Tx, scope: SearchScope, entry_ids: Sequence[EntryId]
    ) -> list[TextRow]:
        params = scope_values(scope) | {"ids": json.dumps(list(entry_ids))}
        return [
            self._text_row(row)
            for row in tx.fetch(sql.texts_with_neighbours(scope_shape(scope)), params)
        ]

    def vectors(self, tx: Tx, scope: SearchScope, *, model: str) -> list[VectorRow]:
        params = scope_values(scope) | {"model": model}
        return [
            _vector_row(row) for row in tx.fetch(sql.vectors(scope_shape(scope), ids=False), params)
        ]

    def changed_vectors(
        self, tx: Tx, tree_id: TreeId, *, model: str, after_revision: int
    ) -> list[VectorRow]:
        params = {"tree_id": tree_id, "model": model, "revision": after_revision}
        return [_vector_row(row) for row in tx.fetch(sql.CHANGED_VECTORS, params)]

    def vectors_by_ids(
        self, tx: Tx, scope: SearchScope, entry_ids: Sequence[EntryId], *, model: str
    ) -> list[VectorRow]:
        params = scope_values(scope) | {"model": model, "ids": json.dumps(list(entry_ids))}
        return [
            _vector_row(row) for row in tx.fetch(sql.vectors(scope_shape(scope), ids=True), params)
        ]

    def nearest_entries(
        self, tx: Tx, scope: SearchScope, vector: Vector, *, model: str, limit: int
    ) -> list[EntryId]:
        return self._nearest.find_entries(tx, scope, vector, model=model, limit=limit)

    def index_build_statements(
        self, tx: Tx, *, dimensions: int, from_entries: int
    ) -> Sequence[Any]:
        return self._nearest.index_statements(tx, dimensions=dimensions, from_entries=from_entries)

    def fetch_permitted(
        self, tx: Tx, scope: SearchScope, entry_ids: Sequence[EntryId]
    ) -> dict[EntryId, FoundEntry]:
        params = scope_values(scope) | {"ids": json.dumps(list(entry_ids))}
        rows = tx.fetch(sql.permitted_entries(scope_shape(scope)), params)
        return {EntryId(row[0]): self._to_found(row) for row in rows}

    def _to_found(self, row: Row) -> FoundEntry:
        entry = self._entries.from_row(row)
        title = self._conversations.title.open_to_show(row[-2], row[1])
        indexed = self._entries.indexed.open_to_show(row[-1], row[0])
        return FoundEntry(
            entry=entry,
            title=title.text,
            text=indexed.text or "",
            unreadable=entry.unreadable or title.unreadable or indexed.unreadable,
        )

    def _open_text(self, stored: str, entry_id: str) -> str:
        return self._entries.indexed.open_to_show(stored, entry_id).text or ""

    def _text_row(self, row: Row) -> TextRow:
        return TextRow(
            EntryId(row[0]),
            TreeId(row[1]),
            ConversationId(row[2]),
            row[3],
            row[4],
            EntryTrait(row[5]),
            row[6],
            self._sealer.open_terms(row[7], row[0]),
        )

    def pending_texts(self, tx: Tx, tree_id: TreeId, *, limit: int) -> list[PendingText]:
        tx.lock(sql.LOCK_TREE, {"tree_id": tree_id})
        rows = tx.fetch(sql.PENDING, {"tree_id": tree_id, "limit": limit})
        return [PendingText(EntryId(r[0]), ConversationId(r[1]), r[2], r[3]) for r in rows]

    def window_texts(
        self, tx: Tx, conversation_id: ConversationId, seq: int, *, reach: int
    ) -> list[PositionedText]:
        params = {"conversation_id": conversation_id, "seq": seq, "reach": reach}
        return [
            PositionedText(EntryId(r[0]), r[1], self._open_text(r[2], r[0])[:EMBEDDED_CHARS])
            for r in tx.fetch(sql.WINDOW_TEXTS, params)
        ]

    def put_vectors(
        self,
        tx: Tx,
        tree_id: TreeId,
        made: Sequence[NewVectors],
        done: Sequence[PendingText],
        *,
        model: str,
        at: datetime,
    ) -> int:
        # The revision is bumped before the vectors are written, as each takes over the tree's
        # current one. `CLEAR_PENDING` compares the text's revision: a text that changed meanwhile
        # stays pending and must not get the vector of the old text; one that was removed gets none.
        tx.lock(sql.LOCK_TREE, {"tree_id": tree_id})
        tx.run(sql.BUMP_REVISION, {"tree_id": tree_id})
        taken = {
            text.entry_id
            for text in done
            if tx.run_and_count(
                sql.CLEAR_PENDING, {"entry_id": text.entry_id, "revision": text.revision}
            )
        }
        # `made` also has windows of neighbours that were not pending themselves: they are stored.
        waiting = {text.entry_id for text in done} - taken
        for one in made:
            if one.entry_id not in waiting:
                _put_vector(tx, tree_id, one, model)
        for entry_id in taken:
            tx.run(sql.SET_INDEXED_AT, {"id": entry_id, "at": at})
        for conversation_id in {one.conversation_id for one in made}:
            tx.run(sql.SET_VECTORIZED_AT, {"id": conversation_id, "at": at})
        return len(taken)

    def mark_pending(self, tx: Tx, *, after: TreeId | None, limit: int) -> list[TreeId]:
        rows = tx.fetch(sql.next_trees(cursor=after is not None), {"after": after, "limit": limit})
        found = [TreeId(row[0]) for row in rows]
        for tree_id in found:
            tx.run(sql.MARK_PENDING, {"tree_id": tree_id})
        return found

    def page_trees_without_vectors(
        self, tx: Tx, *, model: str, after: TreeId | None, limit: int
    ) -> list[TreeId]:
        params = {"model": model, "after": after, "limit": limit}
        rows = tx.fetch(sql.trees_without_vectors(cursor=after is not None), params)
        return [TreeId(row[0]) for row in rows]

    def mark_without_vectors(self, tx: Tx, tree_id: TreeId, *, model: str) -> None:
        tx.lock(sql.LOCK_TREE, {"tree_id": tree_id})
        tx.run(sql.MARK_WITHOUT_VECTORS, {"tree_id": tree_id, "model": model})

    def progress(self, tx: Tx) -> IndexProgress:
        entries, pending = (
            tx.fetch_first(sql.COUNT_ENTRIES, {}),
            tx.fetch_first(sql.COUNT_PENDING, {}),
        )
        return IndexProgress(int((entries or (0,))[0] or 0), int((pending or (0,))[0]))


def _index_params(
    entry: Entry, found: IndexedWords, stored: StoredWords, *, pending: bool
) -> dict[str, Any]:
    return {
        "entry_id": entry.id,
        "tree_id": entry.tree_id,
        "conversation_id": entry.conversation_id,
        "seq": entry.seq,
        "speaker": entry.user_id or "",
        "traits": int(found.traits),
        "head": found.head,
        "terms": stored.terms,
        "stems": stored.stems,
        "pending": pending,
    }


def _put_vector(tx: Tx, tree_id: TreeId, made: NewVectors, model: str) -> None:
    """Update the entry's vectors, or insert them if it has none. Without an own vector only the
    window of existing vectors is updated."""
    params = {
        "entry_id": made.entry_id,
        "conversation_id": made.conversation_id,
        "tree_id": tree_id,
        "window": _to_stored_vector(made.window),
        "model": model,
    }
    if made.embedding is None:
        tx.run(sql.SET_WINDOW, params)
        return
    vectors = params | {
        "embedding": _to_stored_vector(made.embedding),
        "dimensions": len(made.embedding),
    }
    if not tx.run_and_count(sql.SET_VECTORS, vectors):
        tx.run(sql.INSERT_VECTORS, vectors)


def _to_stored_vector(vector: Vector) -> Vector:
    # Big-endian, so that stored bytes are the same on every machine and engine.
    return np.ascontiguousarray(vector, dtype=">f4")


def _vector_row(row: Row) -> VectorRow:
    window = None if row[2] is None else np.frombuffer(row[2], dtype=">f4")
    return VectorRow(EntryId(row[0]), np.frombuffer(row[1], dtype=">f4"), window)
