"""Ranking in memory, over numpy arrays that hold only what the caller may search. So no score
depends on rows that the caller may not see."""

from recollect.services.ranking.corpus import Corpus
from recollect.services.ranking.dense import rank_semantic
from recollect.services.ranking.fulltext import rank_fulltext
from recollect.services.ranking.fusion import RankingOptions, rank_auto
from recollect.services.ranking.ranked import RankedRows

__all__ = [
    "Corpus",
    "RankedRows",
    "RankingOptions",
    "rank_auto",
    "rank_fulltext",
    "rank_semantic",
]
