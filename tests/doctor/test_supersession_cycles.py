"""Which links of supersession are cut so that nothing replaces itself."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from recollect.doctor.model import (
    SEVERITIES,
    DoctorCheck,
    SupersessionLink,
    links_to_cut,
)

NOON = datetime(2026, 2, 11, 12, tzinfo=UTC)
NODES = st.sampled_from("abcdefg")
PAIRS = st.lists(st.tuples(NODES, NODES), unique=True, max_size=20)


def linked(*pairs: tuple[str, str]) -> list[SupersessionLink]:
    """In the order in which they were made."""
    return [
        SupersessionLink(NOON + timedelta(hours=hour), successor, predecessor)
        for hour, (successor, predecessor) in enumerate(pairs)
    ]


def runs_in_a_circle(links: list[SupersessionLink]) -> bool:
    """Is there a way from some memory back to itself? Paths of all lengths, by brute force."""
    reached = {(link.successor, link.predecessor) for link in links}
    while True:
        more = {(a, d) for a, b in reached for c, d in reached if b == c} - reached
        if not more:
            return any(a == b for a, b in reached)
        reached |= more


def test_histories_that_branch_are_left_alone() -> None:
    assert links_to_cut(linked(("b", "a"), ("d", "c"), ("e", "b"), ("e", "d"))) == []


def test_the_newest_link_of_a_circle_goes() -> None:
    first, second, third = linked(("b", "a"), ("c", "b"), ("a", "c"))
    assert links_to_cut([third, first, second]) == [third]


def test_a_memory_does_not_replace_itself() -> None:
    (own,) = linked(("a", "a"))
    assert links_to_cut([own]) == [own]


@given(PAIRS)
def test_what_is_left_runs_in_no_circle_and_no_cut_was_in_vain(
    pairs: list[tuple[str, str]],
) -> None:
    links = linked(*pairs)
    cut = links_to_cut(links)
    kept = [link for link in links if link not in cut]
    assert not runs_in_a_circle(kept)
    assert all(runs_in_a_circle([*kept, link]) for link in cut)


def test_every_check_has_a_severity() -> None:
    assert list(SEVERITIES) == list(DoctorCheck)
