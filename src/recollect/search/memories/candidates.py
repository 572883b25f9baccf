"""Candidates for a scope with more memories than are ranked as a whole: the best by words and the
nearest by vector.

Which rows are chosen may be an approximation; their scores are what they would be among all.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import nlargest

import numpy as np

from recollect.db.transaction import Tx
from recollect.embedding.port import Vector
from recollect.search.memories.fresh_vectors import FRESH_TEXTS_MAX
from recollect.search.memories.query import MemoryQuestion, is_lone_letter
from recollect.search.memories.rank import word_scores
from recollect.search.memories.row_cache import MemoryRowCache
from recollect.search.memories.rows import MemoryCandidate, SearchContext
from recollect.search.ports import prefix_query, stem_query
from recollect.search.ranking.bm25 import WORDS_MAX
from recollect.search.store.memories import MemorySearchStore
from recollect.text.tokens import stem
from recollect.text.word_frequency import idf

_BATCH = 5_000
_EVERYTHING = 2**62

_Scored = tuple[float, int]


@dataclass(frozen=True, slots=True)
class MemoryCandidateCriteria:
    """What candidates are chosen by: the question's words, which of these are names, and a query
    vector. At most `limit` are chosen by words, and as many by vector."""

    question: MemoryQuestion
    names: frozenset[str]
    vector: Vector | None
    limit: int
    word_index: bool


def find_candidates(
    tx: Tx, store: MemorySearchStore, context: SearchContext, criteria: MemoryCandidateCriteria
) -> list[MemoryCandidate]:
    """The rows to rank, in the order of `doc`.

    The viewer's rows are read batch by batch, each restricted to the viewer and the filter in SQL.
    An index that finds the nearest of all and filters later would let foreign rows crowd out the
    caller's own.
    """
    docs = set(_best_by_words(tx, store, context, criteria) if criteria.question.words else ())
    if criteria.vector is not None:
        docs.update(_best_by_vector(tx, store, context, criteria.vector, criteria.limit))
        # They get their vectors after the read, so that nothing could choose them by these.
        docs.update(store.fresh_docs(tx, context, limit=FRESH_TEXTS_MAX))
    return store.candidates_by_doc(tx, context, sorted(docs))


def _best_by_words(
    tx: Tx, store: MemorySearchStore, context: SearchContext, criteria: MemoryCandidateCriteria
) -> list[int]:
    # Encrypted words are in no index: then all permitted rows are read.
    indexed = criteria.word_index and not store.has_sealed_words
    query = _build_word_query(criteria.question) if indexed else None
    best: list[_Scored] = []
    for rows in _read_batches(
        lambda after: store.page_word_matches(tx, context, query, after_doc=after, limit=_BATCH)
    ):
        # A cache of its own: a batch is used once, and would push useful rows out of the shared
        # one. Only words are needed, so no row may be counted as incomplete for want of its vector.
        bare = [row._replace(has_vector=False) for row in rows]
        words = store.words(tx, [row.doc for row in rows])
        table = MemoryRowCache(dimensions=1, bytes_max=_EVERYTHING).build_table(bare, words, ())
        scores = word_scores(table, criteria.question, criteria.names).tolist()
        found = zip(scores, (row.doc for row in rows), strict=True)
        best = _keep_best(best, found, criteria.limit)
    return [doc for _, doc in best]


def _best_by_vector(
    tx: Tx, store: MemorySearchStore, context: SearchContext, vector: Vector, limit: int
) -> list[int]:
    best: list[_Scored] = []
    for rows in _read_batches(
        lambda after: store.page_embedded(tx, context, after_doc=after, limit=_BATCH)
    ):
        found = store.vectors(tx, [row.doc for row in rows], model=context.model)
        # Float32 products suffice to choose candidates; the ranking computes exact ones.
        scores = np.stack([one.vector for one in found]).astype(np.float32) @ vector
        best = _keep_best(
            best, zip(scores.tolist(), (one.doc for one in found), strict=True), limit
        )
    return [doc for _, doc in best]


def _keep_best(best: list[_Scored], found: Iterable[_Scored], limit: int) -> list[_Scored]:
    return nlargest(limit, [*best, *(one for one in found if one[0] > 0)])


def _read_batches(read: Callable[[int], list[MemoryCandidate]]) -> Iterator[list[MemoryCandidate]]:
    # By key, not by offset: each batch continues behind the last row of the one before.
    after = -1
    while True:
        rows = read(after)
        if rows:
            yield rows
        if len(rows) < _BATCH:
            return
        after = rows[-1].doc


def _build_word_query(question: MemoryQuestion) -> str:
    """The query for the word index, in the words that `word_scores` would use. A single letter of
    a script without spaces is looked up as a prefix, because texts hold it in pairs."""
    lone = [prefix_query([word]) for word in question.words if is_lone_letter(word)]
    stems = dict.fromkeys(stem(word) for word in question.words if not is_lone_letter(word))
    rarest = sorted(stems, key=lambda one: (-idf(one), one))[:WORDS_MAX]
    return " OR ".join([*lone[:WORDS_MAX], *([stem_query(rarest)] if rarest else [])])
