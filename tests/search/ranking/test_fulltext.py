"""Full text: every word, as the beginning of a word."""

import pytest

from recollect.search.ranking.prefix_match import rank_fulltext
from tests.search.ranking.corpora import SampleText, a_corpus, numbers


def test_every_word_must_begin_a_word() -> None:
    corpus = a_corpus(
        SampleText(1, "a greyhound called Biscuit"),
        SampleText(2, "a greyhound"),
        SampleText(3, "Biscuits for the greyhounds"),
    )
    found = rank_fulltext(corpus, "grey BISCUIT")
    assert sorted(numbers(corpus, found)) == [1, 3]
    assert found.matched.all()


def test_nothing_is_stemmed() -> None:
    corpus = a_corpus(SampleText(1, "running"), SampleText(2, "run"), SampleText(3, "runs"))
    assert sorted(numbers(corpus, rank_fulltext(corpus, "runn"))) == [1]
    assert sorted(numbers(corpus, rank_fulltext(corpus, "runs"))) == [3]
    assert sorted(numbers(corpus, rank_fulltext(corpus, "run"))) == [1, 2, 3]


def test_words_that_begin_each_other_need_one_word_only() -> None:
    corpus = a_corpus(SampleText(1, "greyhound"), SampleText(2, "grey"))
    assert numbers(corpus, rank_fulltext(corpus, "g gr grey greyh")) == [1]


def test_more_of_it_in_fewer_words_comes_first() -> None:
    corpus = a_corpus(
        SampleText(1, "lake and many other words about other things of the day"),
        SampleText(2, "lake, lake, lake"),
        SampleText(3, "lake"),
    )
    assert numbers(corpus, rank_fulltext(corpus, "lake")) == [2, 3, 1]


def test_neighbours_take_no_part() -> None:
    corpus = a_corpus(SampleText(1, "a telescope"), SampleText(2, "beside it"))
    assert numbers(corpus, rank_fulltext(corpus, "telescope")) == [1]


def test_all_matches_are_found_in_order() -> None:
    corpus = a_corpus(*(SampleText(number, "same", chat=number) for number in range(1, 1_501)))
    assert numbers(corpus, rank_fulltext(corpus, "same")) == list(range(1_500, 0, -1))


@pytest.mark.parametrize("query", ["", "  ", "?!*", '""', "missing", "lake missing"])
def test_no_word_and_a_missing_word_find_nothing(query: str) -> None:
    corpus = a_corpus(SampleText(1, "lake"))
    assert numbers(corpus, rank_fulltext(corpus, query)) == []
    assert numbers(a_corpus(), rank_fulltext(a_corpus(), query)) == []


def test_a_query_of_thousands_of_words_is_answered() -> None:
    words = " ".join(f"w{number}" for number in range(3_000))
    corpus = a_corpus(SampleText(1, words), SampleText(2, "w1 w2"))
    assert numbers(corpus, rank_fulltext(corpus, words)) == [1]


def test_part_of_a_text_without_spaces_is_found() -> None:
    corpus = a_corpus(SampleText(1, "明日は東京タワーに行く"), SampleText(2, "大阪に行く"))
    assert numbers(corpus, rank_fulltext(corpus, "東京タワー")) == [1]
