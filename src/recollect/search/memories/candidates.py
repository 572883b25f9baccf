"""Candidates for a scope with more memories than are ranked as a whole: the best by words and the
nearest by vector.

Which rows are chosen may be an approximation; their scores are what they would be among all.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest

import numpy as np

from recollect.db.transaction import Tx
from recollect.embedding.port import Vector
from recollect.search.memories.query import MemoryQuestion, is_lone_letter
from recollect.search.memories.rank import word_scores
from recollect.search.memories.row_cache import MemoryRowCache, MemoryTable
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
class CandidateCriteria:
    """What candidates are chosen by: the question's words, which of these are names, and a query
    vector."""

    question: MemoryQuestion
    names: frozenset[str]
    vector: Vector | None


class MemoryCandidateFinder:
    """Reads the viewer's rows batch by batch and keeps the best by words and by vector.

    Each batch is restricted to the viewer and the filter in SQL. An index that finds the nearest of
    all and filters later would let foreign rows crowd out the caller's own. The word index can't be
    used when words are encrypted: then all permitted rows are read.
    """

    def __init__(self, store: MemorySearchStore, *, candidates: int, word_index: bool) -> None:
        self._store = store
        self._candidates = candidates
        self._word_index = word_index and not store.has_sealed_words

    def gather(
        self, tx: Tx, looking: SearchContext, wanted: CandidateCriteria
    ) -> list[MemoryCandidate]:
        """The rows to rank, in the order of `doc`."""
        docs = set(self._best_by_words(tx, looking, wanted) if wanted.question.words else ())
        if wanted.vector is not None:
            docs.update(self._best_by_vector(tx, looking, wanted.vector))
        return self._store.candidates_by_doc(tx, looking, sorted(docs))

    def _best_by_words(
        self, tx: Tx, looking: SearchContext, wanted: CandidateCriteria
    ) -> list[int]:
        query = _build_word_query(wanted.question) if self._word_index else None
        best: list[_Scored] = []
        for rows in _read_batches(
            lambda after: self._store.page_word_matches(
                tx, looking, query, after_doc=after, limit=_BATCH
            )
        ):
            table = self._word_table(tx, rows)
            scores = word_scores(table, wanted.question, wanted.names).tolist()
            best = self._keep_best(best, zip(scores, (row.doc for row in rows), strict=True))
        return [doc for _, doc in best]

    def _best_by_vector(self, tx: Tx, looking: SearchContext, vector: Vector) -> list[int]:
        best: list[_Scored] = []
        for rows in _read_batches(
            lambda after: self._store.page_embedded(tx, looking, after_doc=after, limit=_BATCH)
        ):
            found = self._store.vectors(tx, [row.doc for row in rows], model=looking.model)
            # Float32 products suffice to choose candidates; the ranking computes exact ones.
            scores = np.stack([one.vector for one in found]).astype(np.float32) @ vector
            best = self._keep_best(
                best, zip(scores.tolist(), (one.doc for one in found), strict=True)
            )
        return [doc for _, doc in best]

    def _keep_best(self, best: list[_Scored], found: Iterable[_Scored]) -> list[_Scored]:
        return nlargest(self._candidates, [*best, *(one for one in found if one[0] > 0)])

    def _word_table(self, tx: Tx, rows: Sequence[MemoryCandidate]) -> MemoryTable:
        """A table of the batch's words, from a cache of its own: a batch is used once, and would
        push useful rows out of the shared cache."""
        # Only words are needed, so no row may be counted as incomplete for want of its vector.
        bare = [row._replace(has_vector=False) for row in rows]
        words = self._store.words(tx, [row.doc for row in rows])
        return MemoryRowCache(dimensions=1, bytes_max=_EVERYTHING).build_table(bare, words, ())


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
