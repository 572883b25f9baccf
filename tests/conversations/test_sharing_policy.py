"""Who may change whose membership: the contract's table, written out, in all combinations."""

from itertools import product

import pytest

from recollect.conversations.sharing.policy import (
    MembershipRuling,
    decide_membership_change,
)
from recollect.kernel.access_level import Level

OUTCOMES = {
    "yes": MembershipRuling.ALLOWED,
    "403": MembershipRuling.FORBIDDEN,
    "400": MembershipRuling.OWNER_NOT_GRANTED,
    "409": MembershipRuling.OWNER_STAYS,
}

LEVELS: list[Level | None] = [None, *Level]

# A row is somebody's present level, a column the wanted one; `none` is no membership.
CHANGES_BY_OWNER = """
present  none  reader  writer  manager  owner
none     yes   yes     yes     yes      400
reader   yes   yes     yes     yes      400
writer   yes   yes     yes     yes      400
manager  yes   yes     yes     yes      400
owner    409   409     409     409      400
"""

CHANGES_BY_MANAGER = """
present  none  reader  writer  manager  owner
none     yes   yes     yes     403      400
reader   yes   yes     yes     403      400
writer   yes   yes     yes     403      400
manager  403   403     403     403      400
owner    403   403     403     403      400
"""

CHANGES_BY_OTHERS = """
present  none  reader  writer  manager  owner
none     403   403     403     403      403
reader   403   403     403     403      403
writer   403   403     403     403      403
manager  403   403     403     403      403
owner    403   403     403     403      403
"""

TABLES = {
    Level.OWNER: CHANGES_BY_OWNER,
    Level.MANAGER: CHANGES_BY_MANAGER,
    Level.WRITER: CHANGES_BY_OTHERS,
    Level.READER: CHANGES_BY_OTHERS,
    None: CHANGES_BY_OTHERS,
}

LEAVING = {Level.OWNER: "409", Level.MANAGER: "yes", Level.WRITER: "yes", Level.READER: "yes"}


def level(word: str) -> Level | None:
    return None if word == "none" else Level.from_word(word)


def cells(table: str) -> dict[tuple[Level | None, Level | None], str]:
    head, *rows = [line.split() for line in table.strip().splitlines()]
    return {
        (level(row[0]), level(wanted)): cell
        for row in rows
        for wanted, cell in zip(head[1:], row[1:], strict=True)
    }


def test_the_tables_leave_no_combination_out() -> None:
    assert set(TABLES) == set(LEVELS)
    assert all(set(cells(table)) == set(product(LEVELS, LEVELS)) for table in TABLES.values())


@pytest.mark.parametrize("actor", LEVELS)
@pytest.mark.parametrize(("present", "wanted"), list(product(LEVELS, LEVELS)))
def test_a_change_of_somebody_else_meets_the_ruling_of_the_table(
    actor: Level | None, present: Level | None, wanted: Level | None
) -> None:
    expected = OUTCOMES[cells(TABLES[actor])[present, wanted]]
    assert decide_membership_change(actor, present=present, wanted=wanted) is expected


@pytest.mark.parametrize(("actor", "outcome"), LEAVING.items())
def test_everybody_but_the_owner_may_leave(actor: Level, outcome: str) -> None:
    ruling = decide_membership_change(actor, present=actor, wanted=None, own=True)
    assert ruling is OUTCOMES[outcome]


def test_who_is_no_member_has_nothing_to_leave() -> None:
    assert (
        decide_membership_change(None, present=None, wanted=None, own=True)
        is MembershipRuling.FORBIDDEN
    )


@pytest.mark.parametrize(("actor", "wanted"), list(product(Level, Level)))
def test_nobody_changes_the_own_level(actor: Level, wanted: Level) -> None:
    expected = OUTCOMES[cells(TABLES[actor])[actor, wanted]]
    assert expected is not MembershipRuling.ALLOWED
    assert decide_membership_change(actor, present=actor, wanted=wanted, own=True) is expected


@pytest.mark.parametrize(("present", "wanted"), list(product(LEVELS, LEVELS)))
def test_more_level_never_loses_a_change(present: Level | None, wanted: Level | None) -> None:
    rulings = [decide_membership_change(actor, present=present, wanted=wanted) for actor in LEVELS]
    allowed = [ruling is MembershipRuling.ALLOWED for ruling in rulings]
    assert allowed == sorted(allowed)
