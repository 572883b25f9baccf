"""The ranking of memories: word score and cosine in one sum, raised by people, times and the graph,
then multiplied by weights for trust and age.

As for entries, nothing is counted over the rows except the best word score: how rare a word is
comes from a fixed table of English, and the average length is a constant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from recollect.embedding.port import Vector
from recollect.search.memories.query import MemoryQuestion, is_lone_letter
from recollect.search.memories.row_cache import MemoryTable
from recollect.search.memories.rows import MemoryCandidate
from recollect.search.model import SearchType
from recollect.search.ranking.bm25 import (
    NAME_RARITY,
    WORDS_MAX,
    bm25,
    length_damping,
)
from recollect.search.ranking.cosine import cosines
from recollect.search.ranking.order import round_scores
from recollect.text import word_frequency
from recollect.text.dates import references
from recollect.text.dates.references import TimeSpan
from recollect.text.tokens import stem

Scores = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Factor by which a score is multiplied.
_TRUST = {"fact": 1.0, "unknown": 0.9, "hearsay": 0.8}


@dataclass(frozen=True, slots=True)
class MemoryRankingOptions:
    """The weights of the ranking."""

    min_score: float = 0.2
    """Least cosine for a match by vector."""
    dense_share: float = 0.7
    person_bonus: float = 0.3
    """Added for memories about a person whom the query names."""
    time_bonus: float = 0.15
    """Added, in full or in part, for memories observed or valid at or near a time in the query."""
    graph_bonus: float = 0.1
    """Added, times the closeness, for memories near the named people in the graph."""
    recency_share: float = 0.1
    """The largest share of a score that age can cost."""
    half_life: timedelta = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class RankingQuery:
    """A query with everything that its scores depend on. Later pages pass the instant (`now`) and
    the scale of the first page, so that their scores can be compared with those of the first."""

    question: MemoryQuestion
    mode: SearchType
    vector: Vector | None
    now: datetime
    names: frozenset[str] = frozenset()
    """Words of the query that name people. Their rarity is bounded: people are mentioned often,
    however rare their names are in English."""
    graph: Mapping[str, float] | None = None
    """Closeness by the graph, from 0 to 1, by memory id."""
    scale: float | None = None
    min_score: float | None = None


@dataclass(frozen=True, slots=True)
class RankedMemories:
    """Rows of a table, best first. The flags are parallel to `rows` and tell what found each."""

    rows: Sequence[int]
    scores: Sequence[float]
    by_words: Flags
    by_meaning: Flags
    by_person: Flags
    by_time: Flags
    by_graph: Flags
    scale: float


@dataclass(frozen=True, slots=True)
class _SignalScores:
    """By row of the table: the score of each signal."""

    words: Scores
    near: Scores
    person: Flags
    time: Scores
    graph: Scores


def rank_memories(
    table: MemoryTable, query: RankingQuery, options: MemoryRankingOptions
) -> RankedMemories:
    """All rows that match, by score and then by id, both descending.

    The score is `(blend + bonuses) * trust * recency`. The blend is a weighted sum of cosine and
    word score; word scores are first divided by `scale` because BM25 has no upper bound. Trust
    and recency multiply instead of adding: they may reorder matches of similar quality, but a
    trusted or recent memory that matches badly must not overtake a good match. Scores are rounded
    before they are sorted and filtered, since cursors compare the rounded ones.
    """
    signals = _score_signals(table, query)
    # 1.0 if no word matched: never divide by zero.
    best = float(signals.words.max(initial=0.0)) or 1.0
    scale = best if query.scale is None else query.scale
    found = np.flatnonzero(_is_match(signals, query, options))
    scores = _fuse_scores(signals, found, query, options, scale)
    scores = round_scores(scores * _trust_and_recency(table, found, query, options))
    if query.min_score is not None:
        kept = scores >= query.min_score
        found, scores = found[kept], scores[kept]
    ids = np.array([table.rows[row].memory_id for row in found.tolist()], dtype=np.str_)
    # The last key is the primary one; reversed, since lexsort is ascending.
    order = np.lexsort((ids, scores))[::-1] if len(found) else np.empty(0, np.int64)
    rows = found[order]
    return RankedMemories(
        rows=rows.tolist(),
        scores=scores[order].tolist(),
        by_words=signals.words[rows] > 0,
        by_meaning=signals.near[rows] >= options.min_score,
        by_person=signals.person[rows],
        by_time=signals.time[rows] == 1.0,
        by_graph=signals.graph[rows] > 0,
        scale=scale,
    )


def word_scores(table: MemoryTable, question: MemoryQuestion, names: frozenset[str]) -> Scores:
    """The BM25 score of each row for the question's words, any of which may match; 0 without a
    match.

    Each word is a group of vocabulary numbers: all words with its stem. One pass over the tokens
    finds those in a group, and `unique` counts them by cell `word * rows + row`.
    """
    rarity = {word: _rarity(word, names) for word in question.words}
    rarest = sorted(rarity, key=lambda word: (-rarity[word], word))[:WORDS_MAX]
    groups = [_spellings(table, word) for word in rarest]
    tokens, owners = table.all_tokens()
    group = table.vocabulary.group_table(groups).take(tokens)
    hits = np.flatnonzero(group > 0)
    cells = (group[hits].astype(np.int64) - 1) * max(1, len(table)) + owners[hits]
    occupied, frequency = np.unique(cells, return_counts=True)
    word, row = np.divmod(occupied, max(1, len(table)))
    weights = np.array([rarity[one] for one in rarest])[word]
    scores = weights * bm25(frequency, length_damping(table.lengths[row]))
    # `occupied` is sorted by word, so `bincount` adds up each row's words in that order, whatever
    # other rows there are.
    return np.bincount(row, scores, minlength=len(table)).astype(np.float64)


def cosine_scores(table: MemoryTable, vector: Vector | None) -> Scores:
    """Cosines with the query's vector; 0 for rows without a vector and instead of negative ones."""
    near = np.zeros(len(table))
    if vector is not None:
        has = np.flatnonzero(table.places >= 0)
        near[has] = cosines(table.vectors, table.places[has], vector)
    return np.maximum(round_scores(near), 0.0)


def _score_signals(table: MemoryTable, query: RankingQuery) -> _SignalScores:
    size, question, auto = len(table), query.question, query.mode is SearchType.AUTO
    by_words = query.mode is not SearchType.SEMANTIC
    spans, graph = (question.spans, query.graph) if auto else ((), None)
    return _SignalScores(
        words=word_scores(table, question, query.names) if by_words else np.zeros(size),
        near=cosine_scores(table, None if query.mode is SearchType.FULLTEXT else query.vector),
        person=np.fromiter((auto and row.about for row in table.rows), np.bool_, size),
        time=np.fromiter((_time_score(row, spans) for row in table.rows), np.float64, size)
        if spans
        else np.zeros(size),
        graph=np.fromiter((graph.get(row.memory_id, 0.0) for row in table.rows), np.float64, size)
        if graph
        else np.zeros(size),
    )


def _is_match(signals: _SignalScores, query: RankingQuery, options: MemoryRankingOptions) -> Flags:
    """Which rows are results. A matching time makes a row a result only if the query asks for
    nothing but a time: else "Ann's birthday last year" would return everything of last year."""
    near = signals.near >= options.min_score if query.vector is not None else False
    matched: Flags = (signals.words > 0) | near | signals.person | (signals.graph > 0)
    return matched | (signals.time == 1.0) if query.question.only_time else matched


def _fuse_scores(
    signals: _SignalScores,
    rows: NDArray[np.int64],
    query: RankingQuery,
    options: MemoryRankingOptions,
    scale: float,
) -> Scores:
    fitting, near = signals.words[rows] / scale, signals.near[rows]
    if query.mode is SearchType.SEMANTIC:
        return near
    if query.mode is SearchType.FULLTEXT:
        return fitting
    share = options.dense_share if query.vector is not None else 0.0
    scores = (1 - share) * fitting + share * near
    scores += options.person_bonus * signals.person[rows]
    scores += options.time_bonus * signals.time[rows]
    return np.asarray(scores + options.graph_bonus * signals.graph[rows])


def _trust_and_recency(
    table: MemoryTable, rows: NDArray[np.int64], query: RankingQuery, options: MemoryRankingOptions
) -> Scores:
    """Factors for trust and age. If the query names a time, age does not count: the newest of what
    was asked about last May is not the better answer."""
    ranked = [table.rows[row] for row in rows.tolist()]
    trust = np.array([_TRUST[row.trust] for row in ranked], np.float64)
    if query.question.spans:
        return trust
    ages = np.array(
        [max((query.now - row.observed_at) / options.half_life, 0.0) for row in ranked], np.float64
    )
    return np.asarray(trust * (1 - options.recency_share * (1 - 0.5**ages)))


def _rarity(word: str, names: frozenset[str]) -> float:
    rarity = word_frequency.idf(stem(word))
    return min(rarity, NAME_RARITY) if word in names else rarity


def _spellings(table: MemoryTable, word: str) -> list[int]:
    if is_lone_letter(word):
        return table.vocabulary.numbers_by_prefix(word)
    return table.vocabulary.numbers_by_stem(stem(word))


def _time_score(row: MemoryCandidate, spans: Sequence[TimeSpan]) -> float:
    """1 if the memory's validity overlaps a time in the query, else how near the time of its
    observation is to one. A memory without validity bounds is judged by its observation alone."""
    start, until = row.valid_from, row.valid_until
    bounded = start is not None or until is not None
    if bounded and any(
        (start is None or start < span.until) and (until is None or span.start < until)
        for span in spans
    ):
        return 1.0
    return references.closeness(spans, row.observed_at)
