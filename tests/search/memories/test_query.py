"""What a query over memories says."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.search.memories import query
from recollect.search.memories.query import (
    MemoryQuestion,
    is_lone_letter,
    possible_names,
)

NOW = datetime(2025, 6, 15, 12, tzinfo=UTC)


def read(text: str) -> MemoryQuestion:
    return query.parse_question(text, NOW, UTC)


def test_words_that_tell_nothing_are_left_out_unless_there_are_no_others() -> None:
    assert read("Where does the cat sleep?").words == ("cat", "sleep")
    assert read("it's").words == ("it",)
    assert read("?!").words == ()


def test_a_word_is_asked_for_once() -> None:
    assert read("tea, Tea and TEA").words == ("tea",)


def test_a_time_is_read_and_told_apart_from_the_rest() -> None:
    alone, beside = read("what was in May 2025?"), read("the trip in May 2025")
    assert len(alone.spans) == len(beside.spans) == 1
    assert alone.only_time
    assert not beside.only_time
    assert not read("the trip").only_time


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("What's Ann's launch?", {"ann", "ann launch"}),
        ("ask @bo_b.", {"bo_b"}),
        ("my mom's dog", {"mother", "mom dog"}),
        ("Dr. Ann Marie Smith", {"ann marie smith", "dr ann marie"}),
        ("the boys' club", {"boys", "boys club"}),
    ],
)
def test_names_may_be_any_few_words_that_follow_each_other(text: str, forms: set[str]) -> None:
    assert forms <= set(possible_names(text))


def test_words_that_tell_nothing_are_no_names() -> None:
    assert not {"where", "is", "the"} & set(possible_names("where is the cat"))


def test_a_long_query_asks_for_few_names() -> None:
    assert len(possible_names(" ".join(f"w{number}" for number in range(10_000)))) < 400


def test_single_letters_of_scripts_without_spaces_stand_for_what_they_begin() -> None:
    assert is_lone_letter("猫")
    assert not is_lone_letter("a")
    assert not is_lone_letter("é")
    assert not is_lone_letter("猫が")


@given(st.text(max_size=200))
def test_any_text_is_a_query(text: str) -> None:
    question = read(text)
    assert len(question.words) == len(set(question.words))
    assert all(possible_names(text))
