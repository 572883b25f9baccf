"""Who may replace whose word, what the successor takes over, and how the old one ends."""

from dataclasses import replace
from itertools import product

import pytest

from recollect.memories.model import Sensitivity, TrustLevel
from recollect.memories.supersede.rules import (
    StatementFacts,
    SupersededTimes,
    is_protected,
    may_replace,
    strictest_privacy,
    successor_start,
    trust_when_repeated,
)
from recollect.memories.supersede.rules import superseded_times as ending_of
from tests.memories.reconcile.statement_cases import DAY, IN_G2, NOW, P, Q, S, known, said

OLD = known("I live in Porto").statement
HEARSAY = known("Q lives in Porto", by=P).statement
CONFIRMED = replace(HEARSAY, trust=TrustLevel.FACT)


@pytest.mark.parametrize(
    ("old", "by", "protected"),
    [
        (OLD, Q, False),
        (OLD, P, True),
        (OLD, None, True),
        (HEARSAY, Q, False),
        (HEARSAY, P, False),
        (HEARSAY, S, False),
        (CONFIRMED, Q, False),
        (CONFIRMED, P, True),
        (known("Q and S live in Porto", about=(Q, S)).statement, S, True),
        (known("Q lives in Porto", by=None).statement, P, False),
        (known("The office is in Porto", by=P, about=()).statement, S, False),
    ],
)
def test_a_subjects_own_word_is_protected_from_everybody_else(
    old: StatementFacts, by: str | None, *, protected: bool
) -> None:
    assert is_protected(old, by=by) == protected


def test_an_unverified_or_older_statement_replaces_nothing() -> None:
    assert may_replace(said("I live in Lisbon"), OLD)
    assert not may_replace(said("I live in Lisbon", verified=False), OLD)
    assert not may_replace(said("I live in Lisbon", observed_at=OLD.observed_at - DAY), OLD)
    assert may_replace(said("I live in Lisbon", observed_at=OLD.observed_at), OLD)


def test_hearsay_is_replaced_by_its_stater_and_by_the_subject_only() -> None:
    assert may_replace(said("Q lives in Lisbon", by=P), HEARSAY)
    assert may_replace(said("I live in Lisbon", by=Q), HEARSAY)
    assert not may_replace(said("Q lives in Lisbon", by=S), HEARSAY)
    assert not may_replace(said("Q lives in Lisbon", by=None), HEARSAY)


def test_what_is_about_nobody_is_replaced_by_anybody() -> None:
    old = known("The office is in Porto", by=P, about=()).statement
    assert may_replace(said("The office is in Lisbon", by=S, about=()), old)


def test_hearsay_becomes_a_fact_when_its_subject_repeats_it() -> None:
    assert trust_when_repeated(HEARSAY, said("Q lives in Porto")) is TrustLevel.FACT
    assert trust_when_repeated(HEARSAY, said("Q lives in Porto", by=S)) is TrustLevel.HEARSAY
    assert trust_when_repeated(HEARSAY, said("x", verified=False)) is TrustLevel.HEARSAY
    assert trust_when_repeated(OLD, said("I live in Porto", by=P)) is TrustLevel.FACT


def test_the_successor_is_as_strict_as_the_strictest() -> None:
    for one, other, a, b in product(Sensitivity, Sensitivity, (True, False), (True, False)):
        new = said("x", sensitivity=one, portable=a)
        old = replace(OLD, sensitivity=other, portable=b)
        strictest = max(one, other, key=lambda level: level.rank)
        assert strictest_privacy(new, [old, OLD]) == (strictest, a and b)
        assert strictest_privacy(new, [old], set_by_subject=True) == (one, a)


def test_a_change_of_the_world_ends_the_old_when_the_new_began() -> None:
    new = said("I live in Lisbon")
    since = NOW - 30 * DAY
    assert ending_of(new, OLD, now=NOW + DAY) == SupersededTimes(NOW, None)
    assert ending_of(replace(new, valid_from=since), OLD, now=NOW) == SupersededTimes(since, None)
    ended = replace(OLD, valid_until=NOW - 90 * DAY)
    assert ending_of(new, ended, now=NOW) == SupersededTimes(ended.valid_until, None)
    moved = said("I no longer live in Porto")
    assert ending_of(moved, OLD, now=NOW + DAY) == SupersededTimes(NOW, None)


def test_a_correction_takes_the_old_out_of_the_record() -> None:
    retracted = SupersededTimes(None, NOW + DAY)
    assert ending_of(said("Actually, I live in Lisbon"), OLD, now=NOW + DAY) == retracted
    assert ending_of(said("I live in Lisbon", correction=True), OLD, now=NOW + DAY) == retracted


def test_the_subjects_word_takes_hearsay_out_of_the_record() -> None:
    assert ending_of(said("I live in Lisbon"), HEARSAY, now=NOW) == SupersededTimes(None, NOW)
    assert ending_of(said("Q lives in Lisbon", by=P), HEARSAY, now=NOW) == SupersededTimes(
        NOW, None
    )


def test_an_old_statement_that_began_after_the_new_was_never_true() -> None:
    late = replace(OLD, valid_from=NOW - DAY)
    new = said("I live in Lisbon", valid_from=NOW - 2 * DAY)
    assert ending_of(new, late, now=NOW) == SupersededTimes(None, NOW)


def test_a_successor_begins_where_the_last_of_the_replaced_ones_ends() -> None:
    new = said("I live in Lisbon")
    ended = replace(OLD, valid_until=NOW - 90 * DAY)
    assert successor_start(new, [OLD]) == NOW
    assert successor_start(new, [ended]) == ended.valid_until
    assert successor_start(new, [ended, OLD]) == NOW
    assert successor_start(new, []) is None
    since = NOW - 30 * DAY
    assert successor_start(replace(new, valid_from=since), [OLD]) == since


def test_a_correction_begins_with_the_first_of_the_replaced_ones() -> None:
    new = said("Actually, I live in Lisbon")
    may, june = (replace(OLD, valid_from=NOW - days * DAY) for days in (60, 30))
    assert successor_start(new, [june, may]) == may.valid_from
    assert successor_start(new, [may, OLD]) is None
    since = replace(HEARSAY, valid_from=NOW - 60 * DAY)
    assert successor_start(said("I live in Lisbon"), [since]) == since.valid_from


def test_a_start_never_comes_from_another_space_nor_lies_behind_the_end() -> None:
    since = replace(HEARSAY, valid_from=NOW - 60 * DAY)
    assert successor_start(said("I live in Lisbon"), [replace(since, space=IN_G2)]) is None
    assert successor_start(said("I live in Lisbon", valid_until=NOW), [OLD]) is None


def test_the_start_of_a_successor_does_not_change_the_end_of_what_it_replaces() -> None:
    for new, old in product(
        (said("I live in Lisbon"), said("Actually, I live in Lisbon")),
        (OLD, HEARSAY, replace(OLD, valid_until=NOW - DAY), replace(OLD, valid_from=NOW - DAY)),
    ):
        begun = replace(new, valid_from=successor_start(new, [old]))
        assert ending_of(begun, old, now=NOW) == ending_of(new, old, now=NOW)
