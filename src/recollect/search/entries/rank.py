"""The `auto` ranking of entries: words and vectors combined, adjusted by what the question says."""

from dataclasses import dataclass, replace

import numpy as np

from recollect.embedding.port import Vector
from recollect.search.entries.corpus import Corpus, Flags
from recollect.search.entries.corpus_parts import MIXED_UNIT, RowNumbers
from recollect.search.query import Question
from recollect.search.ranking import bm25, cosine
from recollect.search.ranking.order import (
    RankedRows,
    Scores,
    best_rows,
    sort_rows,
)


@dataclass(frozen=True, slots=True)
class RankingOptions:
    """Limits and weights of the ranking."""

    candidates: int = 1_000
    """How many entries words and vectors may each propose."""
    min_score: float = 0.2
    """Least cosine of an entry's own vector for a match by vector."""
    dense_share: float = 0.7
    speaker_bonus: float = 0.1
    """Added for entries of the speaker that the question is about."""
    conversation_share: float = 0.2
    """Share of the best score in the same conversation that is added."""
    answer_share: float = 0.1
    """Share of the score of a question right before the entry that is added."""
    time_bonus: float = 0.05
    """Added for entries that mention a time, if the question asks for one."""
    question_malus: float = 0.05
    """Subtracted from questions between people: they seldom answer anything."""


def rank_auto(
    corpus: Corpus,
    question: Question,
    vector: Vector | None,
    caller: str,
    options: RankingOptions,
    scale: float | None = None,
) -> RankedRows:
    """Rank all rows that match by words or by vector; without a vector by words alone.

    `caller` is the user whom "I" and "my" in the question refer to. BM25 has no upper bound and a
    cosine has, so word scores are divided by `scale`: the best word score here, or that of the
    first page, so that scores of all pages can be compared. A row without a vector has a cosine of
    0 in the sum.

    The order of the terms matters. The bonus from the conversation is a share of what words,
    vectors and speaker give together. The malus for questions comes after it: a question that
    matches well must still lift its answer, which is the next row.
    """
    words = bm25.score_words(corpus, question.words)
    rows = _candidate_rows(corpus, words.scores, vector, options)
    best_words = float(words.scores.max(initial=0.0)) or 1.0 if scale is None else scale
    fitting = words.scores[rows] / best_words
    scores = _blend_scores(corpus, rows, fitting, vector, options.dense_share)
    scores += options.speaker_bonus * _is_by_asked_speaker(corpus, question, caller)[rows]
    scores += _context_bonus(corpus, rows, scores, options)
    scores -= options.question_malus * corpus.is_question_to_person[rows]
    if question.asks_when:
        scores += options.time_bonus * corpus.has_time[rows]
    return replace(sort_rows(corpus, rows, scores, words.matched[rows]), scale=best_words)


def _candidate_rows(
    corpus: Corpus, words: Scores, vector: Vector | None, options: RankingOptions
) -> RowNumbers:
    fitting = np.flatnonzero(words > 0)
    found = best_rows(
        corpus, fitting, words[fitting], options.candidates, exact=words.__getitem__, margin=0.0
    )
    if vector is None:
        return found
    near = cosine.nearest_rows(corpus, vector, options.candidates, min_score=options.min_score)
    # A union by flags: in row order and without duplicates, in linear time.
    is_candidate = np.zeros(corpus.row_count, np.bool_)
    is_candidate[found] = is_candidate[near] = True
    return np.flatnonzero(is_candidate)


def _blend_scores(
    corpus: Corpus, rows: RowNumbers, fitting: Scores, vector: Vector | None, share: float
) -> Scores:
    """The weighted sum of word score and cosine; without a query vector the word score alone."""
    if vector is None:
        return fitting.copy()
    # Mixed vectors are integers in units of 1 / MIXED_UNIT: scaled back once, after the product.
    place = corpus.vector_place[rows]
    has_vector = place >= 0
    near = np.zeros(len(rows))
    near[has_vector] = cosine.cosines(corpus.vectors.mixed, place[has_vector], vector) / MIXED_UNIT
    return (1 - share) * fitting + share * near


def _is_by_asked_speaker(corpus: Corpus, question: Question, caller: str) -> Flags:
    """Whether a row is of the speaker that the question is about: the assistant, the one speaker
    it names, or the caller."""
    if question.of_assistant and corpus.has_assistant:
        return corpus.is_by_assistant
    if question.speaker is not None:
        return corpus.is_said_by(question.speaker, or_namesake=True)
    if question.of_self:
        return corpus.is_said_by(caller, or_namesake=False)
    return np.zeros(corpus.row_count, np.bool_)


def _context_bonus(
    corpus: Corpus, rows: RowNumbers, scores: Scores, options: RankingOptions
) -> Scores:
    """Shares of the best score in the conversation, and of a question right before the row.

    Only candidates count: a question that did not match itself lifts nothing.
    """
    conversation = corpus.conversation[rows]
    top = np.zeros(len(corpus.names.conversations))
    np.maximum.at(top, conversation, scores)
    question_scores = np.zeros(corpus.row_count + 1)  # the last one is for index -1
    question_scores[rows] = np.maximum(scores, 0.0) * corpus.is_question_to_person[rows]
    before = question_scores[corpus.previous_row[rows]]
    return options.conversation_share * top[conversation] + options.answer_share * before
