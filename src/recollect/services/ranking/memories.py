"""The order of memories: words and meaning as one score, raised by people, times and the graph,
then weighed by trust and age.

As for entries, nothing is counted over the rows but the best score of the words: how rare a word
is comes from a table of English, and the average length is a constant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from recollect.domain import frequencies, timewords
from recollect.domain.memory_questions import MemoryQuestion, is_lone_letter
from recollect.domain.search import SearchType
from recollect.domain.timewords import Span
from recollect.domain.words import stem
from recollect.ports.memory_search import Candidate
from recollect.ports.search import Vector
from recollect.services.ranking.dense import cosines
from recollect.services.ranking.lexical import NAME_RARITY, WORDS_MAX, bm25, damping
from recollect.services.ranking.memory_rows import MemoryTable
from recollect.services.ranking.ranked import rounded

Scores = NDArray[np.float64]
Flags = NDArray[np.bool_]

_TRUST = {"fact": 1.0, "unknown": 0.9, "hearsay": 0.8}


@dataclass(frozen=True, slots=True)
class MemoryRanking:
    """What counts how much."""

    min_score: float = 0.2
    """Nothing that is farther than that is found by meaning."""
    dense_share: float = 0.7
    person_bonus: float = 0.3
    """For what is about somebody whom the query names."""
    time_bonus: float = 0.15
    """For what was said, or holds, at the time that the query names."""
    graph_bonus: float = 0.1
    """For what the graph ties closely to the query."""
    recency_share: float = 0.1
    """How much age can cost."""
    half_life: timedelta = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Asked:
    """A query with all that its scores depend on. Later pages of a walk are measured as the first:
    by its instant, and by what the words of its best row were worth (`scale`)."""

    question: MemoryQuestion
    mode: SearchType
    vector: Vector | None
    now: datetime
    names: frozenset[str] = frozenset()
    """Words that are names of people: who are often spoken of, however rare their names."""
    graph: Mapping[str, float] | None = None
    """How close memories are to it by the graph, by id, from 0 to 1."""
    scale: float | None = None
    min_score: float | None = None


@dataclass(frozen=True, slots=True)
class RankedMemories:
    """Rows of a table, best first, with what found each of them."""

    rows: Sequence[int]
    scores: Sequence[float]
    by_words: Flags
    by_meaning: Flags
    by_person: Flags
    by_time: Flags
    by_graph: Flags
    scale: float


@dataclass(frozen=True, slots=True)
class _Parts:
    """By row: how well it fits in each way, and whether that finds it."""

    words: Scores
    near: Scores
    person: Flags
    time: Scores
    graph: Scores


def rank(table: MemoryTable, asked: Asked, options: MemoryRanking) -> RankedMemories:
    """All rows that match, by score and then by id, both descending."""
    parts = _parts(table, asked, options)
    best = float(parts.words.max(initial=0.0)) or 1.0
    scale = best if asked.scale is None else asked.scale
    found = np.flatnonzero(_matches(parts, asked, options))
    scores = _fused(parts, found, asked, options, scale)
    scores = rounded(scores * _weights(table, found, asked, options))
    if asked.min_score is not None:
        kept = scores >= asked.min_score
        found, scores = found[kept], scores[kept]
    ids = np.array([table.rows[row].memory_id for row in found.tolist()], dtype=np.str_)
    order = np.lexsort((ids, scores))[::-1] if len(found) else np.empty(0, np.int64)
    rows = found[order]
    return RankedMemories(
        rows=rows.tolist(),
        scores=scores[order].tolist(),
        by_words=parts.words[rows] > 0,
        by_meaning=parts.near[rows] >= options.min_score,
        by_person=parts.person[rows],
        by_time=parts.time[rows] == 1.0,
        by_graph=parts.graph[rows] > 0,
        scale=scale,
    )


def word_scores(table: MemoryTable, question: MemoryQuestion, names: frozenset[str]) -> Scores:
    """How well each row fits the words as alternatives; 0 for a row that has none of them."""
    rarity = {word: _rarity(word, names) for word in question.words}
    rarest = sorted(rarity, key=lambda word: (-rarity[word], word))[:WORDS_MAX]
    groups = [_spellings(table, word) for word in rarest]
    tokens, owners = table.all_tokens()
    group = table.vocabulary.table(groups).take(tokens)
    hits = np.flatnonzero(group > 0)
    cells = (group[hits].astype(np.int64) - 1) * max(1, len(table)) + owners[hits]
    held, frequency = np.unique(cells, return_counts=True)
    word, row = np.divmod(held, max(1, len(table)))
    weights = np.array([rarity[one] for one in rarest])[word]
    scores = weights * bm25(frequency, damping(table.lengths[row]))
    # Word by word, so that a sum does not depend on the number of rows.
    return np.bincount(row, scores, minlength=len(table)).astype(np.float64)


def nearness(table: MemoryTable, vector: Vector | None) -> Scores:
    """Cosines with the query, 0 for rows without a vector and for what points away."""
    near = np.zeros(len(table))
    if vector is not None:
        has = np.flatnonzero(table.places >= 0)
        near[has] = cosines(table.vectors, table.places[has], vector)
    return np.maximum(rounded(near), 0.0)


def _parts(table: MemoryTable, asked: Asked, options: MemoryRanking) -> _Parts:
    size, question, auto = len(table), asked.question, asked.mode is SearchType.AUTO
    by_words = asked.mode is not SearchType.SEMANTIC
    return _Parts(
        words=word_scores(table, question, asked.names) if by_words else np.zeros(size),
        near=nearness(table, None if asked.mode is SearchType.FULLTEXT else asked.vector),
        person=np.fromiter((auto and row.about for row in table.rows), np.bool_, size),
        time=_times(table, question.spans if auto else ()),
        graph=_closeness(table, asked.graph if auto else None),
    )


def _matches(parts: _Parts, asked: Asked, options: MemoryRanking) -> Flags:
    """A time alone finds rows only where nothing else is asked for: else it would find most."""
    near = parts.near >= options.min_score if asked.vector is not None else False
    matched: Flags = (parts.words > 0) | near | parts.person | (parts.graph > 0)
    return matched | (parts.time == 1.0) if asked.question.only_time else matched


def _fused(
    parts: _Parts, rows: NDArray[np.int64], asked: Asked, options: MemoryRanking, scale: float
) -> Scores:
    fitting, near = parts.words[rows] / scale, parts.near[rows]
    if asked.mode is SearchType.SEMANTIC:
        return near
    if asked.mode is SearchType.FULLTEXT:
        return fitting
    share = options.dense_share if asked.vector is not None else 0.0
    scores = (1 - share) * fitting + share * near
    scores += options.person_bonus * parts.person[rows]
    scores += options.time_bonus * parts.time[rows]
    return np.asarray(scores + options.graph_bonus * parts.graph[rows])


def _weights(
    table: MemoryTable, rows: NDArray[np.int64], asked: Asked, options: MemoryRanking
) -> Scores:
    """What was asked about a time is not better for being recent."""
    chosen = [table.rows[row] for row in rows.tolist()]
    trust = np.array([_TRUST[row.trust] for row in chosen], np.float64)
    if asked.question.spans:
        return trust
    ages = np.array(
        [max((asked.now - row.observed_at) / options.half_life, 0.0) for row in chosen], np.float64
    )
    return np.asarray(trust * (1 - options.recency_share * (1 - 0.5**ages)))


def _rarity(word: str, names: frozenset[str]) -> float:
    rarity = frequencies.idf(stem(word))
    return min(rarity, NAME_RARITY) if word in names else rarity


def _spellings(table: MemoryTable, word: str) -> list[int]:
    if is_lone_letter(word):
        return table.vocabulary.with_prefix(word)
    return table.vocabulary.with_stem(stem(word))


def _times(table: MemoryTable, spans: Sequence[Span]) -> Scores:
    if not spans:
        return np.zeros(len(table))
    return np.fromiter((_time(row, spans) for row in table.rows), np.float64, len(table))


def _time(row: Candidate, spans: Sequence[Span]) -> float:
    """When it was said, or when it holds, if it says so."""
    start, until = row.valid_from, row.valid_until
    bounded = start is not None or until is not None
    if bounded and any(_overlap(span, start, until) for span in spans):
        return 1.0
    return timewords.closeness(spans, row.observed_at)


def _overlap(span: Span, start: datetime | None, until: datetime | None) -> bool:
    return (start is None or start < span.until) and (until is None or span.start < until)


def _closeness(table: MemoryTable, graph: Mapping[str, float] | None) -> Scores:
    if not graph:
        return np.zeros(len(table))
    found = (graph.get(row.memory_id, 0.0) for row in table.rows)
    return np.fromiter(found, np.float64, len(table))
