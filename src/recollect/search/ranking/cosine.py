"""Vector scores of entries: cosines of unit vectors.

A fast float32 product with all vectors preselects rows. Scores that are shown or compared are then
summed row by row in double precision, so that they don't depend on a row's place in the matrix.
"""

import numpy as np
from numpy.typing import NDArray

from recollect.embedding.port import Vector
from recollect.search.entries.corpus import Corpus
from recollect.search.entries.corpus_parts import RowNumbers
from recollect.search.ranking.array_pool import ArrayPool
from recollect.search.ranking.order import (
    RankedRows,
    Scores,
    best_rows,
    round_scores,
    sort_rows,
)

# Twice the error bound of the float32 product.
_MARGIN = 1e-5
_BLOCK = 1_024


def rank_semantic(corpus: Corpus, vector: Vector, *, min_score: float) -> RankedRows:
    """All entries whose own vector has at least this cosine, in order."""
    rows = nearest_rows(corpus, vector, corpus.row_count, min_score=min_score)
    scores = cosines(corpus.vectors.own, corpus.vector_place[rows], vector)
    return sort_rows(corpus, rows, scores, np.zeros(len(rows), np.bool_))


def nearest_rows(corpus: Corpus, vector: Vector, count: int, *, min_score: float) -> RowNumbers:
    """The `count` rows with the highest cosine of their own vector, none below `min_score`.

    The float32 product decides wherever its error can't matter. Rows within the margin of
    `min_score`, or of the last place, are computed exactly. So the result is that of the exact
    scores, for the price of the fast ones.
    """

    def exact(rows: RowNumbers) -> Scores:
        return round_scores(cosines(corpus.vectors.own, corpus.vector_place[rows], vector))

    product: Vector = np.append(corpus.vectors.own.rows @ vector, np.float32(-np.inf))
    near = product[corpus.vector_place]  # place -1 (no vector) selects the appended -inf
    rows = np.flatnonzero(near >= min_score - _MARGIN)
    # Within the margin of the threshold only the exact score decides.
    unsure = rows[near[rows] <= min_score + _MARGIN]
    near[unsure[exact(unsure) < min_score]] = -np.inf
    rows = rows[near[rows] > -np.inf]
    return best_rows(corpus, rows, near[rows], count, exact=exact, margin=_MARGIN)


def cosines(
    pool: ArrayPool[np.float32] | ArrayPool[np.int16], places: NDArray[np.integer], vector: Vector
) -> Scores:
    """Products of `vector` with the vectors at these places. In blocks, because indexing and the
    conversion to double precision copy them."""
    wide = vector.astype(np.float64)
    found = np.empty(len(places))
    for first in range(0, len(places), _BLOCK):
        block = pool.rows[places[first : first + _BLOCK]].astype(np.float64)
        found[first : first + _BLOCK] = np.einsum("ij,j->i", block, wide)
    return found
