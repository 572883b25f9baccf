"""Moves a memory to another space: writes it there under a new id and deletes the old row.

The space of a stored row never changes, and so its visibility does not either.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from recollect.domain.agents import AgentId
from recollect.domain.memories import Memory, MemoryId
from recollect.domain.retention import RetentionRules
from recollect.domain.spaces import (
    AGENT_KINDS,
    ChatId,
    RunId,
    SpaceKind,
    SpaceName,
    SpaceRequest,
    Visibility,
    asked_space,
    scope_of,
)
from recollect.errors import ValidationFailed
from recollect.policy.requesters import Requester
from recollect.ports.database import Tx
from recollect.ports.memories import Stored
from recollect.services.drafts import Draft, Members
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_changes import MemoryChanges
from recollect.services.memory_events import tell_of
from recollect.services.memory_writing import MemoryWriter, Written
from recollect.services.screening import Findings, Screening, Texts
from recollect.services.superseding import check_own_word


@dataclass(frozen=True, slots=True)
class Target:
    """The space to move to. Exactly one of the two is set."""

    visibility: Visibility | None = None
    space: SpaceName | None = None

    @classmethod
    def of(cls, members: Members) -> "Target":
        """The target; raises ValidationFailed unless exactly one of the two was sent."""
        visibility, space = members.get("visibility"), members.get("space")
        if (visibility is None) == (space is None):
            raise ValidationFailed.of("visibility", "send either `visibility` or `space`")
        return cls(visibility, space)

    @property
    def field(self) -> str:
        """The name of the sent field, for errors."""
        return "visibility" if self.space is None else "space"


@dataclass(frozen=True, slots=True)
class Looked:
    """The findings of screening for one version of a memory."""

    version: int
    findings: Findings


class MemoryMoves:
    """Writes the new row and deletes the old one in one transaction."""

    def __init__(
        self,
        audit: MemoryAudit,
        changes: MemoryChanges,
        *,
        writer: MemoryWriter,
        screening: Screening,
        rules: RetentionRules,
    ) -> None:
        self._audit = audit
        self._changes = changes
        self._writer = writer
        self._screening = screening
        self._rules = rules

    def look(self, stored: Stored) -> Looked:
        """Screen a stored memory. Takes long for a long text: call it before the transaction."""
        texts = Texts.of_memory(stored.memory)
        return Looked(stored.memory.version, self._screening.look(texts))

    def move(
        self,
        tx: Tx,
        requester: Requester,
        memory_id: MemoryId,
        *,
        target: Target,
        looked: Looked | None,
        at: datetime,
        new_id: MemoryId | None = None,
    ) -> Written:
        """Move a memory. All checks of a write apply, and the caller must be able to write both
        spaces. What somebody said of themself only they may move: in another space they might not
        see it any more.

        `looked` was made before the transaction; a memory that changed since is screened again.
        """
        stored = self._changes.active(tx, requester, memory_id, at=at)
        check_own_word(stored.memory, requester)
        if looked is None or looked.version != stored.memory.version:
            looked = self.look(stored)
        draft = replace(self._draft(stored, target), id=new_id)
        screened = self._screening.fitted(draft, looked.findings)
        written = self._writer.write(tx, requester, screened, at=at)
        # Only the writer knows the final space, because the mode of the agent may change it. So the
        # comparison comes after the write, and the error rolls the new row back.
        new = written.stored.memory
        if new.space == stored.memory.space:
            raise ValidationFailed.of(target.field, "the memory lies there already")
        self._changes.remove(tx, stored, at=at)
        tell_of(
            self._audit,
            tx,
            requester,
            event_type="memory.move",
            memory=stored.memory,
            new_id=new.id,
        )
        return written

    def _draft(self, stored: Stored, target: Target) -> Draft:
        """A draft of the stored memory for the new space. `carried` makes the writer keep the
        fields that a caller can't set."""
        memory = stored.memory
        asked = asked_space(_request(memory, target))
        policy = memory.retention_policy
        in_chat = asked.kind is SpaceKind.CHAT
        return Draft(
            kind=memory.kind,
            content=memory.content,
            asked=asked,
            observed_at=memory.observed_at,
            key=memory.key,
            value=memory.value,
            messages=memory.messages,
            run_id=RunId(asked.id) if asked.kind is SpaceKind.RUN else memory.run_id,
            sensitivity=memory.sensitivity,
            learned_in=ChatId(asked.id) if in_chat else memory.learned_in,
            pii_tags=memory.pii_tags,
            policy=self._rules.policy(policy, scope_of(asked.kind)) if policy else None,
            carried=stored,
        )


def _request(memory: Memory, target: Target) -> SpaceRequest:
    """The space request of a move. Its agent is the id of the target space, or else the agent of
    the memory. Spaces of users and chats need no agent, and that of the memory may be gone."""
    space = target.space
    named = space.id if space is not None and space.kind in AGENT_KINDS else None
    homely = space is not None and space.kind in (SpaceKind.USER, SpaceKind.CHAT)
    own = None if homely else memory.agent_id or memory.source_agent
    if space is not None and space.kind is SpaceKind.RUN and space.id is None:
        raise ValidationFailed.of("space.id", "is needed: which run?")
    if not (homely or named or own):
        raise _needs_agent(target)
    return SpaceRequest(
        agent_id=AgentId(named) if named else own,
        visibility=target.visibility,
        space=space,
    )


def _needs_agent(target: Target) -> ValidationFailed:
    """The error for a memory without an agent. It names what to send instead."""
    if target.space is None:
        kind = f"agent_{target.visibility}"
        message = f"the memory has no agent; send `space` with `kind` `{kind}` and an agent's `id`"
        return ValidationFailed.of("visibility", message)
    if target.space.kind in AGENT_KINDS:
        return ValidationFailed.of("space.id", "is needed: the memory has no agent; which one?")
    kinds = sorted({*AGENT_KINDS, SpaceKind.USER, SpaceKind.CHAT})
    message = "the memory has no agent; move it to a space of an agent first"
    return ValidationFailed.of("space.kind", message, allowed=kinds)
