"""The order of results: score descending, then entry id descending, wherever the rows stand."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.services.ranking.corpus import Corpus, Flags
from recollect.services.ranking.parts import RowNumbers

Scores = NDArray[np.float64]

# Scores are part of cursors: what machines do differently in the last bits must not show.
_DECIMALS = 9


@dataclass(frozen=True, slots=True)
class Ranked:
    """Rows of a corpus, best first. `matched`: some word of the query is in the row's own text."""

    rows: RowNumbers
    scores: Scores
    matched: Flags
    scale: float = 1.0
    """What the words of the best row were worth: later pages are measured by that of the first."""


def rounded(scores: Scores) -> Scores:
    """Scores as they are compared and shown."""
    return np.round(scores, _DECIMALS) + 0.0  # makes negative zero positive


def in_order(corpus: Corpus, rows: RowNumbers, scores: Scores, matched: Flags) -> Ranked:
    """A ranking of these rows; `scores` and `matched` stand beside them."""
    shown = rounded(scores)
    order = np.lexsort((corpus.ids[rows], shown))[::-1]
    return Ranked(rows[order], shown[order], matched[order])


def best(
    corpus: Corpus,
    rows: RowNumbers,
    scores: NDArray[np.floating],
    count: int,
    *,
    exact: Callable[[RowNumbers], Scores],
    margin: float,
) -> RowNumbers:
    """The `count` best of these rows. `scores` may be wrong by half the margin; where that could
    decide, `exact` does."""
    if len(rows) <= count:
        return rows
    bound = np.partition(scores, len(rows) - count)[len(rows) - count]
    sure = rows[scores > bound + margin]
    unsure = rows[np.abs(scores - bound) <= margin]
    order = np.lexsort((corpus.ids[unsure], exact(unsure)))[::-1]
    return np.concatenate([sure, unsure[order[: count - len(sure)]]])
