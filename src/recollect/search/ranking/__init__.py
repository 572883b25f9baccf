"""Ranking in memory, over numpy arrays that hold only what the caller may search. So no score
depends on rows that the caller may not see."""

from recollect.search.entries.corpus import Corpus
from recollect.search.entries.rank import RankingOptions, rank_auto
from recollect.search.ranking.cosine import rank_semantic
from recollect.search.ranking.order import RankedRows
from recollect.search.ranking.prefix_match import rank_fulltext

__all__ = [
    "Corpus",
    "RankedRows",
    "RankingOptions",
    "rank_auto",
    "rank_fulltext",
    "rank_semantic",
]
