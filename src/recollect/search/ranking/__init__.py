"""Ranking in memory, over numpy arrays that hold only what the caller may search. So no score
depends on rows that the caller may not see."""
