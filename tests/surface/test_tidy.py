"""House rules that no linter has; `tests/surface/tidy_report.py` holds them."""

import pytest

from tests.surface.tidy_report import (
    BANNED_NAMES,
    BANNED_WORDS,
    RULES,
    glossary,
    offenders,
    report,
    words_of,
)

FOUND = offenders()


@pytest.mark.parametrize("rule", RULES)
def test_no_place_breaks_a_house_rule(rule: str) -> None:
    places = [one for one in FOUND if one.rule == rule]
    assert not places, report(places)


def test_every_offender_is_of_a_known_rule() -> None:
    assert {one.rule for one in FOUND} <= {*RULES}


def test_the_glossary_is_found() -> None:
    assert {"viewer", "space", "tree"} <= {*glossary()}


def test_an_identifier_is_split_into_its_words() -> None:
    assert words_of("_SeatKeys") == ["seat", "keys"]
    assert words_of("viewer_params") == ["viewer", "params"]
    assert not BANNED_NAMES & BANNED_WORDS
