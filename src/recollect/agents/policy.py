"""Who may change the registration of an agent. Rights on its memories are rules of spaces."""

from recollect.agents.model import Agent
from recollect.identity.decide import AccessDecision
from recollect.identity.model import Caller


def may_change(caller: Caller, agent: Agent) -> AccessDecision:
    """May the caller change name, description, mode and metadata, or remove the agent?

    The owner and admins may. The creator may while the agent owns itself: such an agent may have no
    credential, and then nobody else could change it.
    """
    if caller.who == agent.owner:
        return AccessDecision(True, "owner")
    if caller.admin:
        return AccessDecision(True, "admin")
    if agent.owns_itself and caller.who == agent.created_by:
        return AccessDecision(True, "creator of an agent that owns itself")
    return AccessDecision(False, "needs the owner or an admin")


def may_hand_over(caller: Caller, agent: Agent) -> AccessDecision:
    """May the caller give the agent to another owner? The new owner gets to read its private
    memories, so the creator may not."""
    if caller.who == agent.owner:
        return AccessDecision(True, "owner")
    return AccessDecision(
        caller.admin, "admin" if caller.admin else "needs the present owner or an admin"
    )
