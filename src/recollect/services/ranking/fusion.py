"""One ranking out of words, meaning, and what a question says about its answer."""

from dataclasses import dataclass, replace

import numpy as np

from recollect.domain.questions import Question
from recollect.ports.search import Vector
from recollect.services.ranking import dense, lexical
from recollect.services.ranking.corpus import Corpus, Flags
from recollect.services.ranking.parts import MIXED_UNIT, RowNumbers
from recollect.services.ranking.ranked import Ranked, Scores, best, in_order


@dataclass(frozen=True, slots=True)
class RankingOptions:
    """How far to look, and what counts how much."""

    candidates: int = 1_000
    """How many entries each of words and meaning may propose."""
    min_score: float = 0.2
    """Nothing whose own text is farther than that is found by meaning."""
    dense_share: float = 0.7
    speaker_bonus: float = 0.1
    """For what the one in question said."""
    conversation_share: float = 0.2
    """Of the best score in the same conversation."""
    answer_share: float = 0.1
    """Of the score of the question right before."""
    time_bonus: float = 0.05
    """For what says when, if that is asked."""
    question_malus: float = 0.05
    """For what asks itself: it seldom answers."""


def rank_auto(
    corpus: Corpus,
    question: Question,
    vector: Vector | None,
    caller: str,
    options: RankingOptions,
    scale: float | None = None,
) -> Ranked:
    """What fits by words or by meaning, or, without a vector, by words alone.

    `caller` is who says I in the question. A row without a vector counts by its words. Words count
    relative to `scale`, by default to those of the best row.
    """
    words = lexical.fit(corpus, question.words)
    rows = _candidates(corpus, words.scores, vector, options)
    best_words = float(words.scores.max(initial=0.0)) or 1.0 if scale is None else scale
    fitting = words.scores[rows] / best_words
    scores = _blend(corpus, rows, fitting, vector, options.dense_share)
    scores += options.speaker_bonus * _is_told_by(corpus, question, caller)[rows]
    scores += _from_context(corpus, rows, scores, options)
    scores -= options.question_malus * corpus.asks_a_person[rows]
    if question.asks_when:
        scores += options.time_bonus * corpus.tells_time[rows]
    return replace(in_order(corpus, rows, scores, words.matched[rows]), scale=best_words)


def _candidates(
    corpus: Corpus, words: Scores, vector: Vector | None, options: RankingOptions
) -> RowNumbers:
    fitting = np.flatnonzero(words > 0)
    found = best(
        corpus, fitting, words[fitting], options.candidates, exact=words.__getitem__, margin=0.0
    )
    if vector is None:
        return found
    near = dense.nearest(corpus, vector, options.candidates, min_score=options.min_score)
    is_candidate = np.zeros(corpus.rows, np.bool_)
    is_candidate[found] = is_candidate[near] = True
    return np.flatnonzero(is_candidate)


def _blend(
    corpus: Corpus, rows: RowNumbers, fitting: Scores, vector: Vector | None, share: float
) -> Scores:
    """Words and meaning; without a vector words alone."""
    if vector is None:
        return fitting.copy()
    place = corpus.place[rows]
    has_vector = place >= 0
    near = np.zeros(len(rows))
    near[has_vector] = dense.cosines(corpus.vectors.mixed, place[has_vector], vector) / MIXED_UNIT
    return (1 - share) * fitting + share * near


def _is_told_by(corpus: Corpus, question: Question, caller: str) -> Flags:
    """Whether a row is by the one in question: the assistant, the speaker it names, the caller."""
    if question.of_assistant and corpus.has_assistant:
        return corpus.by_assistant
    if question.speaker is not None:
        return corpus.said_by(question.speaker, or_namesake=True)
    if question.of_self:
        return corpus.said_by(caller, or_namesake=False)
    return np.zeros(corpus.rows, np.bool_)


def _from_context(
    corpus: Corpus, rows: RowNumbers, scores: Scores, options: RankingOptions
) -> Scores:
    """A part of the best score of the conversation, and of the question right before."""
    conversation = corpus.conversation[rows]
    top = np.zeros(len(corpus.names.conversations))
    np.maximum.at(top, conversation, scores)
    asked = np.zeros(corpus.rows + 1)  # the last is for -1: nothing before
    asked[rows] = np.maximum(scores, 0.0) * corpus.asks_a_person[rows]
    before = asked[corpus.before[rows]]
    return options.conversation_share * top[conversation] + options.answer_share * before
