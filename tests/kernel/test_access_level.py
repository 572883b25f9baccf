"""Levels and their words."""

import pytest

from recollect.kernel.access_level import Level


def test_levels_are_ordered() -> None:
    assert [level.word for level in sorted(Level)] == ["reader", "writer", "manager", "owner"]


@pytest.mark.parametrize("level", Level)
def test_a_word_in_any_letter_case_gives_its_level(level: Level) -> None:
    assert Level.from_word(level.word) is level
    assert Level.from_word(level.word.title()) is level


@pytest.mark.parametrize("word", ["", "none", "admin", "reader "])
def test_another_word_is_no_level(word: str) -> None:
    with pytest.raises(KeyError):
        Level.from_word(word)
