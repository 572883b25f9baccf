"""Loads the facts that the visibility rules need about one stored row.

Lists and searches check visibility in SQL. This module serves decisions about a row that is
already loaded: explaining, changing, deleting it.
"""

from collections.abc import Sequence
from dataclasses import replace

from recollect.db.transaction import Tx
from recollect.identity.decide import AccessDecision
from recollect.identity.model import Caller
from recollect.identity.requester import Requester
from recollect.identity.space_policy import SpaceView, may_write
from recollect.kernel.ids import AgentId, ChatId, OrgId, PersonId, RunId, UserId
from recollect.kernel.owner import OwnerKind
from recollect.kernel.space import AGENT_KINDS, Space, SpaceKind
from recollect.memories.model import (
    Memory,
    MemoryOrigin,
    MemoryStatus,
    StoredMemory,
    effective_status,
)
from recollect.people.chat import ParticipantKeys, ParticipantKind, is_present
from recollect.people.store.bundle import PeopleStores
from recollect.visibility.disclosure import DisclosureDecision as Disclosure
from recollect.visibility.disclosure import MemoryView
from recollect.visibility.viewer import Viewer, can_view


class VisibilityFacts:
    """Looks up the facts of a row and of its space."""

    def __init__(self, stores: PeopleStores) -> None:
        self._stores = stores

    def can_view(self, tx: Tx, viewer: Viewer, stored: StoredMemory) -> Disclosure:
        """May the viewer see the row, and by which rule?"""
        return can_view(
            viewer, self.memory_view(tx, stored, viewer), self.space_view(tx, stored, viewer)
        )

    def can_view_if_active(self, tx: Tx, viewer: Viewer, stored: StoredMemory) -> Disclosure:
        """May the viewer see the row as if it were active, whatever its status and expiry are?"""
        active = replace(stored.memory, status=MemoryStatus.ACTIVE, expires_at=None)
        return self.can_view(tx, viewer, replace(stored, memory=active))

    def can_view_by_id(self, tx: Tx, viewer: Viewer, stored: StoredMemory) -> Disclosure:
        """May the viewer get the row by its id? What is over is judged as if it were active, and a
        quarantined row stays hidden: the twin of `visible_by_id_clause`."""
        if stored.memory.status is MemoryStatus.QUARANTINED:
            return self.can_view(tx, viewer, stored)
        return self.can_view_if_active(tx, viewer, stored)

    def may_change(self, tx: Tx, requester: Requester, stored: StoredMemory) -> AccessDecision:
        """May the requester change, move or delete the row?"""
        return self.may_write(tx, requester, stored.memory.space, agent_id=stored.memory.agent_id)

    def may_write(
        self, tx: Tx, requester: Requester, space: Space, *, agent_id: AgentId | None = None
    ) -> AccessDecision:
        """May the requester write to the space? `agent_id` is the agent of the run, or the agent
        that writes to its org."""
        view = self._owned_space_view(tx, space, agent_id)
        if space.kind is SpaceKind.CHAT:
            is_participant = self._stores.chats.is_participant(
                tx, ChatId(space.id), ParticipantKeys.for_requester(requester)
            )
            view = replace(
                view, participants=frozenset({requester.identity} if is_participant else ())
            )
        return may_write(requester.space_caller, view)

    def space_view(self, tx: Tx, stored: StoredMemory, viewer: Viewer) -> SpaceView:
        """The facts on which the right to read depends. The participants of a chat are left out:
        chats' spaces are read through disclosure."""
        memory = stored.memory
        view = self._owned_space_view(tx, memory.space, memory.agent_id)
        if memory.space.kind is not SpaceKind.RUN:
            return view
        return replace(
            view, lineage=self._lineage_agents(tx, RunId(memory.space.id), viewer.callers)
        )

    def memory_view(self, tx: Tx, stored: StoredMemory, viewer: Viewer) -> MemoryView:
        """The facts that disclosure needs, at the viewer's instant."""
        memory = stored.memory
        status = effective_status(viewer.now, memory.status, memory.expires_at)
        return MemoryView(
            space=memory.space,
            sensitivity=memory.sensitivity,
            portable=memory.portable,
            origin=memory.origin,
            learned_in=memory.learned_in,
            stated_by=PersonId(memory.stated_by) if memory.stated_by is not None else None,
            subjects=frozenset(PersonId(subject) for subject in memory.subjects),
            bare_names=bool(stored.bare_names),
            witnesses=self._witnesses(tx, memory),
            orgs=self._space_orgs(tx, memory.space),
            active=status is MemoryStatus.ACTIVE,
        )

    def _owned_space_view(self, tx: Tx, space: Space, agent_id: AgentId | None) -> SpaceView:
        # An agent space names its agent in its id; of a run or an org it is the agent of the row.
        owning = AgentId(space.id) if space.kind in AGENT_KINDS else agent_id
        owner = self._stores.agents.fetch_owner(tx, owning) if owning is not None else None
        return SpaceView(space, agent_id=agent_id, agent_owner=owner)

    def _lineage_agents(
        self, tx: Tx, run_id: RunId, callers: Sequence[Caller]
    ) -> frozenset[AgentId]:
        """Those agents among the callers that may read the run's space."""
        agents = (caller.who for caller in callers if caller.who.kind is OwnerKind.AGENT)
        return frozenset(
            AgentId(who.id)
            for who in agents
            if self._stores.runs.fetch_visible(tx, who, run_id) is not None
        )

    def _witnesses(self, tx: Tx, memory: Memory) -> frozenset[PersonId]:
        """The people who took part in the chat when it was said, confirmed or not."""
        if memory.learned_in is None or memory.origin is not MemoryOrigin.CHAT:
            return frozenset()
        intervals = self._stores.chats.participants(tx, memory.learned_in, include_left=True)
        present = [one for one in intervals if is_present([one], memory.observed_at)]
        users = [UserId(one.id) for one in present if one.kind is ParticipantKind.USER]
        people = [PersonId(one.id) for one in present if one.kind is ParticipantKind.PERSON]
        return frozenset(people) | frozenset(self._stores.people.people_by_user(tx, users).values())

    def _space_orgs(self, tx: Tx, space: Space) -> frozenset[OrgId]:
        """The orgs of the user whose space it is, or of the chat's creator."""
        if space.kind is SpaceKind.USER:
            known = self._stores.users.fetch(tx, UserId(space.id))
            return known.orgs if known is not None else frozenset()
        if space.kind is SpaceKind.CHAT:
            chat_id = ChatId(space.id)
            return self._stores.chats.creator_orgs(tx, [chat_id]).get(chat_id, frozenset())
        return frozenset()
