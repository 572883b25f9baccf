"""Where a memory goes, and whether the caller may put it there: agent, chat, run, entries, space.

The order is that of the contract: what is named exists and is visible (404), the right (403), and
only then what the agent's mode allows (422).
"""

from dataclasses import dataclass
from datetime import datetime

from recollect.domain.agents import AgentId, Owner, parse_agent_id
from recollect.domain.chats import Chat
from recollect.domain.disclosure import PersonId
from recollect.domain.entries import Channel
from recollect.domain.ids import EntryId, parse_uuid
from recollect.domain.registry import Agent
from recollect.domain.runs import Run
from recollect.domain.spaces import (
    AGENT_KINDS,
    AskedSpace,
    ChatId,
    Space,
    SpaceKind,
    SpaceMode,
    mode_of,
    settled_space,
)
from recollect.errors import Forbidden, NotFound, ValidationFailed
from recollect.policy.actions import Action
from recollect.policy.decide import decide
from recollect.policy.requesters import Requester
from recollect.policy.spaces import SpaceView, may_write
from recollect.policy.views import TreeView
from recollect.ports.database import Tx
from recollect.ports.memory_hooks import RunEntering, SubjectResolving
from recollect.ports.people import Seat
from recollect.ports.stores import Stores
from recollect.services.drafts import Draft
from recollect.services.memory_audit import MemoryAudit


@dataclass(frozen=True, slots=True)
class PlaceSettings:
    """The server's mode of spaces, and whether an unknown agent is registered."""

    mode: SpaceMode = SpaceMode.DUAL
    auto_register: bool = False


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """Where a draft goes, and with what it is tied there."""

    space: Space
    agent: Agent | None = None
    chat: Chat | None = None
    run: Run | None = None

    @property
    def keeps_agent(self) -> bool:
        """Is the agent part of the place? In spaces of users and chats it is a source only."""
        return self.space.kind not in (SpaceKind.USER, SpaceKind.CHAT)


class MemoryPlaces:
    """Finds the place of a draft, or refuses it."""

    def __init__(
        self,
        stores: Stores,
        audit: MemoryAudit,
        *,
        runs: RunEntering,
        people: SubjectResolving,
        settings: PlaceSettings,
    ) -> None:
        self._stores = stores
        self._audit = audit
        self._runs = runs
        self._people = people
        self._settings = settings

    def find(self, tx: Tx, requester: Requester, draft: Draft, *, at: datetime) -> MemoryPlace:
        """NotFound, then Forbidden, then what the agent's mode refuses."""
        asked = draft.asked
        agent = self._agent(tx, requester, asked.agent_id, at=at) if asked.agent_id else None
        chat = self._chat(tx, requester, draft)
        if draft.carried is None:
            self._check_entries(tx, requester, draft.source_entries)
        _check_right(requester, asked, agent)
        if draft.carried is None:
            self._check_stater(tx, requester, draft.stated_by)
        run = self._run(tx, requester, draft, at=at)
        mode = mode_of(agent.space_mode if agent else None, self._settings.mode)
        org_id = agent.org_id if agent else None
        space = settled_space(asked, mode, requester=requester.who, org_id=org_id)
        return MemoryPlace(space, agent, chat, run)

    def _agent(self, tx: Tx, requester: Requester, agent_id: AgentId, *, at: datetime) -> Agent:
        # Held, so that nobody removes the agent and frees its id under what is written to it.
        self._stores.agents.hold(tx, agent_id)
        agent = self._stores.agents.fetch(tx, agent_id)
        if agent is not None:
            return agent
        if not self._settings.auto_register:
            raise NotFound("agent", agent_id)
        return self._registered(tx, requester, parse_agent_id(agent_id, "agent_id"), at=at)

    def _registered(
        self, tx: Tx, requester: Requester, agent_id: AgentId, *, at: datetime
    ) -> Agent:
        if len(requester.orgs) != 1:
            message = "is not registered; register it with one of the caller's orgs first"
            raise ValidationFailed.of("agent_id", message)
        agent = Agent(
            id=agent_id,
            name=None,
            description=None,
            owner=Owner.agent(agent_id),
            org_id=next(iter(requester.orgs)),
            space_mode=None,
            created_by=requester.who,
            created_at=at,
            updated_at=at,
        )
        if not self._stores.agents.insert(tx, agent):
            raise NotFound("agent", agent_id)
        payload = {"owner_id": agent.owner.spelling, "org_id": agent.org_id}
        self._audit.record(tx, requester, "agent.register", agent_id=agent_id, payload=payload)
        return agent

    def _chat(self, tx: Tx, requester: Requester, draft: Draft) -> Chat | None:
        """The chat where it was said. What moves keeps its origin, whoever is still there."""
        in_chat = draft.asked.kind is SpaceKind.CHAT
        chat_id = ChatId(draft.asked.id) if in_chat else draft.learned_in
        if chat_id is None or (draft.carried is not None and not in_chat):
            return None
        seat = Seat.of(requester)
        chat = self._stores.chats.fetch(tx, chat_id)
        if chat is None or not self._stores.chats.takes_part(tx, chat_id, seat):
            raise NotFound("chat", chat_id)
        return chat

    def _check_entries(self, tx: Tx, requester: Requester, ids: tuple[str, ...]) -> None:
        for entry_id in ids:
            if not may_read_entry(tx, self._stores, requester, entry_id):
                raise NotFound("entry", entry_id)

    def _check_stater(self, tx: Tx, requester: Requester, stated_by: str | None) -> None:
        if stated_by is None:
            return
        known = self._people.canonical(tx, (PersonId(stated_by),))
        if requester.person_id is None or known != (requester.person_id,):
            raise Forbidden("stated_by: only the caller's own person can be named")

    def _run(self, tx: Tx, requester: Requester, draft: Draft, *, at: datetime) -> Run | None:
        """What moves keeps the id of its run, and enters one only where it moves to."""
        agent_id = draft.asked.agent_id
        entered = draft.carried is None or draft.asked.kind is SpaceKind.RUN
        if draft.run_id is None or agent_id is None or not entered:
            return None
        return self._runs.enter(tx, requester, draft.run_id, agent_id=agent_id, at=at)


def _check_right(requester: Requester, asked: AskedSpace, agent: Agent | None) -> None:
    """The right in spaces of agents, runs and orgs. A user's own space is settled by its id, and
    who doesn't take part in a chat was told that there is none."""
    if agent is None or asked.kind in (SpaceKind.USER, SpaceKind.CHAT):
        return
    view = SpaceView(_space_before_mode(asked, agent), agent.id, agent.owner)
    if not may_write(requester.caller, view).allowed:
        raise not_owner()


def _space_before_mode(asked: AskedSpace, agent: Agent) -> Space:
    if asked.kind in AGENT_KINDS:
        return Space(asked.kind, agent.id)
    return Space(asked.kind, agent.org_id if asked.kind is SpaceKind.ORG else asked.id)


def may_read_entry(tx: Tx, stores: Stores, requester: Requester, entry_id: str) -> bool:
    """By the membership in its tree; a client's own memory is for that client alone."""
    principal, uuid = requester.principal, parse_uuid(entry_id)
    entry = stores.entries.fetch(tx, EntryId(uuid)) if uuid else None
    if entry is None:
        return False
    if entry.channel is not Channel.HISTORY and entry.client_id != principal.client_id:
        return False
    branch = stores.conversations.locate(tx, entry.conversation_id, principal.user_id)
    if branch is None or branch.deleted:
        return False
    view = TreeView(deleted=False, level=branch.level)
    return decide(principal, Action.READ, view).allowed


def not_owner() -> Forbidden:
    """Known and visible, and for somebody else to write."""
    return Forbidden("only those who may write this space may do this", code="not_owner")
