"""How well words fit: BM25 over an entry's own words and, for less, over what stands beside it.

Nothing here is counted over the corpus: how rare a word is comes from a table of English, and the
average length is a constant. So the score of an entry depends on itself and its neighbours alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.domain import frequencies
from recollect.services.ranking.corpus import Corpus, Flags
from recollect.services.ranking.ranked import Scores

# Of more words than these, the rarest tell enough.
WORDS_MAX = 64
_OWN_WEIGHT = 4
_SATURATION = 1.2
_LENGTH_SHARE = 0.75
# In tokens: a turn of a chat and the heads beside it.
_AVERAGE_LENGTH = 80
# As rare as "about" and "time".
NAME_RARITY = 3.0
# How many counts are held at once.
_CELLS_MAX = 2**20

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Fit:
    """By row: the score, and whether some word is in the row's own text."""

    scores: Scores
    matched: Flags


@dataclass(frozen=True, slots=True)
class Hits:
    """Tokens that belong to groups of words: the number of the group, and the token's owner."""

    group: Counts
    owner: Counts


def fit(corpus: Corpus, stems: Sequence[str]) -> Fit:
    """How well each row fits these stems as alternatives; 0 for a row that has none of them."""
    rarity = {stem: _rarity(corpus, stem) for stem in stems}
    rarest = sorted(rarity, key=lambda stem: (-rarity[stem], stem))[:WORDS_MAX]
    hits = find(corpus, [corpus.names.words.with_stem(stem) for stem in rarest])
    damped = damping(_length_with_heads(corpus))
    total = np.zeros(corpus.rows)
    matched = np.zeros(corpus.rows, np.bool_)
    step = max(1, _CELLS_MAX // (corpus.rows + 1))
    for first in range(0, len(rarest), step):
        part = rarest[first : first + step]
        own, beside = _counts(corpus, hits, first, len(part))
        # One word after the other, so that the sum doesn't depend on the number of rows.
        for stem, scores in zip(part, bm25(_OWN_WEIGHT * own + beside, damped), strict=True):
            total += rarity[stem] * scores
        matched |= own.any(axis=0)
    return Fit(np.where(corpus.live, total, 0.0), matched)


def find(corpus: Corpus, groups: Sequence[Sequence[int]]) -> Hits:
    """All tokens of these groups of words, in one pass however many they are."""
    group = corpus.names.words.table(groups).take(corpus.tokens.words.rows)
    found = np.flatnonzero(group > 0)  # faster than on numbers
    owner = corpus.tokens.owners.rows[found]
    return Hits(group[found].astype(np.int64) - 1, owner.astype(np.int64))


def damping(length: NDArray[np.integer]) -> Scores:
    """By how much BM25 damps a frequency in a text of this length."""
    relative = np.asarray(length, np.float64) / _AVERAGE_LENGTH
    return _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * relative)


def bm25(frequency: Counts, damped: Scores) -> Scores:
    """BM25 of a word, to be multiplied by how rare the word is."""
    return (_SATURATION + 1) * frequency / (frequency + damped)


def _rarity(corpus: Corpus, stem: str) -> float:
    """Who talk with each other say the other's name all the time, however rare it is."""
    rarity = frequencies.idf(stem)
    return min(rarity, NAME_RARITY) if stem in corpus.speaker_stems else rarity


def _length_with_heads(corpus: Corpus) -> Counts:
    head = np.append(corpus.head, 0)  # the last is for -1: no neighbour, no head
    return np.asarray(corpus.length + head[corpus.before] + head[corpus.after])


def _counts(corpus: Corpus, hits: Hits, first: int, count: int) -> tuple[Counts, Counts]:
    """How often each row has each of the words: of its own, and in the heads beside it."""
    width = corpus.rows + 1  # the last is for -1: no neighbour, no words
    inside = (hits.group >= first) & (hits.group < first + count)
    cells = (hits.group[inside] - first) * (2 * width) + hits.owner[inside]
    counted = np.bincount(cells, minlength=count * 2 * width).reshape(count, width, 2)
    head = np.ascontiguousarray(counted[:, :, 0])
    own = (head + counted[:, :, 1])[:, :-1]
    return own, head.take(corpus.before, axis=1) + head.take(corpus.after, axis=1)
