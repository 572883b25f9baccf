"""The order of memories."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.search.memories import query as memory_questions
from recollect.search.memories.rank import (
    MemoryRankingOptions,
    RankedMemories,
    RankingQuery,
    rank_memories,
)
from recollect.search.memories.row_cache import MemoryRowCache, MemoryTable
from recollect.search.memories.rows import MemoryCandidate, MemoryVector, WordRow
from recollect.search.model import SearchType, index_words

NOW = datetime(2025, 6, 15, 12, tzinfo=UTC)
OPTIONS = MemoryRankingOptions()


def a_table(*texts: str, vectors: Sequence[Sequence[float]] = (), **facts: Any) -> MemoryTable:
    """Rows m-0, m-1 and so on; `facts` are for all of them, a list gives one for each."""
    rows = [
        MemoryCandidate(
            doc,
            f"m-{doc}",
            1,
            bool(vectors),
            **{
                name: value[doc] if isinstance(value, list) else value
                for name, value in (FACTS | facts).items()
            },
        )
        for doc in range(len(texts))
    ]
    words = [WordRow(doc, 1, index_words(text).terms) for doc, text in enumerate(texts)]
    made = [MemoryVector(doc, 1, np.array(one, np.float32)) for doc, one in enumerate(vectors)]
    return MemoryRowCache(dimensions=2, bytes_max=2**30).build_table(rows, words, made)


FACTS: dict[str, Any] = {
    "trust": "fact",
    "observed_at": NOW,
    "valid_from": None,
    "valid_until": None,
    "about": False,
}


def ask(query: str, vector: Sequence[float] | None = None, **members: Any) -> RankingQuery:
    question = memory_questions.parse_question(query, NOW, UTC)
    made = None if vector is None else np.array(vector, np.float32)
    return RankingQuery(
        question, **({"mode": SearchType.AUTO, "vector": made, "now": NOW} | members)
    )


def order(table: MemoryTable, asked: RankingQuery) -> list[str]:
    found = rank_memories(table, asked, OPTIONS)
    return [table.rows[row].memory_id for row in found.rows]


def score_of(found: RankedMemories, row: int) -> float:
    return found.scores[list(found.rows).index(row)]


def test_words_are_alternatives_and_more_of_them_are_better() -> None:
    table = a_table("Ann moved to Lisbon", "Ann likes tea", "Bo moved to Lisbon with Ann's dog")
    assert order(table, ask("who moved to Lisbon with a dog"))[0] == "m-2"
    assert set(order(table, ask("tea in Lisbon"))) == {"m-0", "m-1", "m-2"}


def test_what_matches_nothing_is_not_found_however_new_and_trusted() -> None:
    table = a_table("Ann likes tea", "Bo likes coffee", observed_at=[NOW, NOW])
    assert order(table, ask("coffee")) == ["m-1"]


def test_case_accents_and_word_forms_are_folded() -> None:
    table = a_table("Das Café ist geöffnet", "They were MOVING boxes")
    assert order(table, ask("CAFE geoffnet")) == ["m-0"]
    assert order(table, ask("moved box")) == ["m-1"]


@pytest.mark.parametrize("query", ["猫", "猫が", "好き", "京都で"])
def test_scripts_without_spaces_match_by_pairs_and_by_single_characters(query: str) -> None:
    table = a_table("猫が好き", "京都で暮らす", "犬と散歩")
    assert len(order(table, ask(query))) == 1


def test_trust_weighs_equal_texts() -> None:
    table = a_table("likes tea", "likes tea", "likes tea", trust=["hearsay", "fact", "unknown"])
    found = rank_memories(table, ask("tea"), OPTIONS)
    assert [table.rows[row].trust for row in found.rows] == ["fact", "unknown", "hearsay"]
    assert found.scores == pytest.approx([1.0, 0.9, 0.8])


def test_age_costs_a_little_and_never_more_than_its_share() -> None:
    long_ago = NOW - timedelta(days=10_000)
    table = a_table("likes tea", "likes tea and milk and sugar", observed_at=[long_ago, NOW])
    found = rank_memories(table, ask("tea"), OPTIONS)
    assert score_of(found, 0) >= 0.9
    same = a_table("likes tea", "likes tea", observed_at=[long_ago, NOW])
    assert order(same, ask("tea")) == ["m-1", "m-0"]


def test_meaning_finds_what_shares_no_word() -> None:
    table = a_table("automobile repair", "cake recipe", vectors=[(1, 0), (0, 1)])
    found = rank_memories(table, ask("fixing cars", vector=(1, 0)), OPTIONS)
    assert found.rows == [0]
    assert found.by_meaning.tolist() == [True]
    assert found.by_words.tolist() == [False]


def test_a_row_that_still_waits_for_its_vector_is_found_by_its_words() -> None:
    rows = a_table("fixing cars today", "cake")
    assert order(rows, ask("cars", vector=(1, 0))) == ["m-0"]


def test_modes_look_at_their_own_part_alone() -> None:
    table = a_table("car", "vehicle", vectors=[(0, 1), (1, 0)])
    by_words = replace(ask("car", vector=(1, 0)), mode=SearchType.FULLTEXT)
    by_meaning = replace(ask("car", vector=(1, 0)), mode=SearchType.SEMANTIC)
    assert order(table, by_words) == ["m-0"]
    assert order(table, by_meaning) == ["m-1"]


def test_what_is_about_a_named_person_comes_first_and_is_found_without_the_name() -> None:
    table = a_table("likes tea", "likes tea", "lives in Porto", about=[False, True, True])
    assert order(table, ask("does Ann like tea")) == ["m-1", "m-0", "m-2"]


def test_names_of_people_count_less_than_their_rarity_says() -> None:
    table = a_table("Zoltan was there", "the launch is in March")
    rare = ask("when is Zoltan's launch")
    assert order(table, rare)[0] == "m-0"
    assert order(table, replace(rare, names=frozenset({"zoltan"})))[0] == "m-1"


def test_a_time_lifts_what_was_said_then_or_holds_then() -> None:
    may, june = datetime(2025, 5, 7, tzinfo=UTC), datetime(2025, 6, 7, tzinfo=UTC)
    said = a_table("the trip", "the trip", observed_at=[june, may])
    assert order(said, ask("the trip in May 2025")) == ["m-1", "m-0"]
    holds = a_table(
        "the trip",
        "the trip",
        observed_at=june,
        valid_from=[datetime(2024, 3, 1, tzinfo=UTC), None],
        valid_until=[datetime(2024, 4, 1, tzinfo=UTC), None],
    )
    assert order(holds, ask("the trip in March 2024")) == ["m-0", "m-1"]


def test_a_time_alone_finds_what_was_said_then_and_beside_words_finds_nothing() -> None:
    may = datetime(2025, 5, 7, tzinfo=UTC)
    table = a_table("a trip", "a cake", observed_at=[may, NOW])
    assert order(table, ask("what was in May 2025?")) == ["m-0"]
    assert order(table, ask("cake in May 2025")) == ["m-1"]


def test_the_graph_lifts_its_neighbours() -> None:
    table = a_table("likes tea", "likes tea")
    assert order(table, ask("tea", graph={"m-0": 0.5})) == ["m-0", "m-1"]


def test_equal_scores_are_in_the_order_of_ids() -> None:
    table = a_table(*["likes tea"] * 4)
    assert order(table, ask("tea")) == ["m-3", "m-2", "m-1", "m-0"]


def test_a_least_score_keeps_what_reaches_it() -> None:
    table = a_table("tea tea", "a long text that speaks of tea only once among many words")
    found = rank_memories(table, ask("tea"), OPTIONS)
    kept = rank_memories(table, ask("tea", min_score=found.scores[0]), OPTIONS)
    assert kept.rows == found.rows[:1]


def test_a_query_without_a_word_finds_nothing() -> None:
    table = a_table("likes tea")
    for query in ('"', "(", "%", "-", "***"):
        assert order(table, ask(query)) == []


def test_operators_are_plain_words() -> None:
    table = a_table("it is not near", "tea or milk")
    assert order(table, ask("NOT")) == ["m-0"]
    assert set(order(table, ask("NEAR(tea)"))) == {"m-0", "m-1"}


def test_nothing_is_ranked_among_no_rows() -> None:
    assert order(a_table(), ask("tea", vector=(1, 0))) == []


WORDS = st.lists(st.sampled_from(["tea", "milk", "dog", "porto", "red"]), max_size=6)


@settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, min_size=2, max_size=8), st.data())
def test_the_score_of_a_row_is_what_it_is_alone(texts: list[list[str]], data: Any) -> None:
    """As long as the measure is the same: no other row counts but for the best of the words."""
    asked = replace(ask("tea milk dog", vector=(1, 0)), scale=7.0)
    vectors = [(0.6, 0.8) if "red" in words else (0.0, 1.0) for words in texts]
    found = rank_memories(a_table(*map(" ".join, texts), vectors=vectors), asked, OPTIONS)
    chosen = data.draw(st.integers(0, len(texts) - 1))
    alone = rank_memories(
        a_table(" ".join(texts[chosen]), vectors=[vectors[chosen]]), asked, OPTIONS
    )
    assert (chosen in found.rows) == bool(alone.rows)
    if alone.rows:
        assert score_of(found, chosen) == alone.scores[0]
