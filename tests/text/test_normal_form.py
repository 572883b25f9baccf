"""When two texts are one text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.normal_form import fold, is_equal_text


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("I live in Porto.", "i live  in\nPORTO"),
        ("Don’t call me", "dont call me!"),
        ("well-known", "well known"),
        ("Straße", "STRASSE"),
        ("caf\u00e9", "cafe\u0301"),
        ("«Hello», she said", "hello she said"),
        ("zero\u200bwidth", "zerowidth"),
        ("犬が好きです。", "犬が好きです"),
        ("my_name", "my name"),
        ("We left. Then it rained!", "we left then it rained"),
        ("ready... set", "ready set"),
        ("Really?!", "really"),
    ],
)
def test_case_space_and_punctuation_make_no_difference(a: str, b: str) -> None:
    assert is_equal_text(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("takes 1.5 mg", "takes 15 mg"),
        ("takes 1.5 mg", "takes 1 5 mg"),
        ("it is -5 outside", "it is 5 outside"),
        ("pays 5%", "pays 5"),
        ("writes C#", "writes C"),
        ("writes C++", "writes C"),
        ("costs $5", "costs €5"),
        ("ask @ann", "ask Ann"),
        ("résumé", "resume"),
        ("x²", "x2"),
        ("likes 🍎", "likes 🍐"),
        ("!!!", "???"),
        ("now here", "nowhere"),
        ("x != y holds", "x = y holds"),
        ("x /= y holds", "x = y holds"),
        ("the path is /a/b", "the path is a.b"),
        ("the path is /a/b", "the path is a/b"),
        ("the file is .env", "the file is env"),
        (r"the path is a\b", "the path is a b"),
        ("the module is a.b", "the module is ab"),
    ],
)
def test_what_changes_the_meaning_stays(a: str, b: str) -> None:
    assert not is_equal_text(a, b)


@given(st.text())
def test_folding_twice_changes_nothing_and_only_a_blank_text_folds_to_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert bool(fold(text)) == bool(text.split())


@given(st.text(st.characters(categories=["L", "N", "P", "Z"])))
def test_case_and_outer_space_never_count(text: str) -> None:
    assert fold(f"  {text}\t") == fold(text)
    assert fold(text.casefold()) == fold(text)


def test_a_pile_of_marks_is_folded_in_linear_time() -> None:
    begun = time.process_time()
    fold("a" + "\u0301\u0323" * 50_000)
    assert time.process_time() - begun < 4
