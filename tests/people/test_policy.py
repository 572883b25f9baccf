"""Who may do what with a person, a claim and a chat's participants: the contract's table, written
out for every kind of caller.

Ann created Bob, an unlinked person, and the person of the user Lea. Bob and Lea belong to acme.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.identity.model import Caller
from recollect.kernel.ids import OrgId, UserId
from recollect.kernel.owner import Owner
from recollect.people.chat_policy import (
    ChatAccess,
    may_add_participant,
    may_remove_participant,
    may_see_chat,
)
from recollect.people.policy import (
    ClaimView,
    PersonView,
    may_add_alias,
    may_change,
    may_delete,
    may_erase,
    may_link_user,
    may_merge,
    may_see_claim,
    may_see_name,
    may_see_user,
    may_set_time_zone,
    may_take_handle,
    may_withdraw,
)

ACME, OTHER = frozenset({OrgId("acme")}), frozenset({OrgId("other")})
ANN = Owner.user("ann")
BOB = PersonView(ANN, orgs=ACME)
LEA = PersonView(ANN, frozenset({UserId("lea")}), ACME)

CALLERS = {
    "ann": Caller(ANN, OTHER),
    "lea": Caller(Owner.user("lea"), OTHER),
    "member": Caller(Owner.user("mia"), ACME),
    "admin": Caller(Owner.user("root"), OTHER, admin=True),
    "foreign": Caller(Owner.user("eve"), OTHER),
    "agent_ann": Caller(Owner.agent("ann"), OTHER, acts_for_owner=True),
    "agent_lea": Caller(Owner.agent("lea"), OTHER, acts_for_owner=True),
}
RIGHTS = {
    "name": may_see_name,
    "user": may_see_user,
    "change": may_change,
    "zone": may_set_time_zone,
    "alias": may_add_alias,
    "handle": lambda caller, view: may_add_alias(caller, view, handle=True),
    "erase": may_erase,
    "delete": may_delete,
}

# A cell: b may do it to Bob, l may do it to Lea.
TABLE = """
caller     name  user  change  zone  alias  handle  erase  delete
ann        bl    -     bl      -     bl     b       -      b
lea        l     l     l       l     l      l       l      -
member     bl    -     -       -     -      -       -      -
admin      -     -     -       -     -      l       bl     -
foreign    -     -     -       -     -      -       -      -
agent_ann  -     -     -       -     -      -       -      -
agent_lea  -     -     -       -     -      -       -      -
"""
HEAD, *ROWS = [line.split() for line in TABLE.split("\n") if line]
CELLS = [
    (row[0], right, cell) for row in ROWS for right, cell in zip(HEAD[1:], row[1:], strict=True)
]

ids = st.sampled_from("ab")
owners = st.builds(Owner.user, ids) | st.builds(Owner.agent, ids)
orgs = st.sampled_from([OrgId("x"), OrgId("y")])
callers = st.builds(Caller, owners, st.frozensets(orgs), st.booleans(), st.booleans())
people = st.builds(
    PersonView,
    owners,
    st.frozensets(ids.map(UserId)),
    st.frozensets(orgs),
    st.booleans(),
)
claims = st.builds(ClaimView, owners, st.frozensets(ids.map(UserId)), st.frozensets(owners))


@pytest.mark.parametrize(("caller", "right", "cell"), CELLS)
def test_each_caller_may_do_what_the_table_says(caller: str, right: str, cell: str) -> None:
    assert RIGHTS[right](CALLERS[caller], BOB).allowed == ("b" in cell)
    assert RIGHTS[right](CALLERS[caller], LEA).allowed == ("l" in cell)


def test_the_table_has_every_right_and_every_caller() -> None:
    assert HEAD[1:] == list(RIGHTS)
    assert [row[0] for row in ROWS] == list(CALLERS)


def test_a_common_chat_and_an_auditor_see_which_user_it_is() -> None:
    met = PersonView(ANN, LEA.user_ids, LEA.orgs, in_common_chat=True)
    assert may_see_user(CALLERS["foreign"], met).rule == "somebody in a common chat"
    assert may_see_name(CALLERS["foreign"], met).allowed
    assert not may_change(CALLERS["foreign"], met).allowed
    assert may_see_user(CALLERS["foreign"], LEA, auditor=True).rule == "auditor"


def test_a_person_without_org_is_seen_by_no_org() -> None:
    assert not may_see_name(CALLERS["member"], PersonView(ANN)).allowed


def test_a_merge_needs_the_right_over_both() -> None:
    other = PersonView(Owner.user("zoe"), orgs=ACME)
    assert may_merge(CALLERS["ann"], BOB, LEA).allowed
    assert not may_merge(CALLERS["ann"], BOB, other).allowed
    assert not may_merge(CALLERS["ann"], other, BOB).allowed
    assert not may_merge(CALLERS["foreign"], BOB, LEA).allowed


def test_an_admin_merges_users_when_asked_to_link_them_and_nobody_else() -> None:
    tom = PersonView(Owner.user("tom"), frozenset({UserId("tom")}))
    zoe = PersonView(Owner.user("zoe"), orgs=ACME)
    assert may_merge(CALLERS["admin"], LEA, tom, link_users=True).allowed
    assert not may_merge(CALLERS["admin"], LEA, tom).allowed
    assert may_merge(CALLERS["admin"], BOB, LEA, link_users=True).allowed
    assert not may_merge(CALLERS["admin"], BOB, LEA).allowed
    assert not may_merge(CALLERS["admin"], BOB, zoe, link_users=True).allowed
    assert not may_merge(CALLERS["lea"], LEA, tom, link_users=True).allowed


# Who may make one of two whom they may both change, by whether each is a user.
SAME = """
primary   secondary  others_refer  anybody  admin
user      user       yes           yes      yes
unlinked  unlinked   yes           yes      yes
user      unlinked   no            yes      yes
user      unlinked   yes           no       yes
unlinked  user       no            yes      yes
unlinked  user       yes           no       yes
"""


@pytest.mark.parametrize("row", [line.split() for line in SAME.splitlines()[2:]])
def test_only_an_admin_says_that_a_user_is_whom_others_refer_to(row: list[str]) -> None:
    kinds = {"user": LEA, "unlinked": BOB}
    primary, secondary = kinds[row[0]], kinds[row[1]]
    for name, allowed in (
        ("ann", row[3]),
        ("lea", row[3]),
        ("agent_ann", row[3]),
        ("admin", row[4]),
    ):
        told = may_link_user(CALLERS[name], primary, secondary, others_refer=row[2] == "yes")
        assert told.allowed == (allowed == "yes")


def test_only_an_admin_states_another_users_id_as_a_handle() -> None:
    for name, caller in CALLERS.items():
        assert may_take_handle(caller, of_another=False).allowed
        assert may_take_handle(caller, of_another=True).allowed == (name == "admin")


def test_a_claim_is_seen_by_stater_person_and_chat_and_withdrawn_by_its_stater() -> None:
    mia = Owner.user("mia")
    claim = ClaimView(ANN, frozenset({UserId("lea")}), frozenset({mia, Owner.agent("ann")}))
    seen = {name for name, caller in CALLERS.items() if may_see_claim(caller, claim).allowed}
    withdrawn = {name for name, caller in CALLERS.items() if may_withdraw(caller, claim).allowed}
    assert seen == {"ann", "lea", "member", "agent_ann"}
    assert withdrawn == {"ann"}


def test_a_claim_made_outside_any_chat_stays_between_stater_and_person() -> None:
    claim = ClaimView(ANN, frozenset({UserId("lea")}))
    seen = {name for name, caller in CALLERS.items() if may_see_claim(caller, claim).allowed}
    assert seen == {"ann", "lea"}


def test_a_refusal_names_what_is_needed() -> None:
    assert may_change(CALLERS["foreign"], BOB).rule == "needs creator or that user"
    assert may_delete(CALLERS["ann"], LEA).rule == "needs a person without a user"


def test_participants_see_and_add_the_creator_adds_and_removes() -> None:
    chat = ChatAccess(ANN, frozenset({Owner.user("mia"), Owner.agent("lea")}))
    rights = {
        name: (
            may_see_chat(caller, chat).allowed,
            may_add_participant(caller, chat).allowed,
            may_remove_participant(caller, chat, oneself=False).allowed,
        )
        for name, caller in CALLERS.items()
    }
    assert rights == {
        "ann": (False, True, True),
        "lea": (False, False, False),
        "member": (True, True, False),
        "admin": (False, False, True),
        "foreign": (False, False, False),
        "agent_ann": (False, False, False),
        "agent_lea": (True, True, False),
    }


def test_everybody_may_leave() -> None:
    assert (
        may_remove_participant(CALLERS["foreign"], ChatAccess(ANN), oneself=True).rule == "oneself"
    )


@given(callers, people)
def test_being_admin_counts_for_handles_and_erasure_only(caller: Caller, view: PersonView) -> None:
    plain = Caller(caller.who, caller.orgs, caller.acts_for_owner, admin=False)
    for right in (
        may_see_name,
        may_see_user,
        may_change,
        may_set_time_zone,
        may_add_alias,
        may_delete,
    ):
        assert right(caller, view) == right(plain, view)


@given(callers, people)
def test_a_linked_person_is_never_deleted_and_who_deletes_may_change(
    caller: Caller, view: PersonView
) -> None:
    deletes = may_delete(caller, view).allowed
    assert deletes == (may_change(caller, view).allowed and not view.user_ids)


@given(callers, people, people)
def test_a_merge_has_no_direction(caller: Caller, one: PersonView, other: PersonView) -> None:
    for link_users in (False, True):
        there = may_merge(caller, one, other, link_users=link_users)
        back = may_merge(caller, other, one, link_users=link_users)
        assert there.allowed == back.allowed


@given(callers, claims)
def test_who_withdraws_a_claim_sees_it(caller: Caller, claim: ClaimView) -> None:
    assert may_withdraw(caller, claim).allowed <= may_see_claim(caller, claim).allowed


@given(callers, people)
def test_an_agent_is_never_the_person(caller: Caller, view: PersonView) -> None:
    agent = Caller(Owner.agent(caller.who.id), acts_for_owner=True)
    assert not may_set_time_zone(agent, view).allowed
    assert not may_erase(agent, view).allowed
