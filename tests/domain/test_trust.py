"""How well a memory is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.memories import Trust
from recollect.domain.trust import lowest, trust_of

people = st.sampled_from(["p", "q", "r"])


@pytest.mark.parametrize(
    ("stated_by", "subjects", "expected"),
    [
        (None, (), Trust.UNKNOWN),
        (None, ("q",), Trust.UNKNOWN),
        ("p", (), Trust.FACT),
        ("p", ("p",), Trust.FACT),
        ("p", ("q", "p"), Trust.FACT),
        ("p", ("q",), Trust.HEARSAY),
        ("p", ("pq",), Trust.HEARSAY),
    ],
)
def test_what_one_says_of_others_is_hearsay(
    stated_by: str | None, subjects: tuple[str, ...], expected: Trust
) -> None:
    assert trust_of(stated_by, subjects) is expected


@given(people, st.frozensets(people))
def test_the_order_of_subjects_does_not_matter(stated_by: str, subjects: frozenset[str]) -> None:
    ordered = sorted(subjects)
    assert trust_of(stated_by, ordered) is trust_of(stated_by, ordered[::-1])


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ([Trust.FACT], Trust.FACT),
        ([Trust.FACT, Trust.UNKNOWN], Trust.UNKNOWN),
        ([Trust.UNKNOWN, Trust.HEARSAY, Trust.FACT], Trust.HEARSAY),
        ([], Trust.UNKNOWN),
    ],
)
def test_what_is_derived_is_trusted_no_more_than_its_weakest_source(
    sources: list[Trust], expected: Trust
) -> None:
    assert lowest(sources) is expected
