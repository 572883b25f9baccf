"""Statements of one attribute are near each other, whatever their vectors say."""

from datetime import UTC, datetime

import pytest

from recollect.kernel.space import Space, SpaceKind
from recollect.memories.reconcile.similarity import statement_similarity
from recollect.memories.supersede.rules import StatementFacts

FAR = 0.31


def said(content: str, *subjects: str) -> StatementFacts:
    """Something that somebody said."""
    return StatementFacts(
        id=content,
        content=content,
        space=Space(SpaceKind.USER, "ann"),
        observed_at=datetime(2026, 1, 1, tzinfo=UTC),
        subjects=frozenset(subjects),
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I live in Porto", "I moved to Lisbon"),
        ("Bob likes mayo", "I hate mayo"),
        ("I work at Acme", "I work for Globex"),
    ],
)
def test_one_attribute_is_near(one: str, other: str) -> None:
    assert statement_similarity(FAR, said(one, "p"), said(other, "p")) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I live in Porto", "I work in Porto"),
        ("Bob likes mayo", "Ann likes mayo"),
        ("My sister lives in Porto", "I live in Porto"),
        ("The launch is on March 15", "The launch is on March 20"),
    ],
)
def test_everything_else_is_as_near_as_its_vectors(one: str, other: str) -> None:
    assert statement_similarity(FAR, said(one, "p"), said(other, "p")) == FAR


def test_other_subjects_are_other_things() -> None:
    assert (
        statement_similarity(FAR, said("I live in Porto", "p"), said("I live in Lisbon", "q"))
        == FAR
    )
