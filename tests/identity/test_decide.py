"""Both answers of policy agree, more rights never take anything away, and the table is a snapshot.

The space of callers and views is small, so each property is tried on all of it.
"""

from collections.abc import Callable
from itertools import chain, combinations, product
from pathlib import Path
from typing import cast

import pytest

from recollect.identity.actions import LEAST_LEVEL, NEEDS_ROLE, Action
from recollect.identity.decide import decide, scope_for
from recollect.identity.model import Principal, ServerRole
from recollect.identity.scope import TreeScope
from recollect.identity.tree_view import TreeAccess
from recollect.kernel.access_level import Level
from recollect.kernel.ids import ClientId, UserId

SNAPSHOT = Path(__file__).with_name("actions_by_level.txt")
LEVELS: list[Level | None] = [None, *Level]
VIEWS = [TreeAccess(deleted, level) for deleted, level in product([False, True], LEVELS)]
ROLE_SETS = [
    frozenset(c) for c in chain.from_iterable(combinations(ServerRole, n) for n in range(4))
]
UNKNOWN = [cast(Action, word) for word in ("", "conversation", "conversation.READ", "admin.*")]


def a_principal(*roles: ServerRole, key: bool = False, trusted: bool = False) -> Principal:
    client = ClientId("k1") if key else None
    return Principal(UserId("ann"), client, trusted, frozenset(roles))


PRINCIPALS = [
    a_principal(*roles, key=key, trusted=trusted)
    for roles, key, trusted in product(ROLE_SETS, [False, True], [False, True])
]


@pytest.mark.parametrize("action", [*Action, *UNKNOWN])
def test_what_is_visible_is_what_is_allowed(action: Action) -> None:
    for principal, view in product(PRINCIPALS, VIEWS):
        assert scope_for(principal, action).matches(view) == decide(principal, action, view).allowed


@pytest.mark.parametrize("action", Action)
def test_more_level_never_loses_an_action(action: Action) -> None:
    for principal, deleted in product(PRINCIPALS, [False, True]):
        allowed = [
            decide(principal, action, TreeAccess(deleted, level)).allowed for level in LEVELS
        ]
        assert allowed == sorted(allowed)


@pytest.mark.parametrize("action", Action)
def test_a_role_or_a_key_never_hides(action: Action) -> None:
    for view, fewer, more in product(VIEWS, PRINCIPALS, PRINCIPALS):
        if fewer.roles <= more.roles and (more.client_id or not fewer.client_id):
            allowed = decide(fewer, action, view).allowed
            assert not allowed or decide(more, action, view).allowed


@pytest.mark.parametrize("action", UNKNOWN)
def test_an_unknown_action_is_denied_to_everybody(action: Action) -> None:
    for principal, view in product(PRINCIPALS, VIEWS):
        assert decide(principal, action, view).rule == "unknown action"
        assert not decide(principal, action, view).allowed
    assert scope_for(a_principal(ServerRole.ADMIN, key=True), action) == TreeScope.nothing()


def test_every_action_has_one_rule() -> None:
    assert LEAST_LEVEL.keys() | NEEDS_ROLE.keys() == set(Action)
    assert not LEAST_LEVEL.keys() & NEEDS_ROLE.keys()


@pytest.mark.parametrize("action", LEAST_LEVEL)
def test_a_role_gives_no_membership(action: Action) -> None:
    stranger = TreeAccess(deleted=False, level=None)
    assert not any(decide(p, action, stranger).allowed for p in PRINCIPALS)


@pytest.mark.parametrize("action", LEAST_LEVEL)
def test_a_deleted_tree_is_closed_to_its_members(action: Action) -> None:
    deleted = TreeAccess(deleted=True, level=Level.OWNER)
    assert not any(decide(p, action, deleted).allowed for p in PRINCIPALS)


def test_a_system_scope_holds_every_tree_and_no_scope_none() -> None:
    assert all(TreeScope.system("test").matches(view) for view in VIEWS)
    assert not any(TreeScope.nothing().matches(view) for view in VIEWS)


def test_the_table_of_actions_by_level_is_as_reviewed() -> None:
    assert "\n".join(table()) + "\n" == SNAPSHOT.read_text("utf-8")


def table() -> list[str]:
    """A line an action: `yes`, `key` (only with an API key) or `-`, over levels and over roles."""
    words = [level.word if level else "stranger" for level in LEVELS]
    rows = [
        [action.value, *map(_by_level(action), LEVELS), *map(_by_role(action), ServerRole)]
        for action in Action
    ]
    return [_line(["action", *words, *ServerRole]), *map(_line, rows)]


def _by_level(action: Action) -> Callable[[Level | None], str]:
    return lambda level: _cell(action, TreeAccess(deleted=False, level=level))


def _by_role(action: Action) -> Callable[[ServerRole], str]:
    return lambda role: _cell(action, TreeAccess(deleted=False, level=None), role)


def _cell(action: Action, view: TreeAccess, *roles: ServerRole) -> str:
    if decide(a_principal(*roles), action, view).allowed:
        return "yes"
    return "key" if decide(a_principal(*roles, key=True), action, view).allowed else "-"


def _line(words: list[str]) -> str:
    return (f"{words[0]:<27}" + "".join(f"{word:<10}" for word in words[1:])).rstrip()
