"""What services ask of storage about agents and about the users behind requests."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.domain.agents import AgentId, Owner
from recollect.domain.disclosure import PersonId
from recollect.domain.ids import UserId
from recollect.domain.memories import MemoryId
from recollect.domain.registry import Agent
from recollect.domain.spaces import OrgId
from recollect.ports.database import Tx


@dataclass(frozen=True, slots=True)
class KnownUser:
    """A user who was here before: their person, all users of that person, and the user's orgs as
    last seen."""

    person_id: PersonId
    user_ids: frozenset[UserId]
    orgs: frozenset[OrgId]


class UserStore(Protocol):
    """Users as the memory family knows them."""

    def fetch(self, tx: Tx, user_id: UserId) -> KnownUser | None:
        """None at first sight."""
        ...

    def called(self, tx: Tx, handle: str, orgs: frozenset[OrgId]) -> frozenset[UserId]:
        """Users of these orgs whose id is this handle, in any letter case, with or without `@`."""
        ...

    def introduce(
        self, tx: Tx, user_id: UserId, person_id: PersonId, *, name: str, at: datetime
    ) -> None:
        """Make the user's person, unless somebody else just did."""
        ...

    def update_orgs(self, tx: Tx, user_id: UserId, orgs: frozenset[OrgId]) -> None:
        """Remember the orgs that the user has now, and no others: a person has those of all its
        users."""
        ...


class AgentStore(Protocol):
    """The registry."""

    def insert(self, tx: Tx, agent: Agent) -> bool:
        """False if the id is taken, by a removed agent too."""
        ...

    def fetch(self, tx: Tx, agent_id: AgentId) -> Agent | None:
        """A live agent."""
        ...

    def owner_of(self, tx: Tx, agent_id: AgentId) -> Owner | None:
        """Who owns an agent, or owned one that was removed: their rights to its rows stay."""
        ...

    def lock(self, tx: Tx, agent_id: AgentId) -> None:
        """Hold the agent's row until the transaction ends."""
        ...

    def hold(self, tx: Tx, agent_id: AgentId) -> None:
        """The same for those who put something into its spaces: they don't wait for each other,
        and a removal waits for them."""
        ...

    def page(
        self,
        tx: Tx,
        *,
        orgs: frozenset[OrgId],
        who: Owner,
        owner: Owner | None,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[Agent]:
        """Live agents of these orgs, and those that `who` owns, the newest first."""
        ...

    def update(self, tx: Tx, agent: Agent) -> None:
        """All that may change: name, description, owner, mode, metadata and removal."""
        ...

    def delete(self, tx: Tx, agent_id: AgentId) -> None:
        """Remove the row, what it took part in and its runs, so that the id is free."""
        ...

    def free(self, tx: Tx, agent_id: AgentId) -> None:
        """Remove the row of a removed agent to which nothing refers any more."""
        ...

    def refers_to(self, tx: Tx, agent_id: AgentId) -> bool:
        """Would a new agent of this id inherit something: memories or other agents?"""
        ...

    def has_memories(self, tx: Tx, agent_id: AgentId, *, now: datetime) -> bool:
        """Is there a row in its agent spaces, its runs or its org that is not due yet?"""
        ...

    def page_memories(
        self, tx: Tx, agent_id: AgentId, *, archived: bool, limit: int
    ) -> list[MemoryId]:
        """Rows of its agent spaces, its runs and its org; archived ones only if asked for."""
        ...

    def leave_chats(self, tx: Tx, agent_id: AgentId, *, at: datetime) -> None:
        """End what it takes part in now."""
        ...
