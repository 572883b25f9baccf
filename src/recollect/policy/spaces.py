"""Who may read and who may write a space.

These rights cover every row of the space. Disclosure can additionally show single rows of users'
and chats' spaces to others. `visibility/spaces_sql.py` has the same rules as SQL.
"""

from collections.abc import Callable
from dataclasses import dataclass

from recollect.domain.agents import AgentId, Owner
from recollect.domain.spaces import OrgId, Space, SpaceKind
from recollect.policy.decide import Decision


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request: a user or an agent.

    `acts_for_owner` comes from the agent's credential, never from a header. `orgs` are the user's
    orgs, or the agent's single org. The owner of an agent does not get the agent's org.
    """

    who: Owner
    orgs: frozenset[OrgId] = frozenset()
    acts_for_owner: bool = False
    admin: bool = False


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


def may_read(caller: Caller, view: SpaceView) -> Decision:
    """May the caller read every row of the space?"""
    return _first(_READERS.get(view.space.kind, ()), caller, view)


def may_write(caller: Caller, view: SpaceView) -> Decision:
    """May the caller add, change and delete rows there? In an org the answer depends on the agent
    that wrote the row, so it must be asked for each row."""
    return _first(_WRITERS.get(view.space.kind, ()), caller, view)


def all_may_read(callers: tuple[Caller, ...], view: SpaceView) -> bool:
    """May all callers read the space? False without callers.

    In a chat an agent may ask for a person. Where disclosure plays no part both need the right;
    otherwise either could use the other's rights.
    """
    return bool(callers) and all(may_read(caller, view).allowed for caller in callers)


_Rule = Callable[[Caller, SpaceView], bool]
_Named = tuple[str, _Rule]


def _first(rules: tuple[_Named, ...], caller: Caller, view: SpaceView) -> Decision:
    for name, holds in rules:
        if holds(caller, view):
            return Decision(True, name)
    return Decision(False, "needs " + (" or ".join(name for name, _ in rules) or "a known kind"))


def _anyone(_caller: Caller, _view: SpaceView) -> bool:
    return True


def _owns(caller: Caller, view: SpaceView) -> bool:
    return caller.who == view.agent_owner


def _acts(caller: Caller, view: SpaceView) -> bool:
    """An agent with its owner's rights has them in its own agent spaces only. In its runs it may
    read and write anyway; anywhere else, also in its org's space, acting gives it nothing."""
    return caller.acts_for_owner and caller.who == Owner.agent(view.space.id)


def _is_that_user(caller: Caller, view: SpaceView) -> bool:
    return caller.who == Owner.user(view.space.id)


def _takes_part(caller: Caller, view: SpaceView) -> bool:
    return caller.who in view.participants


def _runs(caller: Caller, view: SpaceView) -> bool:
    return view.agent_id is not None and caller.who == Owner.agent(view.agent_id)


def _in_lineage(caller: Caller, view: SpaceView) -> bool:
    return any(caller.who == Owner.agent(agent_id) for agent_id in view.lineage)


def _in_org(caller: Caller, view: SpaceView) -> bool:
    return view.space.id in caller.orgs


def _is_admin(caller: Caller, _view: SpaceView) -> bool:
    return caller.admin


_OWNER: tuple[_Named, ...] = (("owner", _owns), ("acting agent", _acts))
_RUN: tuple[_Named, ...] = (("owner", _owns), ("running agent", _runs))
_USER: tuple[_Named, ...] = (("that user", _is_that_user),)
_CHAT: tuple[_Named, ...] = (("participant", _takes_part),)
_PUBLIC: tuple[_Named, ...] = (("anyone", _anyone),)

# A kind that is missing in a table has no rules, so nobody has that right.
_READERS: dict[SpaceKind, tuple[_Named, ...]] = {
    SpaceKind.AGENT_PRIVATE: _OWNER,
    SpaceKind.AGENT_PUBLIC: _PUBLIC,
    SpaceKind.AGENT: _PUBLIC,
    SpaceKind.USER: _USER,
    SpaceKind.CHAT: _CHAT,
    SpaceKind.RUN: (*_RUN, ("agent of the lineage", _in_lineage)),
    SpaceKind.ORG: (("member of the org", _in_org),),
}
_WRITERS: dict[SpaceKind, tuple[_Named, ...]] = {
    SpaceKind.AGENT_PRIVATE: _OWNER,
    SpaceKind.AGENT_PUBLIC: _OWNER,
    SpaceKind.AGENT: _OWNER,
    SpaceKind.USER: _USER,
    SpaceKind.CHAT: _CHAT,
    SpaceKind.RUN: _RUN,
    SpaceKind.ORG: (("owner", _owns), ("admin", _is_admin)),
}
