"""A corpus: what an update changes, what it leaves, and that only content decides on scores."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.search.entries.corpus import Corpus
from recollect.search.entries.rank import RankingOptions
from recollect.search.ranking.cosine import rank_semantic
from recollect.search.ranking.prefix_match import rank_fulltext
from tests.search.ranking.corpora import (
    DIMENSIONS,
    SampleText,
    a_corpus,
    ask,
    numbers,
    shown,
    texts,
    towards,
    tree_id,
    vectors,
)

WORDS = "lake race train carol dave biscuit when the swim swimming i suggest ? yesterday"
QUESTION = "When did Carol swim in the lake with the train?"

directions = st.lists(st.integers(-3, 3), min_size=2, max_size=4).filter(any)
turns = st.builds(
    SampleText,
    number=st.integers(1, 12),
    text=st.lists(st.sampled_from(WORDS.split()), max_size=6).map(" ".join),
    by=st.sampled_from(["carol@example.org", "dave@example.org", "dave@b.example"]),
    chat=st.integers(1, 3),
    assistant=st.booleans(),
    vector=st.none() | directions.map(lambda parts: towards(*parts)),
    window=st.none() | directions.map(lambda parts: towards(*parts)),
)


def distinct(said: Sequence[SampleText]) -> list[SampleText]:
    return list({turn.number: turn for turn in said}.values())


def said_again(turn: SampleText, known: SampleText | None) -> SampleText:
    """What is known of a turn after it was said: a turn stays where it was first."""
    return turn if known is None else replace(turn, chat=known.chat)


def everything(corpus: Corpus) -> list[list[tuple[int, float, bool]]]:
    """All that rankings show of a corpus."""
    vector = towards(2.0, 1.0)
    few = RankingOptions(candidates=3, min_score=0.1)
    return [
        shown(corpus, ask(corpus, QUESTION, vector)),
        shown(corpus, ask(corpus, QUESTION, vector, options=few)),
        shown(corpus, ask(corpus, "What did you suggest when I asked?")),
        shown(corpus, rank_semantic(corpus, vector, min_score=0.0)),
        shown(corpus, rank_fulltext(corpus, "swim l")),
    ]


@given(st.lists(turns, max_size=12).map(distinct), st.randoms(use_true_random=False))
def test_the_order_in_which_rows_come_changes_no_bit(
    said: list[SampleText], random: Random
) -> None:
    shuffled = random.sample(said, len(said))
    assert everything(a_corpus(*said)) == everything(a_corpus(*shuffled))


@settings(deadline=None)
@given(st.lists(st.lists(turns, max_size=6).map(distinct), min_size=1, max_size=5))
def test_updates_give_what_a_new_corpus_would(batches: list[list[SampleText]]) -> None:
    corpus = a_corpus()
    current: dict[int, SampleText] = {}
    for batch in batches:
        placed = [said_again(turn, current.get(turn.number)) for turn in batch]
        given = {turn.number for turn in batch if turn.vector is not None}
        corpus = corpus.with_updates(
            texts(placed), vectors([turn for turn in placed if turn.number in given])
        )
        current |= {turn.number: turn for turn in placed}
    expected = a_corpus(*current.values())
    assert corpus.size == expected.size
    assert corpus.speakers == expected.speakers
    assert everything(corpus) == everything(expected)


def test_a_replaced_text_is_found_by_its_new_words_only() -> None:
    corpus = a_corpus(SampleText(1, "the lake"), SampleText(2, "beside"))
    newer = corpus.with_updates(texts([SampleText(1, "the forest")]), [])
    assert newer.size == 2
    assert numbers(newer, rank_fulltext(newer, "lake")) == []
    assert numbers(newer, ask(newer, "lake")) == []
    assert numbers(newer, ask(newer, "forest")) == [1, 2]


def test_the_older_corpus_stays_as_it_was() -> None:
    corpus = a_corpus(
        SampleText(1, "the lake", vector=towards(1.0)), SampleText(2, "the race", chat=2)
    )
    before = everything(corpus)
    corpus.with_updates(texts([SampleText(1, "the race")]), [], gone=[tree_id(2)])
    assert everything(corpus) == before


def test_two_successors_of_one_corpus_don_t_disturb_each_other() -> None:
    first = SampleText(1, "the lake", vector=towards(1.0))
    corpus = a_corpus(first)
    lake = SampleText(2, "lake swim", chat=2, vector=towards(1.0, 2.0))
    race = SampleText(3, "race train", chat=3, vector=towards(2.0, 1.0))
    one, other = (corpus.with_updates(texts([said]), vectors([said])) for said in (lake, race))
    assert everything(one) == everything(a_corpus(first, lake))
    assert everything(other) == everything(a_corpus(first, race))


def test_a_text_that_comes_again_has_no_vector_before_a_new_one_comes() -> None:
    """The words may be the same and the text another."""
    said = SampleText(1, "the lake", vector=towards(1.0))
    for text in ("the lake", "The lake?", "a lake"):
        corpus = a_corpus(said).with_updates(texts([replace(said, text=text)]), [])
        assert numbers(corpus, rank_semantic(corpus, towards(1.0), min_score=0.5)) == []
        corpus = corpus.with_updates([], vectors([said]))
        assert numbers(corpus, rank_semantic(corpus, towards(1.0), min_score=0.5)) == [1]


def test_vectors_come_later_and_are_replaced() -> None:
    corpus = a_corpus(SampleText(1, "the lake"))
    corpus = corpus.with_updates([], vectors([SampleText(1, "", vector=towards(0.0, 1.0))]))
    corpus = corpus.with_updates([], vectors([SampleText(1, "", vector=towards(1.0))]))
    found = rank_semantic(corpus, towards(1.0), min_score=0.5)
    assert numbers(corpus, found) == [1]


def test_vectors_of_unknown_entries_are_left_out() -> None:
    corpus = Corpus.build([], vectors([SampleText(1, "", vector=towards(1.0))]), DIMENSIONS)
    assert corpus.size == 0
    assert len(rank_semantic(corpus, towards(1.0), min_score=-1.0).rows) == 0


def test_trees_that_are_gone_leave_nothing() -> None:
    kept = [SampleText(1, "the lake", by="carol@example.org", chat=1, vector=towards(1.0))]
    lost = [
        SampleText(2, "When did Carol swim?", by="dave@example.org", chat=2, vector=towards(1.0)),
        SampleText(3, "the lake", by="dave@example.org", chat=2, vector=towards(1.0)),
    ]
    corpus = a_corpus(*kept, *lost).with_updates([], [], gone=[tree_id(2), tree_id(9)])
    assert corpus.size == 1
    assert everything(corpus) == everything(a_corpus(*kept))
    assert corpus.speakers == {"carol": "carol@example.org"}


def test_a_tree_that_is_gone_can_come_back() -> None:
    said = [SampleText(1, "the lake", vector=towards(1.0)), SampleText(2, "a race")]
    corpus = a_corpus(*said).with_updates(texts(said), vectors(said), gone=[tree_id(1)])
    assert everything(corpus) == everything(a_corpus(*said))


def test_much_replaced_takes_no_more_memory() -> None:
    said = [
        SampleText(number, f"lake {number} swim", chat=number % 7, vector=towards(1.0, number))
        for number in range(1, 501)
    ]
    corpus = fresh = a_corpus(*said)
    for turn in range(1, 11):
        changed = [replace(one, text=f"{one.text} race{turn % 2}") for one in said]
        corpus = corpus.with_updates(texts(changed), vectors(changed))
        fresh = a_corpus(*changed)
    assert everything(corpus) == everything(fresh)
    assert corpus.nbytes < 6 * fresh.nbytes


def test_speakers_are_called_by_name_and_assistants_are_none() -> None:
    corpus = a_corpus(
        SampleText(1, "hi", by="carol.smith@example.org"),
        SampleText(2, "hi", by="dave@b.example"),
        SampleText(3, "hi", by="dave@a.example"),
        SampleText(4, "hello", by="helper@example.org", assistant=True),
    )
    assert corpus.speakers == {"carol": "carol.smith@example.org", "dave": "dave@a.example"}


def test_size_counts_bytes_of_vectors() -> None:
    plain = a_corpus(SampleText(1, "the lake"))
    with_vector = a_corpus(SampleText(1, "the lake", vector=towards(1.0)))
    assert with_vector.nbytes - plain.nbytes == DIMENSIONS * (
        np.float32().nbytes + np.int16().nbytes
    )
