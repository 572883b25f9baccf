"""The visible path against a naive model: what the parent showed up to the point, then own."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from recollect.conversations.forks.rules import (
    UNLIMITED,
    Ancestor,
    Segment,
    is_on_path,
    visible_path,
)
from recollect.kernel.ids import ConversationId

Stored = tuple[ConversationId, int]


@dataclass
class Branch:
    id: ConversationId
    parent: "Branch | None" = None
    forked_at_seq: int | None = None
    own: list[int] = field(default_factory=list)

    def shows(self) -> list[Stored]:
        """The recursive definition, without any cut."""
        inherited = self.parent.shows() if self.parent else []
        kept = [stored for stored in inherited if stored[1] <= (self.forked_at_seq or 0)]
        return kept + [(self.id, seq) for seq in self.own]

    def chain(self) -> list[Ancestor]:
        above = self.parent.chain() if self.parent else []
        return [Ancestor(self.id, self.forked_at_seq), *above]


@st.composite
def trees(draw: st.DrawFn) -> list[Branch]:
    """Appends and forks in any order; a fork is made at an entry that its parent shows."""
    branches = [Branch(ConversationId("c0"))]
    for seq in range(1, draw(st.integers(1, 25))):
        branch = draw(st.sampled_from(branches))
        if draw(st.booleans()):
            branch.own.append(seq)
        else:
            points = [0, *(position for _, position in branch.shows())]
            name = ConversationId(f"c{len(branches)}")
            branches.append(Branch(name, branch, draw(st.sampled_from(points))))
    return branches


def shown_by(path: list[Segment], branches: list[Branch]) -> list[Stored]:
    own = {branch.id: branch.own for branch in branches}
    return [
        (s.conversation_id, seq) for s in path for seq in own[s.conversation_id] if seq <= s.cut
    ]


@given(trees())
def test_the_path_shows_what_the_parent_showed_up_to_the_point_then_its_own(
    branches: list[Branch],
) -> None:
    for branch in branches:
        assert shown_by(visible_path(branch.chain()), branches) == branch.shows()


@given(trees())
def test_an_entry_is_on_the_path_exactly_if_it_is_shown(branches: list[Branch]) -> None:
    stored = [(branch.id, seq) for branch in branches for seq in branch.own]
    for branch in branches:
        path, shown = visible_path(branch.chain()), set(branch.shows())
        assert all(is_on_path(path, id_, seq) == ((id_, seq) in shown) for id_, seq in stored)


@given(trees())
def test_a_fork_never_shows_an_ancestors_entry_after_the_fork_point(branches: list[Branch]) -> None:
    for branch in branches:
        path, point = visible_path(branch.chain()), branch.forked_at_seq
        assert point is None or all(s.cut <= point for s in path if s.conversation_id != branch.id)


@given(trees())
def test_segments_one_after_the_other_are_in_order_of_position(branches: list[Branch]) -> None:
    for branch in branches:
        positions = [seq for _, seq in shown_by(visible_path(branch.chain()), branches)]
        assert positions == sorted(positions)


@given(trees(), st.data())
def test_later_entries_of_a_parent_change_no_fork(
    branches: list[Branch], data: st.DataObject
) -> None:
    parent = data.draw(st.sampled_from(branches))
    heirs = [b for b in branches if b is not parent]
    before = [shown_by(visible_path(b.chain()), branches) for b in heirs]
    parent.own.append(1_000)
    assert [shown_by(visible_path(b.chain()), branches) for b in heirs] == before


def a_chain(*points: int | None) -> list[Ancestor]:
    return [Ancestor(ConversationId(f"c{i}"), point) for i, point in enumerate(points)]


def test_a_root_shows_all_its_entries() -> None:
    assert visible_path(a_chain(None)) == [Segment(ConversationId("c0"), UNLIMITED)]


def test_a_blank_fork_shows_its_own_entries_alone() -> None:
    assert visible_path(a_chain(0, 5, None)) == [Segment(ConversationId("c0"), UNLIMITED)]


def test_a_fork_of_a_blank_fork_inherits_nothing_above_it() -> None:
    path = visible_path(a_chain(9, 0, None))
    assert [s.conversation_id for s in path] == ["c1", "c0"]


def test_a_fork_of_a_fork_at_its_first_entry_keeps_the_inherited_part() -> None:
    path = visible_path(a_chain(4, 4, None))
    assert path == [
        Segment(ConversationId("c2"), 4),
        Segment(ConversationId("c1"), 4),
        Segment(ConversationId("c0"), UNLIMITED),
    ]


def test_the_lowest_fork_point_below_cuts_an_ancestor() -> None:
    path = visible_path(a_chain(3, 8, None))
    assert [s.cut for s in path] == [3, 3, UNLIMITED]
