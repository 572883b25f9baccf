"""Whose events a caller may read: the owner those of own spaces, an auditor all."""

from dataclasses import dataclass

from recollect.domain.agents import AgentId, Owner, OwnerKind
from recollect.policy.requesters import Requester


@dataclass(frozen=True, slots=True)
class EventReader:
    """Who reads. `everything` is an auditor's; `acts_for_owner` is as in `Caller`.

    | space of the event | who else reads it |
    | --- | --- |
    | of an agent | the agent's present owner |
    | run, org, none | the owner of the agent that it names |
    | user | that user |
    | chat | who takes part now |
    """

    who: Owner
    everything: bool = False
    acts_for_owner: bool = False

    @classmethod
    def of(cls, requester: Requester) -> "EventReader":
        """The reader that a requester is."""
        return cls(requester.who, requester.auditor, requester.principal.acts_for_owner)

    @property
    def acting(self) -> AgentId | None:
        """The agent that has its owner's rights in its own spaces."""
        acts = self.acts_for_owner and self.who.kind is OwnerKind.AGENT
        return AgentId(self.who.id) if acts else None
