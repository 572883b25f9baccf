"""Candidates among more memories than are ranked as a whole: the best by their words, as the word
index of the engine finds them, and the nearest by meaning. Which rows these are may be an
approximation; the scores of those that are there are what they would be among all.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest

from recollect.domain.frequencies import idf
from recollect.domain.memory_questions import MemoryQuestion, is_lone_letter
from recollect.domain.words import stem
from recollect.ports.database import Tx
from recollect.ports.memory_search import Candidate, Looking, MemorySearchStore
from recollect.ports.search import Vector, prefix_query, stem_query
from recollect.services.ranking.lexical import WORDS_MAX
from recollect.services.ranking.memories import Scores, nearness, word_scores
from recollect.services.ranking.memory_rows import MemoryTable, RowCache

_BATCH = 5_000
_EVERYTHING = 2**62

_Batches = Iterator[list[Candidate]]
_Scoring = Callable[[MemoryTable], Scores]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the candidates shall fit: words, of which some are names, and a meaning."""

    question: MemoryQuestion
    names: frozenset[str]
    vector: Vector | None


class MemoryGathering:
    """Reads batches under the sight and keeps the best of each kind."""

    def __init__(
        self, store: MemorySearchStore, *, candidates: int, dimensions: int, word_index: bool
    ) -> None:
        self._store = store
        self._candidates = candidates
        self._dimensions = dimensions
        self._word_index = word_index and not store.words_are_sealed

    def gather(self, tx: Tx, looking: Looking, wanted: Wanted) -> list[Candidate]:
        """The rows to rank."""
        docs: set[int] = set()
        if wanted.question.words:
            docs.update(self._best(tx, looking, self._matching(tx, looking, wanted), _by(wanted)))
        if wanted.vector is not None:
            near = self._with_vectors(tx, looking)
            docs.update(self._best(tx, looking, near, lambda t: nearness(t, wanted.vector)))
        return self._store.some(tx, looking, sorted(docs))

    def _best(self, tx: Tx, looking: Looking, batches: _Batches, scoring: _Scoring) -> list[int]:
        best: list[tuple[float, int]] = []
        for rows in batches:
            scores = scoring(self._table(tx, looking, rows))
            found = zip(scores.tolist(), (row.doc for row in rows), strict=True)
            best = nlargest(self._candidates, [*best, *(one for one in found if one[0] > 0)])
        return [doc for _, doc in best]

    def _matching(self, tx: Tx, looking: Looking, wanted: Wanted) -> _Batches:
        query = _words_query(wanted.question) if self._word_index else None
        return _batches(
            lambda after: self._store.matching(tx, looking, query, after_doc=after, limit=_BATCH)
        )

    def _with_vectors(self, tx: Tx, looking: Looking) -> _Batches:
        return _batches(
            lambda after: self._store.with_vectors(tx, looking, after_doc=after, limit=_BATCH)
        )

    def _table(self, tx: Tx, looking: Looking, rows: Sequence[Candidate]) -> MemoryTable:
        """Of rows of one batch: not worth keeping."""
        cache = RowCache(dimensions=self._dimensions, bytes_max=_EVERYTHING)
        docs = [row.doc for row in rows]
        vectors = self._store.vectors(tx, docs, model=looking.model) if looking.model else []
        return cache.table(rows, self._store.words(tx, docs), vectors)


def _by(wanted: Wanted) -> _Scoring:
    return lambda table: word_scores(table, wanted.question, wanted.names)


def _batches(read: Callable[[int], list[Candidate]]) -> _Batches:
    after = -1
    while True:
        rows = read(after)
        if rows:
            yield rows
        if len(rows) < _BATCH:
            return
        after = rows[-1].doc


def _words_query(question: MemoryQuestion) -> str:
    lone = [prefix_query([word]) for word in question.words if is_lone_letter(word)]
    stems = dict.fromkeys(stem(word) for word in question.words if not is_lone_letter(word))
    rarest = sorted(stems, key=lambda one: (-idf(one), one))[:WORDS_MAX]
    return " OR ".join([*lone[:WORDS_MAX], *([stem_query(rarest)] if rarest else [])])
