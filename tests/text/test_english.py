"""Times, questions and whom they ask, in English; silence in other languages."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.english import asks_when, has_time, is_question

FOREIGN = st.text("абвгдежзиклмноп漢字かなไทย ,.", max_size=60)


@pytest.mark.parametrize(
    "text",
    [
        "We met in October.",
        "SUNDAY was fun",
        "on 12 March",
        "May 7th, 2023",
        "last week",
        "the other day",
        "two years ago",
        "at 7 p.m.",
        "it starts 10:30",
        "2023-05-08",
        "8/5/2023",
        "back in the 1990s",
        "for a few months",
        "see you tomorrow",
        "every summer",
    ],
)
def test_a_time_is_seen(text: str) -> None:
    assert has_time(text)


@pytest.mark.parametrize(
    "text",
    [
        "I may go",
        "they march on",
        "no time at all",
        "room 12",
        "chapter 7",
        "agony",
        "a dayroom",
        "",
    ],
)
def test_what_only_looks_like_a_time_is_not(text: str) -> None:
    assert not has_time(text)


@pytest.mark.parametrize(
    "text",
    [
        "When did Ann leave?",
        "and when is it",
        "Do you know when she was born?",
        "What year was that?",
        "Which month did they move?",
        "What was the exact date?",
        "How long did it take?",
        "how many weeks passed",
        "Since when?",
    ],
)
def test_a_question_for_a_time_is_seen(text: str) -> None:
    assert asks_when(text)


@pytest.mark.parametrize(
    "text", ["What did Ann do when Bob left?", "How many dogs?", "Whenever", "What colour?"]
)
def test_other_questions_ask_for_no_time(text: str) -> None:
    assert not asks_when(text)


@pytest.mark.parametrize(
    "text",
    [
        "Why?",
        "Really?!",
        "You came. Why? 😊",
        "(why?)",
        "为什么？",
        "لماذا؟",
        "γιατί\u037e",
        "“Who?”",
    ],
)
def test_a_text_that_ends_asking_is_a_question(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize("text", ["", "Yes.", "Why? Because.", "https://example.org/?q=1", "..."])
def test_a_text_that_ends_otherwise_is_none(text: str) -> None:
    assert not is_question(text)


@given(FOREIGN)
def test_other_languages_have_no_effect(text: str) -> None:
    assert not has_time(text)
    assert not asks_when(text)


@pytest.mark.parametrize(
    "hostile",
    ["1" * 100_000, "?" * 99_999 + "a", "\u00a0" * 100_000 + "x", "in " * 33_000, "1 " * 50_000],
    ids=["digits", "marks", "spaces", "prepositions", "numbers"],
)
def test_no_text_takes_more_than_linear_time(hostile: str) -> None:
    started = time.process_time()
    has_time(hostile)
    asks_when(hostile)
    is_question(hostile)
    assert time.process_time() - started < 2
