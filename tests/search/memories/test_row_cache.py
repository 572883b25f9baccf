"""The cache of words and vectors that all searches over memories share."""

from datetime import UTC, datetime

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.search.memories.row_cache import MemoryRowCache, MemoryTable
from recollect.search.memories.rows import MemoryCandidate, MemoryVector, WordRow

NOON = datetime(2025, 5, 7, 12, tzinfo=UTC)
ROOM = 2**30


def a_row(doc: int, revision: int = 1, *, has_vector: bool = False) -> MemoryCandidate:
    return MemoryCandidate(doc, f"m-{doc}", revision, has_vector, "fact", NOON, None, None, False)


def words(doc: int, terms: str, revision: int = 1) -> WordRow:
    return WordRow(doc, revision, terms)


def vector(doc: int, *numbers: float) -> MemoryVector:
    return MemoryVector(doc, 1, np.array(numbers, ">f4"))


def texts(table: MemoryTable) -> dict[str, list[str]]:
    return {row.memory_id: table.row_words(place) for place, row in enumerate(table.rows)}


def test_a_table_has_the_rows_that_were_asked_for_and_no_others() -> None:
    cache = MemoryRowCache(dimensions=1, bytes_max=ROOM)
    cache.build_table([a_row(1), a_row(2)], [words(1, "a b"), words(2, "c")], [])
    table = cache.build_table([a_row(2)], [], [])
    assert texts(table) == {"m-2": ["c"]}
    tokens, owners = table.all_tokens()
    assert [table.vocabulary.names[token] for token in tokens] == ["c"]
    assert owners.tolist() == [0]


def test_what_is_kept_is_not_missing_and_a_changed_text_is() -> None:
    cache = MemoryRowCache(dimensions=2, bytes_max=ROOM)
    rows = [a_row(1, has_vector=True), a_row(2)]
    assert cache.find_missing(rows) == ([1, 2], [1])
    cache.build_table(rows, [words(1, "a"), words(2, "b")], [vector(1, 1, 0)])
    assert cache.find_missing(rows) == ([], [])
    assert cache.find_missing([a_row(1, revision=2, has_vector=True)]) == ([1], [1])


def test_a_changed_text_is_known_by_its_new_words() -> None:
    cache = MemoryRowCache(dimensions=1, bytes_max=ROOM)
    cache.build_table([a_row(1)], [words(1, "porto")], [])
    table = cache.build_table([a_row(1, 2)], [words(1, "lisbon", 2)], [])
    assert texts(table) == {"m-1": ["lisbon"]}


def test_a_row_without_its_words_makes_the_table_less_than_whole() -> None:
    cache = MemoryRowCache(dimensions=1, bytes_max=ROOM)
    table = cache.build_table([a_row(1), a_row(2)], [words(1, "a")], [])
    assert not table.whole
    assert texts(table) == {"m-1": ["a"]}
    assert not cache.build_table([a_row(1, has_vector=True)], [], []).whole
    assert cache.build_table([a_row(1)], [], []).whole


def test_a_vector_is_found_at_its_place() -> None:
    cache = MemoryRowCache(dimensions=2, bytes_max=ROOM)
    rows = [a_row(1, has_vector=True), a_row(2), a_row(3, has_vector=True)]
    given_words = [words(doc, "x") for doc in (1, 2, 3)]
    table = cache.build_table(rows, given_words, [vector(3, 0, 1), vector(1, 1, 0)])
    assert table.vectors.rows[table.places[0]].tolist() == [1, 0]
    assert table.places[1] == -1
    assert table.vectors.rows[table.places[2]].tolist() == [0, 1]


def test_what_was_used_longest_ago_is_cleared_away() -> None:
    cache = MemoryRowCache(dimensions=1, bytes_max=60_000)
    old, new = [a_row(doc) for doc in range(50)], [a_row(doc) for doc in range(50, 150)]
    cache.build_table(old, [words(row.doc, "word") for row in old], [])
    cache.build_table(new, [words(row.doc, f"word other{row.doc}") for row in new], [])
    missing, _ = cache.find_missing([*old, *new])
    assert {row.doc for row in old} <= set(missing)
    assert set(missing) < {row.doc for row in (*old, *new)}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.integers(0, 30), min_size=1, max_size=12, unique=True),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from([1, 3_000, ROOM]),
)
def test_tables_are_the_same_however_little_is_kept(searches: list[list[int]], room: int) -> None:
    """A search reads what is missing; what others asked for, and what was cleared away, never
    shows."""
    cache = MemoryRowCache(dimensions=2, bytes_max=room)
    for docs in searches:
        rows = [a_row(doc, has_vector=doc % 2 == 0) for doc in docs]
        no_words, no_vectors = cache.find_missing(rows)
        table = cache.build_table(
            rows,
            [words(doc, f"w{doc} w{doc % 3} all") for doc in no_words],
            [vector(doc, doc, 1) for doc in no_vectors],
        )
        assert table.whole
        assert texts(table) == {f"m-{doc}": [f"w{doc}", f"w{doc % 3}", "all"] for doc in docs}
        for place, doc in zip(table.places.tolist(), docs, strict=True):
            shown = table.vectors.rows[place].tolist() if place >= 0 else None
            assert shown == ([doc, 1] if doc % 2 == 0 else None)
