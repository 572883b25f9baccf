"""Resolves the space that a memory is written to, with its agent, chat and run.

The order of checks is part of the API: everything named exists and is visible (404), the caller may
write there (403), and only then what the agent's space mode allows (422).
"""

from dataclasses import dataclass, replace
from datetime import datetime

from recollect.agents.model import Agent
from recollect.agents.run import Run
from recollect.audit.memory_recorder import MemoryAudit
from recollect.conversations.entries.entry import Channel
from recollect.db.transaction import Tx
from recollect.identity.actions import Action
from recollect.identity.decide import decide
from recollect.identity.requester import Requester
from recollect.identity.space_policy import SpaceView, may_write
from recollect.identity.tree_view import TreeAccess
from recollect.kernel.errors import Forbidden, NotFound, ValidationFailed
from recollect.kernel.ids import AgentId, ChatId, ConversationId, EntryId, PersonId, parse_uuid
from recollect.kernel.owner import Owner, parse_agent_id
from recollect.kernel.space import (
    AGENT_KINDS,
    RequestedSpace,
    Space,
    SpaceKind,
    SpaceMode,
    effective_mode,
    resolve_space,
)
from recollect.memories.store.bundle import MemoryStores
from recollect.memories.write.draft import MemoryDraft
from recollect.memories.write.hooks import RunEntering, SubjectResolving
from recollect.memories.write_access import not_owner_error
from recollect.people.chat import Chat, ParticipantKeys


@dataclass(frozen=True, slots=True)
class TargetSpaceSettings:
    """The default space mode, and whether a write registers an unknown agent."""

    mode: SpaceMode = SpaceMode.DUAL
    auto_register: bool = False


@dataclass(frozen=True, slots=True)
class TargetSpace:
    """The space of a draft, with the agent, chat and run that it belongs to. Of a tree,
    `conversation` is the one that the caller named.

    `visibility_by` says what decided its visibility, if the request did not: `default`, `record`,
    `scope`, `rule:<n>`, or of a diverted memory `sensitivity` or `pii`.
    """

    space: Space
    agent: Agent | None = None
    chat: Chat | None = None
    conversation: ConversationId | None = None
    run: Run | None = None
    visibility_by: str | None = None

    @property
    def stores_agent(self) -> bool:
        """Whether the row names the agent as its own. In spaces of users and chats the agent is
        only its source."""
        return self.space.kind not in (SpaceKind.USER, SpaceKind.CHAT)

    @property
    def has_private_twin(self) -> bool:
        """Whether it is the public space of an agent only because nothing else was asked for, so
        that the private one may take its place."""
        return self.visibility_by is not None and self.space.kind is SpaceKind.AGENT_PUBLIC

    def divert(self, by: str) -> "TargetSpace":
        """The agent's private space instead of the public one."""
        private = Space(SpaceKind.AGENT_PRIVATE, self.space.id)
        return replace(self, space=private, visibility_by=by)


class TargetSpaceResolver:
    """Resolves the target space of a draft, or raises."""

    def __init__(
        self,
        stores: MemoryStores,
        audit: MemoryAudit,
        *,
        runs: RunEntering,
        people: SubjectResolving,
        settings: TargetSpaceSettings,
    ) -> None:
        self._stores = stores
        self._audit = audit
        self._runs = runs
        self._people = people
        self._settings = settings

    def resolve(
        self, tx: Tx, requester: Requester, draft: MemoryDraft, *, at: datetime
    ) -> TargetSpace:
        """Raises NotFound, then Forbidden, then what the agent's mode refuses. A moved draft
        (`carried`) keeps its sources and its speaker, so these are not checked again."""
        requested = draft.requested
        agent = (
            self._fetch_agent(tx, requester, requested.agent_id, at=at)
            if requested.agent_id
            else None
        )
        chat = self._fetch_chat(tx, requester, draft)
        if draft.carried is None:
            self._check_entries(tx, requester, draft.source_entries)
        _check_write_right(requester, requested, agent)
        if draft.carried is None:
            self._check_stated_by(tx, requester, draft.stated_by)
        # The run comes after all rights, because entering an unknown run starts it.
        run = self._enter_run(tx, requester, draft, at=at)
        mode = effective_mode(agent.space_mode if agent else None, self._settings.mode)
        org_id = agent.org_id if agent else None
        if chat is not None and requested.kind is SpaceKind.CHAT:
            requested = replace(requested, id=chat.id)
        space = resolve_space(requested, mode, requester=requester.identity, org_id=org_id)
        named = draft.learned_in if chat is not None and chat.tree else None
        conversation = None if named is None else ConversationId(named)
        by = requested.visibility_reason(mode)
        return TargetSpace(space, agent, chat, conversation, run, by)

    def _fetch_agent(
        self, tx: Tx, requester: Requester, agent_id: AgentId, *, at: datetime
    ) -> Agent:
        # Locked, so that nobody deletes the agent, and frees its id, before this write commits.
        self._stores.agents.lock_shared(tx, agent_id)
        agent = self._stores.agents.fetch(tx, agent_id)
        if agent is not None:
            return agent
        if not self._settings.auto_register:
            raise NotFound("agent", agent_id)
        return self._register_agent(tx, requester, parse_agent_id(agent_id, "agent_id"), at=at)

    def _register_agent(
        self, tx: Tx, requester: Requester, agent_id: AgentId, *, at: datetime
    ) -> Agent:
        if len(requester.orgs) != 1:
            message = "is not registered; register it with one of the caller's orgs first"
            raise ValidationFailed.for_field("agent_id", message)
        agent = Agent(
            id=agent_id,
            name=None,
            description=None,
            owner=Owner.agent(agent_id),
            org_id=next(iter(requester.orgs)),
            space_mode=None,
            created_by=requester.identity,
            created_at=at,
            updated_at=at,
        )
        # The id of a removed agent stays taken, so the insert may fail though none was found.
        if not self._stores.agents.insert(tx, agent):
            raise NotFound("agent", agent_id)
        payload = {"owner_id": agent.owner.spelling, "org_id": agent.org_id}
        self._audit.record(tx, requester, "agent.register", agent_id=agent_id, payload=payload)
        return agent

    def _fetch_chat(self, tx: Tx, requester: Requester, draft: MemoryDraft) -> Chat | None:
        """The chat where it was said; NotFound unless the caller takes part in it. A moved memory
        keeps its chat without a check, unless it moves into the space of a chat."""
        in_chat = draft.requested.kind is SpaceKind.CHAT
        chat_id = ChatId(draft.requested.id) if in_chat else draft.learned_in
        if chat_id is None or (draft.carried is not None and not in_chat):
            return None
        keys = ParticipantKeys.for_requester(requester)
        chat = self._stores.chats.fetch(tx, chat_id)
        if chat is None or not self._stores.chats.is_participant(tx, chat.id, keys):
            raise NotFound("chat", chat_id)
        said_in = draft.learned_in or chat_id
        if self._stores.chats.canonical_id(tx, said_in) != chat.id:
            message = "differs from the chat of the space; leave it out"
            raise ValidationFailed.for_field("chat_id", message)
        return chat

    def _check_entries(self, tx: Tx, requester: Requester, ids: tuple[str, ...]) -> None:
        for entry_id in ids:
            if not may_read_entry(tx, self._stores, requester, entry_id):
                raise NotFound("entry", entry_id)

    def _check_stated_by(self, tx: Tx, requester: Requester, stated_by: str | None) -> None:
        if stated_by is None:
            return
        known = self._people.canonical_ids(tx, (PersonId(stated_by),))
        if requester.person_id is None or known != (requester.person_id,):
            raise Forbidden("stated_by: only the caller's own person can be named")

    def _enter_run(
        self, tx: Tx, requester: Requester, draft: MemoryDraft, *, at: datetime
    ) -> Run | None:
        """Enter the run of the draft. A moved memory keeps its run id, and enters a run only if it
        moves into the run's space."""
        agent_id = draft.requested.agent_id
        entered = draft.carried is None or draft.requested.kind is SpaceKind.RUN
        if draft.run_id is None or agent_id is None or not entered:
            return None
        return self._runs.enter_run(tx, requester, draft.run_id, agent_id=agent_id, at=at)


def _check_write_right(
    requester: Requester, requested: RequestedSpace, agent: Agent | None
) -> None:
    """Raise Forbidden unless the caller may write the agent's, run's or org's space.

    Spaces of users and chats are checked elsewhere: a user's space by its id, and a chat by whether
    the caller takes part in it.
    """
    if agent is None or requested.kind in (SpaceKind.USER, SpaceKind.CHAT):
        return
    view = SpaceView(_space_before_mode(requested, agent), agent.id, agent.owner)
    if not may_write(requester.space_caller, view).allowed:
        raise not_owner_error()


def _space_before_mode(requested: RequestedSpace, agent: Agent) -> Space:
    if requested.kind in AGENT_KINDS:
        return Space(requested.kind, agent.id)
    return Space(requested.kind, agent.org_id if requested.kind is SpaceKind.ORG else requested.id)


def may_read_entry(tx: Tx, stores: MemoryStores, requester: Requester, entry_id: str) -> bool:
    """Whether the requester may read an entry: by their membership in its tree. Entries outside of
    the history channel are for the client that wrote them. Nothing is read of a deleted one."""
    principal, uuid = requester.principal, parse_uuid(entry_id)
    entry = stores.entries.fetch(tx, EntryId(uuid)) if uuid else None
    if entry is None or entry.removed_at is not None:
        return False
    if entry.channel is not Channel.HISTORY and entry.client_id != principal.client_id:
        return False
    branch = stores.conversations.locate(tx, entry.conversation_id, principal.user_id)
    if branch is None or branch.deleted:
        return False
    view = TreeAccess(deleted=False, level=branch.level)
    return decide(principal, Action.READ, view).allowed
