"""The store of memory words and vectors, in SQL for both engines. It selects rows that the viewer
may see and returns their words and vectors; scores are computed elsewhere."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from recollect.domain import jsontext
from recollect.domain.disclosure import AskerView, PersonId
from recollect.domain.memories import MemoryId
from recollect.domain.relationship_words import is_relationship
from recollect.domain.search import IndexedWords
from recollect.ports.database import Tx
from recollect.ports.memories import Stored
from recollect.ports.memory_search import (
    Candidate,
    Looking,
    NamedPerson,
    Placed,
    VectorOf,
    WaitingText,
    WordRow,
)
from recollect.ports.runtime import Cipher
from recollect.ports.search import EMBEDDED_CHARS, IndexProgress
from recollect.stores import memory_naming
from recollect.stores import memory_search_statements as sql
from recollect.stores.engines.base import Engine
from recollect.stores.memory_search_statements import LookingShape, looking_params
from recollect.stores.memory_tables import memories, memory_index
from recollect.stores.rows import Sealed
from recollect.stores.statements import Row


class SqlMemorySearch:
    """Implements MemorySearchStore. With `sealed` and an encryption key, words are stored encrypted
    and are not in the engine's word index."""

    def __init__(self, cipher: Cipher, engine: Engine, *, sealed: bool = False) -> None:
        self._words = engine.memory_words
        self._terms = Sealed(cipher, memory_index.c.terms)
        self._stems = Sealed(cipher, memory_index.c.stems)
        self._content = Sealed(cipher, memories.c.content)
        self._sealed = sealed and cipher.enabled

    @property
    def words_are_sealed(self) -> bool:
        return self._sealed

    def put(self, tx: Tx, stored: Stored, found: IndexedWords, *, pending: bool) -> bool:
        # The first revision is the memory's version, not 1: a row that was dropped and is indexed
        # again must not repeat a pair of row number and revision that a cache may still hold.
        known = tx.first(sql.KNOWN, {"doc": stored.doc})
        if known is not None and self._open(known[0], stored.memory.id) == found.terms:
            return False
        terms, stems = self._kept(stored.memory.id, found)
        params = {
            "doc": stored.doc,
            "memory_id": stored.memory.id,
            "revision": stored.memory.version if known is None else known[1] + 1,
            "head": found.head,
            "terms": terms,
            "stems": stems,
            "pending": pending,
        }
        if known is None:
            tx.run(sql.INSERT, params)
            if not self._sealed:
                self._words.add(tx, f"{terms} {stems}")
        else:
            tx.run(sql.REPLACE, params)
            tx.run(sql.FORGET_VECTOR, {"doc": stored.doc})
        return True

    def drop(self, tx: Tx, memory_id: MemoryId) -> None:
        for statement in sql.DROPS:
            tx.run(statement, {"memory_id": memory_id})

    def candidates(self, tx: Tx, looking: Looking, *, limit: int) -> list[Candidate]:
        return _looked(tx, sql.candidates(LookingShape.of(looking)), looking, limit=limit)

    def matching(
        self, tx: Tx, looking: Looking, query: str | None, *, after_doc: int, limit: int
    ) -> list[Candidate]:
        statement = sql.matching(LookingShape.of(looking), every=query is None)
        return _looked(tx, statement, looking, query=query, after_doc=after_doc, limit=limit)

    def with_vectors(
        self, tx: Tx, looking: Looking, *, after_doc: int, limit: int
    ) -> list[Candidate]:
        statement = sql.with_vectors(LookingShape.of(looking))
        return _looked(tx, statement, looking, after_doc=after_doc, limit=limit)

    def some(self, tx: Tx, looking: Looking, docs: Sequence[int]) -> list[Candidate]:
        return _looked(tx, sql.some(LookingShape.of(looking)), looking, docs=_listed(docs))

    def changed_since(self, tx: Tx, looking: Looking) -> list[MemoryId]:
        statement = sql.changed_since(LookingShape.of(looking))
        return [MemoryId(row[0]) for row in tx.fetch(statement, looking_params(looking))]

    def words(self, tx: Tx, docs: Sequence[int]) -> list[WordRow]:
        rows = tx.fetch(sql.WORDS, {"docs": _listed(docs)})
        return [WordRow(row[0], row[1], self._open(row[2], row[3])) for row in rows]

    def vectors(self, tx: Tx, docs: Sequence[int], *, model: str) -> list[VectorOf]:
        rows = tx.fetch(sql.VECTORS, {"docs": _listed(docs), "model": model})
        return [VectorOf(row[0], row[1], np.frombuffer(row[2], dtype=">f4")) for row in rows]

    def named(self, tx: Tx, asker: AskerView, forms: Sequence[str]) -> list[NamedPerson]:
        params = {
            "names": jsontext.dump([form for form in forms if not is_relationship(form)]),
            "terms": jsontext.dump(list(forms)),
            "orgs": jsontext.dump(sorted(asker.orgs)),
            "users": jsontext.dump(sorted(asker.users)),
            "person_id": asker.person_id,
        }
        rows = tx.fetch(memory_naming.named(person=asker.person_id is not None), params)
        return [NamedPerson(PersonId(row[0]), row[1], row[2]) for row in sorted(rows)]

    def facts_from(
        self, tx: Tx, memory_ids: Sequence[MemoryId]
    ) -> Mapping[MemoryId, Sequence[MemoryId]]:
        found: defaultdict[MemoryId, list[MemoryId]] = defaultdict(list)
        for source_id, memory_id in tx.fetch(sql.FACTS, {"ids": jsontext.dump(list(memory_ids))}):
            found[MemoryId(source_id)].append(MemoryId(memory_id))
        return found

    def pending(self, tx: Tx, bucket: int, *, limit: int) -> list[WaitingText]:
        rows = list(tx.fetch(sql.pending(bucket=True), {"bucket": bucket, "limit": limit}))
        if len(rows) < limit:
            taken = {row[0] for row in rows}
            others = tx.fetch(sql.pending(bucket=False), {"limit": limit})
            rows += [row for row in others if row[0] not in taken]
        return [self._waiting(row) for row in rows[:limit]]

    def put_vectors(self, tx: Tx, made: Sequence[VectorOf], *, model: str) -> list[Placed]:
        done: list[Placed] = []
        for doc, revision, vector in made:
            # The update is also the check: it changes nothing if the text was replaced, deleted or
            # embedded by another job meanwhile.
            if not tx.change(sql.TAKE, {"doc": doc, "revision": revision, "model": model}):
                continue
            done.append(Placed(doc, first=not tx.change(sql.FORGET_VECTOR, {"doc": doc})))
            kept = np.ascontiguousarray(vector, dtype=">f4")
            params = {"doc": doc, "embedding": kept, "model": model, "dimensions": len(kept)}
            tx.run(sql.INSERT_VECTOR, params)
        return done

    def mark(self, tx: Tx, *, after_doc: int, limit: int, lacking: str | None) -> list[int]:
        params = {"after_doc": after_doc, "limit": limit, "model": lacking}
        rows = tx.fetch(sql.next_rows(lacking=lacking is not None), params)
        docs = [int(row[0]) for row in rows]
        if docs:
            tx.run(sql.MARK, {"docs": _listed(docs)})
        return docs

    def progress(self, tx: Tx) -> IndexProgress:
        entries, pending = tx.fetch(sql.PROGRESS, {})[0]
        return IndexProgress(int(entries), int(pending))

    def _kept(self, memory_id: str, found: IndexedWords) -> tuple[str, str]:
        if not self._sealed:
            return found.terms, found.stems
        terms, stems = (
            self._terms.seal(found.terms, memory_id),
            self._stems.seal(found.stems, memory_id),
        )
        return terms or "", stems or ""

    def _open(self, terms: str, memory_id: str) -> str:
        return self._terms.open(terms, memory_id) or ""

    def _waiting(self, row: Row) -> WaitingText:
        text: str = jsontext.load(self._content.open(row[2], row[3]) or '""')
        return WaitingText(row[0], row[1], text[:EMBEDDED_CHARS])


def _looked(tx: Tx, statement: object, looking: Looking, **more: object) -> list[Candidate]:
    rows = tx.fetch(statement, looking_params(looking) | more)
    return [Candidate._make(row) for row in rows]


def _listed(docs: Sequence[int]) -> str:
    return jsontext.dump(list(docs))
