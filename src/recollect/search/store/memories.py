"""The store of memory words and vectors, in SQL for both engines. It selects rows that the viewer
may see and returns their words and vectors; scores are computed elsewhere."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from recollect.db.columns import EncryptedColumn
from recollect.db.engines.base import Engine
from recollect.db.statements import Row
from recollect.db.tables.memories import memories, memory_index
from recollect.db.transaction import Tx
from recollect.kernel import strict_json
from recollect.kernel.ids import MemoryId, PersonId
from recollect.kernel.runtime import Cipher
from recollect.memories.model import StoredMemory
from recollect.people.relationship_words import is_relationship
from recollect.search.memories.rows import (
    MemoryCandidate,
    MemoryVector,
    NamedPerson,
    PendingMemoryText,
    SearchContext,
    StoredVector,
    WordRow,
)
from recollect.search.model import IndexedWords
from recollect.search.ports import EMBEDDED_CHARS, IndexProgress
from recollect.search.store import memories_sql as sql
from recollect.search.store import people_in_query
from recollect.search.store.memories_sql import SearchContextShape, context_params
from recollect.search.store.word_sealing import WordSealer
from recollect.visibility.disclosure import AskerView


class MemorySearchStore:
    """Implements MemorySearchStore. With `sealed` and an encryption key, words are stored
    encrypted; the engine's word index has hashes of them, or nothing if the cipher makes none."""

    def __init__(self, cipher: Cipher, engine: Engine, *, sealed: bool = False) -> None:
        self._words = engine.memory_words
        stems = memory_index.c.stems if sealed else None
        self._sealer = WordSealer(cipher, memory_index.c.terms, stems)
        self._content = EncryptedColumn(cipher, memories.c.content)

    @property
    def has_sealed_words(self) -> bool:
        """Whether words are encrypted and not hashed, so that the engine's word index can't be
        used."""
        return self._sealer.hides_words

    def put(self, tx: Tx, stored: StoredMemory, found: IndexedWords, *, pending: bool) -> bool:
        """Index a new or changed row. Returns False if it is indexed with the same words; else
        an older vector is deleted."""
        # The first revision is the memory's version, not 1: a row that was dropped and is indexed
        # again must not repeat a pair of row number and revision that a cache may still hold.
        known = tx.fetch_first(sql.SELECT_TERMS, {"doc": stored.doc})
        if known is not None and self._open_terms(known[0], stored.memory.id) == found.terms:
            return False
        words = self._sealer.to_stored(found, stored.memory.id)
        params = {
            "doc": stored.doc,
            "memory_id": stored.memory.id,
            "revision": stored.memory.version if known is None else known[1] + 1,
            "head": found.head,
            "terms": words.terms,
            "stems": words.stems,
            "pending": pending,
        }
        if known is None:
            tx.run(sql.INSERT, params)
            if not self.has_sealed_words:
                self._words.add(tx, words.searched)
        else:
            tx.run(sql.REPLACE, params)
            tx.run(sql.DELETE_VECTOR, {"doc": stored.doc})
        return True

    def drop(self, tx: Tx, memory_id: MemoryId) -> None:
        """Delete words and vector of a row."""
        for statement in sql.DELETE_ROWS:
            tx.run(statement, {"memory_id": memory_id})

    def candidates(self, tx: Tx, context: SearchContext, *, limit: int) -> list[MemoryCandidate]:
        """The rows to rank, in no order. This and the following methods know present versions only:
        rows that changed since the filter's `as_of` are not returned."""
        return _fetch_candidates(
            tx, sql.candidates(SearchContextShape.from_context(context)), context, limit=limit
        )

    def page_word_matches(
        self, tx: Tx, context: SearchContext, query: str | None, *, after_doc: int, limit: int
    ) -> list[MemoryCandidate]:
        """A batch of rows that the engine's word index finds, by `doc`; without a query, of all
        rows. Encrypted words are not in that index: see `has_sealed_words`."""
        statement = sql.word_matches(SearchContextShape.from_context(context), every=query is None)
        query = query if query is None else self._sealer.widen_query(query)
        return _fetch_candidates(
            tx, statement, context, query=query, after_doc=after_doc, limit=limit
        )

    def page_embedded(
        self, tx: Tx, context: SearchContext, *, after_doc: int, limit: int
    ) -> list[MemoryCandidate]:
        """A batch of rows that have a vector of the model, by `doc`."""
        statement = sql.embedded_rows(SearchContextShape.from_context(context))
        return _fetch_candidates(tx, statement, context, after_doc=after_doc, limit=limit)

    def fresh_docs(self, tx: Tx, context: SearchContext, *, limit: int) -> list[int]:
        """Pending rows that the viewer may see and wrote, newest first."""
        authors = _authors(context)
        shape = SearchContextShape.from_context(context)
        statement = sql.pending_docs(shape, by_authors=authors is not None)
        params = context_params(context) | {"authors": authors, "limit": limit}
        return [int(row[0]) for row in tx.fetch(statement, params)]

    def fresh_texts(
        self, tx: Tx, context: SearchContext, docs: Sequence[int], *, limit: int
    ) -> list[PendingMemoryText]:
        """The pending texts of those of these rows that the viewer wrote, newest first. The caller
        knows that the viewer may see the rows."""
        authors = _authors(context)
        statement = sql.pending_texts_by_doc(by_authors=authors is not None)
        params = {"docs": _to_json_list(docs), "authors": authors, "limit": limit}
        return [self._to_pending_text(row) for row in tx.fetch(statement, params)]

    def candidates_by_doc(
        self, tx: Tx, context: SearchContext, docs: Sequence[int]
    ) -> list[MemoryCandidate]:
        """Those of these rows that the viewer may see and that pass the filter."""
        return _fetch_candidates(
            tx,
            sql.rows_by_doc(SearchContextShape.from_context(context)),
            context,
            docs=_to_json_list(docs),
        )

    def ids_changed_since(self, tx: Tx, context: SearchContext) -> list[MemoryId]:
        """Memories whose version at the filter's `as_of` is not the present one, by `doc`. The
        caller has to check that version against viewer and filter."""
        statement = sql.changed_ids(SearchContextShape.from_context(context))
        return [MemoryId(row[0]) for row in tx.fetch(statement, context_params(context))]

    def words(self, tx: Tx, docs: Sequence[int]) -> list[WordRow]:
        """The words of these rows."""
        rows = tx.fetch(sql.WORDS, {"docs": _to_json_list(docs)})
        return [WordRow(row[0], row[1], self._open_terms(row[2], row[3])) for row in rows]

    def vectors(self, tx: Tx, docs: Sequence[int], *, model: str) -> list[MemoryVector]:
        """The vectors of those of these rows that have one of this model."""
        rows = tx.fetch(sql.VECTORS, {"docs": _to_json_list(docs), "model": model})
        return [MemoryVector(row[0], row[1], np.frombuffer(row[2], dtype=">f4")) for row in rows]

    def people_by_name(self, tx: Tx, asker: AskerView, forms: Sequence[str]) -> list[NamedPerson]:
        """The people whom one of these normal forms names: by a name that the asker may see, or by
        an alias or relationship that the asker stated. Relationship words ("my sister") are
        compared with what the asker stated or created only, never with names that others gave."""
        params = {
            "names": strict_json.dump([form for form in forms if not is_relationship(form)]),
            "terms": strict_json.dump(list(forms)),
            "orgs": strict_json.dump(sorted(asker.orgs)),
            "users": strict_json.dump(sorted(asker.users)),
            "person_id": asker.person_id,
        }
        rows = tx.fetch(people_in_query.people_by_name(person=asker.person_id is not None), params)
        return [NamedPerson(PersonId(row[0]), row[1], row[2]) for row in sorted(rows)]

    def derived_memory_ids(
        self, tx: Tx, memory_ids: Sequence[MemoryId]
    ) -> Mapping[MemoryId, Sequence[MemoryId]]:
        """By id of a source, the ids of the memories that were derived from it."""
        found: defaultdict[MemoryId, list[MemoryId]] = defaultdict(list)
        for source_id, memory_id in tx.fetch(
            sql.DERIVED_IDS, {"ids": strict_json.dump(list(memory_ids))}
        ):
            found[MemoryId(source_id)].append(MemoryId(memory_id))
        return found

    def is_pending(self, tx: Tx, memory_id: MemoryId) -> bool:
        """Whether the memory waits for its vector."""
        row = tx.fetch_first(sql.SELECT_PENDING, {"memory_id": memory_id})
        return row is not None and bool(row[0])

    def pending_texts(self, tx: Tx, bucket: int, *, limit: int) -> list[PendingMemoryText]:
        """Pending texts: those of the bucket by `doc` and, if these are too few, any others. So
        jobs of different buckets seldom embed the same texts, and none ends while work is left."""
        rows = list(tx.fetch(sql.pending_texts(bucket=True), {"bucket": bucket, "limit": limit}))
        if len(rows) < limit:
            taken = {row[0] for row in rows}
            others = tx.fetch(sql.pending_texts(bucket=False), {"limit": limit})
            rows += [row for row in others if row[0] not in taken]
        return [self._to_pending_text(row) for row in rows[:limit]]

    def put_vectors(
        self, tx: Tx, made: Sequence[MemoryVector], *, model: str
    ) -> list[StoredVector]:
        """Store vectors of texts that are unchanged and still pending; returns these rows."""
        done: list[StoredVector] = []
        for doc, revision, vector in made:
            # The update is also the check: it changes nothing if the text was replaced, deleted or
            # embedded by another job meanwhile.
            if not tx.run_and_count(
                sql.CLEAR_PENDING, {"doc": doc, "revision": revision, "model": model}
            ):
                continue
            done.append(
                StoredVector(doc, first=not tx.run_and_count(sql.DELETE_VECTOR, {"doc": doc}))
            )
            kept = np.ascontiguousarray(vector, dtype=">f4")
            params = {"doc": doc, "embedding": kept, "model": model, "dimensions": len(kept)}
            tx.run(sql.INSERT_VECTOR, params)
        return done

    def mark_pending(self, tx: Tx, *, after_doc: int, limit: int, lacking: str | None) -> list[int]:
        """Mark the next rows by `doc` as pending; returns them. With `lacking` only rows that have
        no vector of that model and are not pending."""
        params = {"after_doc": after_doc, "limit": limit, "model": lacking}
        rows = tx.fetch(sql.next_rows(lacking=lacking is not None), params)
        docs = [int(row[0]) for row in rows]
        if docs:
            tx.run(sql.MARK_PENDING, {"docs": _to_json_list(docs)})
        return docs

    def progress(self, tx: Tx) -> IndexProgress:
        """Counts over all memories."""
        entries, pending = tx.fetch(sql.PROGRESS, {})[0]
        return IndexProgress(int(entries), int(pending))

    def _open_terms(self, terms: str, memory_id: str) -> str:
        return self._sealer.open_terms(terms, memory_id)

    def _to_pending_text(self, row: Row) -> PendingMemoryText:
        text: str = strict_json.load(self._content.open_to_show(row[2], row[3]).text or '""')
        return PendingMemoryText(row[0], row[1], text[:EMBEDDED_CHARS])


def _fetch_candidates(
    tx: Tx, statement: object, context: SearchContext, **more: object
) -> list[MemoryCandidate]:
    rows = tx.fetch(statement, context_params(context) | more)
    return [MemoryCandidate._make(row) for row in rows]


def _authors(context: SearchContext) -> str | None:
    """Whose rows are the viewer's own; None for the system, which writes in everybody's name."""
    if context.viewer.system:
        return None
    owners = [caller.who for caller in context.viewer.callers]
    return strict_json.dump([f"{one.kind}:{one.id}" for one in owners])


def _to_json_list(docs: Sequence[int]) -> str:
    return strict_json.dump(list(docs))
