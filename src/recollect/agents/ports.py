"""Interfaces of the stores of agents and of users."""

from datetime import datetime
from typing import Protocol

from recollect.agents.model import Agent
from recollect.db.transaction import Tx
from recollect.identity.model import KnownUser
from recollect.kernel.ids import AgentId, MemoryId, OrgId, PersonId, UserId
from recollect.kernel.owner import Owner


class UserStore(Protocol):
    """Users and their people."""

    def fetch(self, tx: Tx, user_id: UserId) -> KnownUser | None:
        """None for a user who is not known yet."""
        ...

    def find_by_handle(self, tx: Tx, handle: str, orgs: frozenset[OrgId]) -> frozenset[UserId]:
        """Users of these orgs whose id is this handle, in any letter case, with or without `@`."""
        ...

    def insert_person(
        self, tx: Tx, user_id: UserId, person_id: PersonId, *, name: str, at: datetime
    ) -> None:
        """Insert the user's person, unless a concurrent call did so first."""
        ...

    def update_orgs(self, tx: Tx, user_id: UserId, orgs: frozenset[OrgId]) -> None:
        """Replace the user's orgs. A person has the orgs of all its users."""
        ...


class AgentStore(Protocol):
    def insert(self, tx: Tx, agent: Agent) -> bool:
        """Insert an agent; False if the id is taken, also by a removed agent."""
        ...

    def fetch(self, tx: Tx, agent_id: AgentId) -> Agent | None:
        """The agent, unless it was removed."""
        ...

    def fetch_owner(self, tx: Tx, agent_id: AgentId) -> Owner | None:
        """The owner of an agent, also of a removed one: the owner keeps the rights on its
        memories."""
        ...

    def lock(self, tx: Tx, agent_id: AgentId) -> None:
        """Lock the agent's row until the transaction ends."""
        ...

    def lock_shared(self, tx: Tx, agent_id: AgentId) -> None:
        """A shared lock for writers to the agent's spaces: they don't wait for each other, while a
        removal, which takes the exclusive lock, waits for all of them."""
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
        """Store name, description, owner, mode, metadata and removal."""
        ...

    def delete(self, tx: Tx, agent_id: AgentId) -> None:
        """Delete the row, its participations and its runs, so that the id is free."""
        ...

    def delete_if_unreferenced(self, tx: Tx, agent_id: AgentId) -> None:
        """Delete the row of a removed agent if nothing refers to it any more."""
        ...

    def is_referenced(self, tx: Tx, agent_id: AgentId) -> bool:
        """Does anything refer to the id that a new agent of this id would inherit: memories, or
        agents that it owns?"""
        ...

    def has_memories(self, tx: Tx, agent_id: AgentId, *, now: datetime) -> bool:
        """Does the agent have memories that have not expired, in its agent spaces, its runs or its
        org?"""
        ...

    def page_memories(
        self, tx: Tx, agent_id: AgentId, *, archived: bool, limit: int
    ) -> list[MemoryId]:
        """Ids of the agent's memories in its agent spaces, its runs and its org; archived ones only
        with `archived`."""
        ...

    def leave_chats(self, tx: Tx, agent_id: AgentId, *, at: datetime) -> None:
        """End the agent's current participations."""
        ...
