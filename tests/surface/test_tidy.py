"""House rules that no linter has; `tests/surface/tidy_report.py` holds them.

A ratchet is the number of places that break a rule today. It goes down only: a test fails when
there are more, and also when there are fewer and the ratchet was not lowered.
"""

import pytest

from tests.surface.tidy_report import BANNED_NAMES, BANNED_WORDS, offenders, report, words_of

RATCHETS = {
    "banned names": 0,
    "bare participles": 0,
    "class names": 0,
    "file size": 0,
    "folder size": 0,
    "function size": 0,
    "glossary": 0,
}
FOUND = offenders()


@pytest.mark.parametrize("rule", RATCHETS)
def test_a_house_rule_is_broken_no_more_often_than_before(rule: str) -> None:
    places = [one for one in FOUND if one.rule == rule]
    assert len(places) <= RATCHETS[rule], report(places)
    assert len(places) == RATCHETS[rule], f"lower the ratchet of {rule!r} to {len(places)}"


def test_every_rule_has_a_ratchet() -> None:
    assert {one.rule for one in FOUND} <= {*RATCHETS}


def test_an_identifier_is_parted_into_its_words() -> None:
    assert words_of("_SeatKeys") == ["seat", "keys"]
    assert words_of("viewer_params") == ["viewer", "params"]
    assert not BANNED_NAMES & BANNED_WORDS
