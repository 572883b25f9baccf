"""By meaning alone: the cosine with an entry's own vector."""

import pytest

from recollect.search.ranking.cosine import rank_semantic
from tests.search.ranking.corpora import SampleText, a_corpus, numbers, scores, towards


def test_the_score_is_the_cosine() -> None:
    corpus = a_corpus(
        SampleText(1, "one", vector=towards(1.0)),
        SampleText(2, "two", vector=towards(3.0, 4.0)),
        SampleText(3, "three", vector=towards(-1.0)),
    )
    found = rank_semantic(corpus, towards(1.0), min_score=-1.0)
    assert numbers(corpus, found) == [1, 2, 3]
    assert found.scores == pytest.approx([1.0, 0.6, -1.0], abs=1e-6)
    assert not found.matched.any()


def test_nothing_is_below_the_least_score() -> None:
    corpus = a_corpus(
        SampleText(1, "one", vector=towards(1.0, 1.0)),
        SampleText(2, "two", vector=towards(1.0, 2.0)),
        SampleText(3, "no vector yet"),
    )
    exact = scores(corpus, rank_semantic(corpus, towards(1.0), min_score=0.0))[2]
    assert numbers(corpus, rank_semantic(corpus, towards(1.0), min_score=exact)) == [1, 2]
    assert numbers(corpus, rank_semantic(corpus, towards(1.0), min_score=exact + 1e-8)) == [1]


def test_the_window_takes_no_part() -> None:
    corpus = a_corpus(
        SampleText(1, "one", vector=towards(1.0, 0.2), window=towards(0.0, 1.0)),
        SampleText(2, "two", vector=towards(1.0, 0.3), window=towards(1.0)),
    )
    assert numbers(corpus, rank_semantic(corpus, towards(1.0), min_score=0.0)) == [1, 2]


def test_equal_cosines_are_in_the_order_of_ids_descending() -> None:
    corpus = a_corpus(*(SampleText(number, "x", vector=towards(2.0, 1.0)) for number in (2, 3, 1)))
    assert numbers(corpus, rank_semantic(corpus, towards(1.0), min_score=0.0)) == [3, 2, 1]


def test_an_empty_corpus_has_nothing_near() -> None:
    assert len(rank_semantic(a_corpus(), towards(1.0), min_score=-1.0).rows) == 0
