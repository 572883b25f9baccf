"""How well a memory is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.memories.model import TrustLevel
from recollect.memories.trust import derive_trust, lowest_trust

people = st.sampled_from(["p", "q", "r"])


@pytest.mark.parametrize(
    ("stated_by", "subjects", "expected"),
    [
        (None, (), TrustLevel.UNKNOWN),
        (None, ("q",), TrustLevel.UNKNOWN),
        ("p", (), TrustLevel.FACT),
        ("p", ("p",), TrustLevel.FACT),
        ("p", ("q", "p"), TrustLevel.FACT),
        ("p", ("q",), TrustLevel.HEARSAY),
        ("p", ("pq",), TrustLevel.HEARSAY),
    ],
)
def test_what_one_says_of_others_is_hearsay(
    stated_by: str | None, subjects: tuple[str, ...], expected: TrustLevel
) -> None:
    assert derive_trust(stated_by, subjects) is expected


@given(people, st.frozensets(people))
def test_the_order_of_subjects_does_not_matter(stated_by: str, subjects: frozenset[str]) -> None:
    ordered = sorted(subjects)
    assert derive_trust(stated_by, ordered) is derive_trust(stated_by, ordered[::-1])


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ([TrustLevel.FACT], TrustLevel.FACT),
        ([TrustLevel.FACT, TrustLevel.UNKNOWN], TrustLevel.UNKNOWN),
        ([TrustLevel.UNKNOWN, TrustLevel.HEARSAY, TrustLevel.FACT], TrustLevel.HEARSAY),
        ([], TrustLevel.UNKNOWN),
    ],
)
def test_what_is_derived_is_trusted_no_more_than_its_weakest_source(
    sources: list[TrustLevel], expected: TrustLevel
) -> None:
    assert lowest_trust(sources) is expected
