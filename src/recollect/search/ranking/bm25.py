"""Word scores of entries: BM25 over an entry's own words and, for less, over its neighbours' heads.

Nothing is counted over the corpus: how rare a word is comes from a fixed table of English, and the
average length is a constant. So an entry's score depends on itself and its neighbours alone, and
does not move when somebody stores another entry.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.search.entries.corpus import Corpus, Flags
from recollect.search.ranking.order import Scores
from recollect.text import word_frequency

# A query with more words is scored by the rarest of them.
WORDS_MAX = 64
# A word in the entry's own text counts as much as four in a neighbour's head.
_OWN_WEIGHT = 4
_SATURATION = 1.2
_LENGTH_SHARE = 0.75
# In tokens: a typical chat turn with the heads of its neighbours.
_AVERAGE_LENGTH = 80
# Upper bound for the rarity of a speaker's name: that of words such as "about" and "time".
NAME_RARITY = 3.0
# Bounds the memory of the count matrix, which has a cell for each word and row.
_CELLS_MAX = 2**20

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WordScores:
    """By row: the score, and whether the row's own text has one of the words."""

    scores: Scores
    matched: Flags


@dataclass(frozen=True, slots=True)
class TokenHits:
    """Tokens that belong to a group of words: the group's number, and the token's owner as in
    `CorpusTokens`."""

    group: Counts
    owner: Counts


def score_words(corpus: Corpus, stems: Sequence[str]) -> WordScores:
    """The BM25 score of each row for these stems, any of which may match; 0 without a match.

    A row is treated as its own text, counted `_OWN_WEIGHT` times, plus the heads of its two
    neighbours: in a chat the words of a question often stand in the turn before the answer. All
    tokens are searched once; counts are then made for a few words at a time, so that the matrix of
    words and rows stays small.
    """
    rarity = {stem: _rarity(corpus, stem) for stem in stems}
    rarest = sorted(rarity, key=lambda stem: (-rarity[stem], stem))[:WORDS_MAX]
    hits = find_tokens(corpus, [corpus.names.words.numbers_by_stem(stem) for stem in rarest])
    damped = length_damping(_length_with_heads(corpus))
    total = np.zeros(corpus.row_count)
    matched = np.zeros(corpus.row_count, np.bool_)
    step = max(1, _CELLS_MAX // (corpus.row_count + 1))
    for first in range(0, len(rarest), step):
        part = rarest[first : first + step]
        own, in_neighbours = _count_words(corpus, hits, first, len(part))
        # Added word by word in a fixed order. A sum over the matrix could be grouped differently
        # for another number of rows, and floating-point sums depend on the grouping.
        for stem, scores in zip(part, bm25(_OWN_WEIGHT * own + in_neighbours, damped), strict=True):
            total += rarity[stem] * scores
        matched |= own.any(axis=0)
    return WordScores(np.where(corpus.is_live, total, 0.0), matched)


def find_tokens(corpus: Corpus, groups: Sequence[Sequence[int]]) -> TokenHits:
    """All tokens that belong to one of these groups of word numbers. One pass over the tokens,
    however many groups there are."""
    group = corpus.names.words.group_table(groups).take(corpus.tokens.words.rows)
    found = np.flatnonzero(group > 0)  # on booleans this is faster than on integers
    owner = corpus.tokens.owners.rows[found]
    return TokenHits(group[found].astype(np.int64) - 1, owner.astype(np.int64))


def length_damping(length: NDArray[np.integer]) -> Scores:
    """The length-dependent term in the denominator of BM25."""
    relative = np.asarray(length, np.float64) / _AVERAGE_LENGTH
    return _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * relative)


def bm25(frequency: Counts, damped: Scores) -> Scores:
    """BM25 of a word without its rarity, by which the caller multiplies."""
    return (_SATURATION + 1) * frequency / (frequency + damped)


def _rarity(corpus: Corpus, stem: str) -> float:
    """The idf of a stem, bounded for names of speakers: people who talk to each other use each
    other's names often, however rare the names are in English."""
    rarity = word_frequency.idf(stem)
    return min(rarity, NAME_RARITY) if stem in corpus.speaker_stems else rarity


def _length_with_heads(corpus: Corpus) -> Counts:
    head = np.append(corpus.head, 0)  # the last one is for index -1: no neighbour
    return np.asarray(corpus.length + head[corpus.previous_row] + head[corpus.next_row])


def _count_words(corpus: Corpus, hits: TokenHits, first: int, count: int) -> tuple[Counts, Counts]:
    """Counts by word and row, for the words `first` to `first + count`: in the row's own text,
    and in the heads of its neighbours.

    `owner` is `2 * row + behind_head`, so one `bincount` over `word * 2 * width + owner` counts
    head and rest of every row apart.
    """
    width = corpus.row_count + 1  # the last one is for index -1: no neighbour
    inside = (hits.group >= first) & (hits.group < first + count)
    cells = (hits.group[inside] - first) * (2 * width) + hits.owner[inside]
    counted = np.bincount(cells, minlength=count * 2 * width).reshape(count, width, 2)
    head = np.ascontiguousarray(counted[:, :, 0])
    own = (head + counted[:, :, 1])[:, :-1]
    return own, head.take(corpus.previous_row, axis=1) + head.take(corpus.next_row, axis=1)
