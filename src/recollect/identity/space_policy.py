"""Who may read and who may write a space.

These rights cover every row of the space. Disclosure can additionally show single rows of users'
and chats' spaces to others. `visibility/spaces_sql.py` has the same rules as SQL.
"""

from collections.abc import Callable
from dataclasses import dataclass

from recollect.identity.decide import AccessDecision
from recollect.identity.model import Caller
from recollect.kernel.ids import AgentId
from recollect.kernel.owner import Owner
from recollect.kernel.space import Space, SpaceKind


@dataclass(frozen=True, slots=True)
class SpaceView:
    """A space, with the facts that its rules need:

    | kind | facts |
    | --- | --- |
    | agent spaces | `agent_owner`, the current owner of the agent `space.id` |
    | run | `agent_id` of the run, its `agent_owner`, `lineage`: agents of ancestor and descendant
      runs. Ancestors are the parent and its ancestors, descendants the children and theirs; a
      sibling is neither |
    | org | `agent_id` that wrote the row, or is about to; its `agent_owner` |
    | chat | current `participants` |
    | user | nothing |

    `lineage` and `participants` may be reduced to the caller.
    """

    space: Space
    agent_id: AgentId | None = None
    agent_owner: Owner | None = None
    participants: frozenset[Owner] = frozenset()
    lineage: frozenset[AgentId] = frozenset()


def may_read(caller: Caller, view: SpaceView) -> AccessDecision:
    """May the caller read every row of the space?"""
    return _decide_by_rules(_READERS.get(view.space.kind, ()), caller, view)


def may_write(caller: Caller, view: SpaceView) -> AccessDecision:
    """May the caller add, change and delete rows there? In an org the answer depends on the agent
    that wrote the row, so it must be asked for each row."""
    return _decide_by_rules(_WRITERS.get(view.space.kind, ()), caller, view)


def all_may_read(callers: tuple[Caller, ...], view: SpaceView) -> bool:
    """May all callers read the space? False without callers.

    In a chat an agent may ask for a person. Where disclosure plays no part both need the right;
    otherwise either could use the other's rights.
    """
    return bool(callers) and all(may_read(caller, view).allowed for caller in callers)


_Rule = Callable[[Caller, SpaceView], bool]
_NamedRule = tuple[str, _Rule]


def _decide_by_rules(
    rules: tuple[_NamedRule, ...], caller: Caller, view: SpaceView
) -> AccessDecision:
    for name, holds in rules:
        if holds(caller, view):
            return AccessDecision(True, name)
    return AccessDecision(
        False, "needs " + (" or ".join(name for name, _ in rules) or "a known kind")
    )


def _is_anyone(_caller: Caller, _view: SpaceView) -> bool:
    return True


def _is_agent_owner(caller: Caller, view: SpaceView) -> bool:
    return caller.who == view.agent_owner


def _is_acting_agent(caller: Caller, view: SpaceView) -> bool:
    """An agent with its owner's rights has them in its own agent spaces only. In its runs it may
    read and write anyway; anywhere else, also in its org's space, acting gives it nothing."""
    return caller.acts_for_owner and caller.who == Owner.agent(view.space.id)


def _is_that_user(caller: Caller, view: SpaceView) -> bool:
    return caller.who == Owner.user(view.space.id)


def _is_participant(caller: Caller, view: SpaceView) -> bool:
    return caller.who in view.participants


def _is_running_agent(caller: Caller, view: SpaceView) -> bool:
    return view.agent_id is not None and caller.who == Owner.agent(view.agent_id)


def _is_in_lineage(caller: Caller, view: SpaceView) -> bool:
    return any(caller.who == Owner.agent(agent_id) for agent_id in view.lineage)


def _is_in_org(caller: Caller, view: SpaceView) -> bool:
    return view.space.id in caller.orgs


def _is_admin(caller: Caller, _view: SpaceView) -> bool:
    return caller.admin


_OWNER_RULES: tuple[_NamedRule, ...] = (
    ("owner", _is_agent_owner),
    ("acting agent", _is_acting_agent),
)
_RUN_RULES: tuple[_NamedRule, ...] = (
    ("owner", _is_agent_owner),
    ("running agent", _is_running_agent),
)
_USER_RULES: tuple[_NamedRule, ...] = (("that user", _is_that_user),)
_CHAT_RULES: tuple[_NamedRule, ...] = (("participant", _is_participant),)
_PUBLIC_RULES: tuple[_NamedRule, ...] = (("anyone", _is_anyone),)

# A kind that is missing in a table has no rules, so nobody has that right.
_READERS: dict[SpaceKind, tuple[_NamedRule, ...]] = {
    SpaceKind.AGENT_PRIVATE: _OWNER_RULES,
    SpaceKind.AGENT_PUBLIC: _PUBLIC_RULES,
    SpaceKind.AGENT: _PUBLIC_RULES,
    SpaceKind.USER: _USER_RULES,
    SpaceKind.CHAT: _CHAT_RULES,
    SpaceKind.RUN: (*_RUN_RULES, ("agent of the lineage", _is_in_lineage)),
    SpaceKind.ORG: (("member of the org", _is_in_org),),
}
_WRITERS: dict[SpaceKind, tuple[_NamedRule, ...]] = {
    SpaceKind.AGENT_PRIVATE: _OWNER_RULES,
    SpaceKind.AGENT_PUBLIC: _OWNER_RULES,
    SpaceKind.AGENT: _OWNER_RULES,
    SpaceKind.USER: _USER_RULES,
    SpaceKind.CHAT: _CHAT_RULES,
    SpaceKind.RUN: _RUN_RULES,
    SpaceKind.ORG: (("owner", _is_agent_owner), ("admin", _is_admin)),
}
