"""The order of search results: score descending, then entry id descending."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.search.entries.corpus import Corpus, Flags
from recollect.search.entries.corpus_parts import RowNumbers

Scores = NDArray[np.float64]

# Cursors contain scores, so the last bits, which differ between machines, are rounded away.
_DECIMALS = 9


@dataclass(frozen=True, slots=True)
class RankedRows:
    """Rows of a corpus, best first. `matched` tells whether the row's own text has a word of the
    query."""

    rows: RowNumbers
    scores: Scores
    matched: Flags
    scale: float = 1.0
    """Word score of the best row, by which word scores were normalised. Later pages use that of
    the first page."""


def round_scores(scores: Scores) -> Scores:
    """Scores as they are compared, shown and put into cursors."""
    return np.round(scores, _DECIMALS) + 0.0  # turns -0.0 into 0.0


def sort_rows(corpus: Corpus, rows: RowNumbers, scores: Scores, matched: Flags) -> RankedRows:
    """These rows in order. `scores` and `matched` are parallel to `rows`."""
    rounded = round_scores(scores)
    order = np.lexsort((corpus.ids[rows], rounded))[::-1]
    return RankedRows(rows[order], rounded[order], matched[order])


def best_rows(
    corpus: Corpus,
    rows: RowNumbers,
    scores: NDArray[np.floating],
    count: int,
    *,
    exact: Callable[[RowNumbers], Scores],
    margin: float,
) -> RowNumbers:
    """The `count` best of these rows, in no order. `scores` may be off by half the margin.

    The score at place `count` is the bound. Rows above it by more than the margin are in, rows
    below it by more are out, and the rows between are compared by exact score and id. So ties at
    the bound are broken the same way every time.
    """
    if len(rows) <= count:
        return rows
    bound = np.partition(scores, len(rows) - count)[len(rows) - count]
    sure = rows[scores > bound + margin]
    unsure = rows[np.abs(scores - bound) <= margin]
    order = np.lexsort((corpus.ids[unsure], exact(unsure)))[::-1]
    return np.concatenate([sure, unsure[order[: count - len(sure)]]])
