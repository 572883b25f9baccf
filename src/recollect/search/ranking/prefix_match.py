"""Full-text ranking: each word of the query must be a prefix of a word of the entry, unstemmed."""

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from recollect.search.entries.corpus import Corpus
from recollect.search.ranking.bm25 import bm25, find_tokens, length_damping
from recollect.search.ranking.order import RankedRows, sort_rows
from recollect.text import tokens as words
from recollect.text import word_frequency


def rank_fulltext(corpus: Corpus, query: str, *, whole_words: bool = False) -> RankedRows:
    """All entries that have, for each word of the query, a word that begins with it, by BM25; with
    `whole_words` the word itself.

    A query without words matches nothing. Neither does one with a prefix that no word of the corpus
    has: `all(groups)` is false then, and no tokens are searched.
    """
    tokens, known = words.query_tokens(query), corpus.names.words
    prefixes = sorted(set(tokens)) if whole_words else _longest_prefixes(tokens)
    look_up = known.numbers_by_word if whole_words else known.numbers_by_prefix
    groups = [look_up(prefix) for prefix in prefixes]
    hits = find_tokens(corpus, groups if all(groups) else [])
    # `owner >> 1` is the row: head or not makes no difference here. Each cell is a pair of row and
    # prefix, so the number of distinct cells in a row is the number of prefixes that it has.
    cells = (hits.owner >> 1) * len(prefixes) + hits.group
    occupied, frequency = np.unique(cells, return_counts=True)
    row, prefix = np.divmod(occupied, max(1, len(prefixes)))
    rarity = np.array([word_frequency.idf(words.stem(token)) for token in prefixes])
    scores = rarity[prefix] * bm25(frequency, length_damping(corpus.length[row]))
    total = np.bincount(row, scores, minlength=corpus.row_count).astype(np.float64)
    held_by = np.bincount(row, minlength=corpus.row_count)
    rows = np.flatnonzero((held_by > 0) & (held_by == len(prefixes)) & corpus.is_live)
    return sort_rows(corpus, rows, total[rows], np.ones(len(rows), np.bool_))


def _longest_prefixes(tokens: Sequence[str]) -> list[str]:
    """The tokens that are not a prefix of another token.

    A text that matches "apples" matches "app" too, so "app" adds no condition. What remains are
    disjoint groups of words, as `find_tokens` needs them: a word belongs to one group at most.
    In sorted order a prefix stands before the tokens that begin with it, so comparing neighbours
    is enough.
    """
    ordered = sorted(set(tokens))
    pairs = zip_longest(ordered, ordered[1:], fillvalue="")
    return [token for token, following in pairs if not following.startswith(token)]
