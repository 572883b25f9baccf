"""Which events a caller may read: owners those of their own spaces, auditors all."""

from dataclasses import dataclass

from recollect.identity.requester import Requester
from recollect.kernel.ids import AgentId
from recollect.kernel.owner import Owner, OwnerKind


@dataclass(frozen=True, slots=True)
class EventReader:
    """Who reads the log. `everything` is True for auditors; `acts_for_owner` is as in `Caller`.
    Anybody else reads by the space of the event:

    | space of the event | who reads it |
    | --- | --- |
    | of an agent | the agent's present owner |
    | run, org, none | the owner of the agent that it names |
    | user | that user |
    | chat | who takes part now; what happened to a memory, if they may read it or did it |

    In its chat a memory is read by all participants if it is public or about nobody, else by the
    people it is about. Who can't read it does not learn of it from the log either.
    """

    who: Owner
    everything: bool = False
    acts_for_owner: bool = False

    @classmethod
    def from_requester(cls, requester: Requester) -> "EventReader":
        """The requester as a reader of events."""
        return cls(requester.identity, requester.is_auditor, requester.principal.acts_for_owner)

    @property
    def acting_agent(self) -> AgentId | None:
        """The agent's id, if the reader is an agent with its owner's rights in its own spaces."""
        acts = self.acts_for_owner and self.who.kind is OwnerKind.AGENT
        return AgentId(self.who.id) if acts else None
