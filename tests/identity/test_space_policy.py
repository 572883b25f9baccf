"""Who may read and write which space: the contract's table, written out, for every kind of caller.

A is an agent of Olga's, in org acme. Its run has an ancestor run of agent `parent`, a descendant of
agent `child`, and a sibling of agent `sibling`.
"""

from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.identity.model import Caller
from recollect.identity.space_policy import (
    SpaceView,
    all_may_read,
    may_read,
    may_write,
)
from recollect.kernel.ids import AgentId, OrgId
from recollect.kernel.owner import Owner
from recollect.kernel.space import Space, SpaceKind

ACME, OTHER = frozenset({OrgId("acme")}), frozenset({OrgId("other")})
OLGA = Owner.user("olga")
ANN = Owner.user("ann")

CALLERS = {
    "owner": Caller(OLGA, ACME),
    "user": Caller(Owner.user("bob"), ACME),
    "foreign": Caller(Owner.user("eve"), OTHER),
    "admin": Caller(Owner.user("root"), OTHER, admin=True),
    "ann": Caller(ANN, OTHER),
    "member": Caller(Owner.user("mia"), OTHER),
    "agent": Caller(Owner.agent("A"), ACME),
    "acting": Caller(Owner.agent("A"), ACME, acts_for_owner=True),
    "user_A": Caller(Owner.user("A"), OTHER, acts_for_owner=True),
    "agent_olga": Caller(Owner.agent("olga"), OTHER),
    "agent_ann": Caller(Owner.agent("ann"), OTHER),
    "child": Caller(Owner.agent("child"), OTHER),
    "parent": Caller(Owner.agent("parent"), OTHER),
    "sibling": Caller(Owner.agent("sibling"), ACME, acts_for_owner=True),
    "user_child": Caller(Owner.user("child"), OTHER),
}
VIEWS = {
    SpaceKind.AGENT_PRIVATE: SpaceView(Space(SpaceKind.AGENT_PRIVATE, "A"), agent_owner=OLGA),
    SpaceKind.AGENT_PUBLIC: SpaceView(Space(SpaceKind.AGENT_PUBLIC, "A"), agent_owner=OLGA),
    SpaceKind.AGENT: SpaceView(Space(SpaceKind.AGENT, "A"), agent_owner=OLGA),
    SpaceKind.USER: SpaceView(Space(SpaceKind.USER, "ann")),
    SpaceKind.CHAT: SpaceView(
        Space(SpaceKind.CHAT, "g1"),
        participants=frozenset({Owner.user("mia"), Owner.agent("A")}),
    ),
    SpaceKind.RUN: SpaceView(
        Space(SpaceKind.RUN, "r1"),
        agent_id=AgentId("A"),
        agent_owner=OLGA,
        lineage=frozenset({AgentId("child"), AgentId("parent")}),
    ),
    SpaceKind.ORG: SpaceView(Space(SpaceKind.ORG, "acme"), agent_id=AgentId("A"), agent_owner=OLGA),
}

# A cell: r may read, w may write.
TABLE = """
caller      agent_private  agent_public  agent  user  chat  run  org
owner       rw             rw            rw     -     -     rw   rw
user        -              r             r      -     -     -    r
foreign     -              r             r      -     -     -    -
admin       -              r             r      -     -     -    w
ann         -              r             r      rw    -     -    -
member      -              r             r      -     rw    -    -
agent       -              r             r      -     rw    rw   r
acting      rw             rw            rw     -     rw    rw   r
user_A      -              r             r      -     -     -    -
agent_olga  -              r             r      -     -     -    -
agent_ann   -              r             r      -     -     -    -
child       -              r             r      -     -     r    -
parent      -              r             r      -     -     r    -
sibling     -              r             r      -     -     -    r
user_child  -              r             r      -     -     -    -
"""
HEAD, *ROWS = [line.split() for line in TABLE.split("\n") if line]
CELLS = [(row[0], kind, cell) for row in ROWS for kind, cell in zip(HEAD[1:], row[1:], strict=True)]

names = st.sampled_from("AB")
owners = st.builds(Owner.user, names) | st.builds(Owner.agent, names)
callers = st.builds(
    Caller,
    owners,
    st.frozensets(st.sampled_from([OrgId("A"), OrgId("B")])),
    st.booleans(),
    st.booleans(),
)
agent_ids = st.sampled_from([AgentId("A"), AgentId("B")])
views = st.builds(
    SpaceView,
    st.builds(Space, st.sampled_from(SpaceKind), names),
    st.none() | agent_ids,
    st.none() | owners,
    st.frozensets(owners),
    st.frozensets(agent_ids),
)


@pytest.mark.parametrize(("caller", "kind", "cell"), CELLS)
def test_each_caller_may_do_what_the_table_says(caller: str, kind: str, cell: str) -> None:
    view = VIEWS[SpaceKind(kind)]
    assert may_read(CALLERS[caller], view).allowed == ("r" in cell)
    assert may_write(CALLERS[caller], view).allowed == ("w" in cell)


def test_the_table_has_every_kind_and_every_caller() -> None:
    assert set(HEAD[1:]) == set(SpaceKind)
    assert [row[0] for row in ROWS] == list(CALLERS)


def test_an_agent_that_owns_itself_writes_as_itself_and_a_user_of_that_id_does_not() -> None:
    view = SpaceView(Space(SpaceKind.AGENT_PRIVATE, "A"), agent_owner=Owner.agent("A"))
    assert may_write(Caller(Owner.agent("A")), view).allowed
    assert not may_write(Caller(Owner.user("A")), view).allowed


def test_an_answer_names_its_rule_and_a_refusal_what_is_needed() -> None:
    run = VIEWS[SpaceKind.RUN]
    assert may_read(CALLERS["child"], run).rule == "agent of the lineage"
    assert may_write(CALLERS["child"], run).rule == "needs owner or running agent"


def test_a_kind_that_nobody_knows_is_closed() -> None:
    view = SpaceView(Space(cast(SpaceKind, "team"), "A"), agent_owner=OLGA)
    for caller in CALLERS.values():
        assert not may_read(caller, view).allowed
        assert not may_write(caller, view).allowed


def test_an_agent_in_a_chat_borrows_nothing_from_the_person_it_asks_for() -> None:
    private = VIEWS[SpaceKind.AGENT_PRIVATE]
    assert all_may_read((CALLERS["owner"], CALLERS["acting"]), private)
    assert not all_may_read((CALLERS["owner"], CALLERS["sibling"]), private)
    assert not all_may_read((CALLERS["user"], CALLERS["acting"]), private)
    assert not all_may_read((), VIEWS[SpaceKind.AGENT_PUBLIC])


@given(callers, views)
def test_who_writes_may_read_except_in_an_org(caller: Caller, view: SpaceView) -> None:
    if view.space.kind is not SpaceKind.ORG and may_write(caller, view).allowed:
        assert may_read(caller, view).allowed


@given(callers, views)
def test_being_admin_opens_nothing_to_read(caller: Caller, view: SpaceView) -> None:
    plain = Caller(caller.who, caller.orgs, caller.acts_for_owner, admin=False)
    assert may_read(caller, view) == may_read(plain, view)
    if view.space.kind is not SpaceKind.ORG:
        assert may_write(caller, view) == may_write(plain, view)


@given(callers, views)
def test_more_orgs_and_acting_for_the_owner_never_hide(caller: Caller, view: SpaceView) -> None:
    more = Caller(caller.who, caller.orgs | {OrgId("A"), OrgId("B")}, True, caller.admin)
    assert may_read(caller, view).allowed <= may_read(more, view).allowed
    assert may_write(caller, view).allowed <= may_write(more, view).allowed


@given(callers, views)
def test_a_private_space_of_an_agent_is_its_owners_whatever_else_is_granted(
    caller: Caller, view: SpaceView
) -> None:
    private = Space(SpaceKind.AGENT_PRIVATE, view.space.id)
    closed = SpaceView(private, view.agent_id, view.agent_owner, view.participants, view.lineage)
    itself = caller.acts_for_owner and caller.who == Owner.agent(view.space.id)
    if caller.who != view.agent_owner and not itself:
        assert not may_read(caller, closed).allowed
        assert not may_write(caller, closed).allowed
