"""One ranking by words, meaning, and what a question says about its answer."""

from dataclasses import replace

import pytest

from recollect.search import query
from recollect.search.entries.rank import RankingOptions, rank_auto
from tests.search.ranking.corpora import (
    SampleText,
    a_corpus,
    ask,
    numbers,
    scores,
    shown,
    towards,
)

HERE, NEAR, FAR = towards(1.0), towards(1.0, 0.6), towards(0.0, 0.0, 1.0)


def test_words_are_alternatives_and_stemmed() -> None:
    corpus = a_corpus(
        SampleText(1, "We adopted two puppies", chat=1),
        SampleText(2, "The puppy chased the adopted cat", chat=2),
        SampleText(3, "Rain again", chat=3),
    )
    assert numbers(corpus, ask(corpus, "adopting a puppy or a cat")) == [2, 1]


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    corpus = a_corpus(
        SampleText(1, "a lovely year", chat=1), SampleText(2, "a lovely xylophone", chat=2)
    )
    assert numbers(corpus, ask(corpus, "the year of the xylophone"))[0] == 2


def test_meaning_finds_what_shares_no_word() -> None:
    corpus = a_corpus(
        SampleText(1, "We got a hound", vector=NEAR, chat=1),
        SampleText(2, "Prices fell", vector=FAR, chat=2),
    )
    ranked = ask(corpus, "pets", HERE)
    assert numbers(corpus, ranked) == [1]
    assert not ranked.matched.any()


def test_what_has_no_vector_yet_is_found_by_its_words() -> None:
    corpus = a_corpus(
        SampleText(1, "the greyhound sleeps", chat=1),
        SampleText(2, "other things", vector=NEAR, chat=2),
    )
    ranked = ask(corpus, "greyhound", HERE)
    assert sorted(numbers(corpus, ranked)) == [1, 2]


def test_without_a_vector_words_rank_alone() -> None:
    corpus = a_corpus(
        SampleText(1, "a greyhound", vector=NEAR, chat=1),
        SampleText(2, "a cat", vector=HERE, chat=2),
    )
    assert numbers(corpus, ask(corpus, "greyhound", None)) == [1]


def test_without_words_meaning_ranks_alone() -> None:
    corpus = a_corpus(
        SampleText(1, "a greyhound", vector=NEAR, chat=1),
        SampleText(2, "a cat", vector=HERE, chat=2),
    )
    question = replace(query.parse_question("greyhound", {}), words=())
    ranked = rank_auto(corpus, question, HERE, "ann@example.org", RankingOptions())
    assert numbers(corpus, ranked) == [2, 1]
    assert not ranked.matched.any()


def test_the_window_is_part_of_the_meaning_but_can_not_bring_an_entry_in() -> None:
    corpus = a_corpus(
        SampleText(1, "one", vector=NEAR, window=HERE, chat=1),
        SampleText(2, "two", vector=NEAR, window=FAR, chat=2),
        SampleText(3, "three", vector=FAR, window=HERE, chat=3),
    )
    assert numbers(corpus, ask(corpus, "something", HERE)) == [1, 2]


def test_an_entry_is_found_by_its_neighbours_words_for_less_and_without_a_match() -> None:
    corpus = a_corpus(
        SampleText(1, "Do you like your telescope?"),
        SampleText(2, "I use it every night"),
        SampleText(3, "Lucky you"),
    )
    ranked = ask(corpus, "telescope")
    found = shown(corpus, ranked)
    assert [(number, matched) for number, _, matched in found] == [(1, True), (2, False)]


def test_neighbours_are_those_of_the_same_conversation_by_position() -> None:
    corpus = a_corpus(
        SampleText(1, "telescope", chat=1, seq=5),
        SampleText(2, "elsewhere", chat=2, seq=6),
        SampleText(3, "before it", chat=1, seq=4),
        SampleText(4, "after it", chat=1, seq=9),
        SampleText(5, "far from it", chat=1, seq=10),
    )
    assert set(numbers(corpus, ask(corpus, "telescope"))) == {1, 3, 4}


def test_of_a_long_neighbour_only_the_head_counts() -> None:
    long = "word " * 100 + "telescope"
    corpus = a_corpus(SampleText(1, long), SampleText(2, "beside it"))
    assert numbers(corpus, ask(corpus, "telescope")) == [1]


def test_the_turns_of_the_speaker_that_is_named_come_first() -> None:
    corpus = a_corpus(
        SampleText(1, "I went to the lake", by="carol@example.org", chat=1),
        SampleText(2, "I went to the lake", by="dave@example.org", chat=2),
    )
    assert numbers(corpus, ask(corpus, "When did Carol go to the lake?"))[0] == 1
    assert numbers(corpus, ask(corpus, "When did Dave go to the lake?"))[0] == 2


def test_namesakes_are_all_meant() -> None:
    corpus = a_corpus(
        SampleText(1, "I went to the lake", by="carol@a.example", chat=1),
        SampleText(2, "I went to the lake", by="carol@b.example", chat=2),
        SampleText(3, "I went to the lake", by="dave@b.example", chat=3),
    )
    assert numbers(corpus, ask(corpus, "Did Carol see the lake?")) == [2, 1, 3]


def test_names_of_speakers_tell_little() -> None:
    corpus = a_corpus(
        SampleText(1, "Hi Melanie", by="caroline@example.org", chat=1),
        SampleText(2, "We work", by="melanie@example.org", chat=2),
    )
    question = replace(query.parse_question("", {}), words=("melani", "work"))
    ranked = rank_auto(corpus, question, None, "ann@example.org", RankingOptions())
    assert numbers(corpus, ranked) == [2, 1]


def test_i_means_the_caller() -> None:
    corpus = a_corpus(
        SampleText(1, "I went to the lake", by="carol@example.org", chat=1),
        SampleText(2, "I went to the lake", by="dave@example.org", chat=2),
    )
    question = "When did I go to the lake?"
    assert numbers(corpus, ask(corpus, question, caller="carol@example.org"))[0] == 1
    assert numbers(corpus, ask(corpus, question, caller="dave@example.org"))[0] == 2


def test_what_the_assistant_said_is_told_apart_from_what_the_user_said() -> None:
    corpus = a_corpus(
        SampleText(1, "I take the train to the lake", chat=1),
        SampleText(2, "Take the train to the lake", chat=2, assistant=True),
    )
    asked_of_user = ask(corpus, "Which train do I take to the lake?")
    asked_of_assistant = ask(corpus, "Which train to the lake did you suggest to me?")
    assert numbers(corpus, asked_of_user)[0] == 1
    assert numbers(corpus, asked_of_assistant)[0] == 2


def test_where_no_assistant_spoke_you_is_nobody() -> None:
    corpus = a_corpus(
        SampleText(1, "Take the train to the lake", by="carol@example.org", chat=1),
        SampleText(2, "Take the train to the lake", by="dave@example.org", chat=2),
    )
    ranked = ask(corpus, "Which train did you suggest to me?", caller="carol@example.org")
    assert numbers(corpus, ranked)[0] == 1


def test_a_good_conversation_lifts_its_entries() -> None:
    corpus = a_corpus(
        SampleText(1, "the lake", chat=1),
        SampleText(2, "nothing of it", chat=1),
        SampleText(3, "nothing either", chat=1),
        SampleText(4, "a swim in the cold lake before sunrise", chat=1),
        SampleText(5, "the lake", chat=2),
    )
    found = scores(corpus, ask(corpus, "swim in the cold lake before sunrise"))
    assert found[1] > found[5]


def test_the_answer_to_a_fitting_question_is_lifted() -> None:
    corpus = a_corpus(
        SampleText(1, "Which telescope do you use?", by="bob@example.org", chat=1),
        SampleText(2, "A small refractor", vector=NEAR, chat=1),
        SampleText(3, "A telescope stands there.", by="bob@example.org", chat=2),
        SampleText(4, "A small refractor", vector=NEAR, chat=2),
    )
    found = scores(corpus, ask(corpus, "telescope", HERE))
    assert found[2] > found[4]
    assert found[3] > found[1]


def test_a_question_to_an_assistant_is_not_held_against_it() -> None:
    corpus = a_corpus(
        SampleText(1, "My sister is allergic to sesame, what can she eat?", chat=1),
        SampleText(2, "Rice and vegetables.", chat=1, assistant=True),
        SampleText(3, "My sister is allergic to sesame, what can she eat?", chat=2),
        SampleText(4, "Rice and vegetables.", by="bob@example.org", chat=2),
    )
    found = scores(corpus, ask(corpus, "sesame"))
    assert found[1] > found[3]


def test_who_asks_when_gets_what_tells_when() -> None:
    corpus = a_corpus(
        SampleText(1, "The race was yesterday", chat=1),
        SampleText(2, "The race was lovely", chat=2),
    )
    asked_when = scores(corpus, ask(corpus, "When was the race?"))
    asked_how = scores(corpus, ask(corpus, "How was the race?"))
    assert asked_when[1] - asked_when[2] > asked_how[1] - asked_how[2]


def test_equal_scores_are_in_the_order_of_ids_descending() -> None:
    corpus = a_corpus(*(SampleText(number, "the same", chat=number) for number in (3, 1, 4, 2)))
    assert numbers(corpus, ask(corpus, "same")) == [4, 3, 2, 1]


def test_each_type_proposes_its_best_candidates_only() -> None:
    corpus = a_corpus(
        SampleText(1, "lake", chat=1),
        SampleText(2, "lake lake", chat=2),
        SampleText(3, "lake lake", chat=3),
        SampleText(4, "x", chat=4, vector=HERE),
        SampleText(5, "y", chat=5, vector=NEAR),
    )
    ranked = ask(corpus, "lake", HERE, options=RankingOptions(candidates=1))
    assert set(numbers(corpus, ranked)) == {3, 4}


def test_of_very_many_words_the_rarest_are_looked_for() -> None:
    corpus = a_corpus(SampleText(1, "xylophone"), SampleText(2, "good", chat=2))
    words = "good " + " ".join(f"unheard{number}" for number in range(63)) + " xylophone"
    assert numbers(corpus, ask(corpus, words)) == [1]


@pytest.mark.parametrize("question", ["anything", "", "?!", "  "])
def test_an_empty_corpus_has_no_answer(question: str) -> None:
    corpus = a_corpus()
    assert numbers(corpus, ask(corpus, question, HERE)) == []
