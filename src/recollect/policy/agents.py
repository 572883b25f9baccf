"""Who may change an agent's registration. It says nothing of the agent's memories."""

from recollect.domain.registry import Agent
from recollect.policy.decide import Decision
from recollect.policy.spaces import Caller


def may_change(caller: Caller, agent: Agent) -> Decision:
    """Name, description, mode, metadata and removal: the owner, an admin, and the creator as long
    as the agent owns itself, because it may have no credential to act with."""
    if caller.who == agent.owner:
        return Decision(True, "owner")
    if caller.admin:
        return Decision(True, "admin")
    if agent.owns_itself and caller.who == agent.created_by:
        return Decision(True, "creator of an agent that owns itself")
    return Decision(False, "needs the owner or an admin")


def may_hand_over(caller: Caller, agent: Agent) -> Decision:
    """The private memories go with the agent, so its creator has no say in it."""
    if caller.who == agent.owner:
        return Decision(True, "owner")
    return Decision(
        caller.admin, "admin" if caller.admin else "needs the present owner or an admin"
    )
