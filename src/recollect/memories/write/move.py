"""Moves a memory to another space: writes it there under a new id and deletes the old row.

The space of a stored row never changes, and so its visibility does not either.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from recollect.audit.memory_recorder import MemoryAudit, record_memory_event
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.errors import ValidationFailed
from recollect.kernel.ids import AgentId, ChatId, MemoryId, RunId
from recollect.kernel.retention_rules import RetentionRules
from recollect.kernel.space import (
    AGENT_KINDS,
    SpaceKind,
    SpaceRequest,
    parse_space_request,
    scope_for_kind,
)
from recollect.memories.commands import MoveMemory
from recollect.memories.model import Memory, StoredMemory
from recollect.memories.store.rows import require_changeable
from recollect.memories.supersede.apply import check_self_statement
from recollect.memories.write.changes import MemoryChanges
from recollect.memories.write.draft import MemoryDraft
from recollect.memories.write.screen import (
    MemoryTexts,
    ScreeningReport,
    ScreeningService,
)
from recollect.memories.write.writer import MemoryWriter, MemoryWriteResult


@dataclass(frozen=True, slots=True)
class ScreenedVersion:
    """The findings of screening for one version of a memory."""

    version: int
    findings: ScreeningReport


def check_move(command: MoveMemory) -> None:
    """Raise ValidationFailed unless exactly one target was sent."""
    if (command.visibility is None) == (command.space is None):
        raise ValidationFailed.for_field("visibility", "send either `visibility` or `space`")


class MemoryMoves:
    """Writes the new row and deletes the old one in one transaction."""

    def __init__(
        self,
        audit: MemoryAudit,
        changes: MemoryChanges,
        *,
        writer: MemoryWriter,
        screening: ScreeningService,
        rules: RetentionRules,
    ) -> None:
        self._audit = audit
        self._changes = changes
        self._writer = writer
        self._screening = screening
        self._rules = rules

    def screen_stored(self, stored: StoredMemory) -> ScreenedVersion:
        """Screen a stored memory. Takes long for a long text: call it before the transaction."""
        texts = MemoryTexts.from_memory(stored.memory)
        return ScreenedVersion(stored.memory.version, self._screening.inspect_texts(texts))

    def move(
        self,
        tx: Tx,
        requester: Requester,
        memory_id: MemoryId,
        *,
        command: MoveMemory,
        screened: ScreenedVersion | None,
        at: datetime,
        new_id: MemoryId | None = None,
    ) -> MemoryWriteResult:
        """Move a memory. All checks of a write apply, and the caller must be able to write both
        spaces. What somebody said of themself only they may move: in another space they might not
        see it any more.

        `screened` was made before the transaction; a memory that changed since is screened again.
        """
        stored = self._changes.fetch_active(tx, requester, memory_id, at=at)
        require_changeable(stored)
        check_self_statement(stored.memory, requester)
        if screened is None or screened.version != stored.memory.version:
            screened = self.screen_stored(stored)
        draft = replace(self._build_draft(stored, command), id=new_id)
        screened_draft = self._screening.apply_report(draft, screened.findings)
        written = self._writer.write(tx, requester, screened_draft, at=at)
        # Only the writer knows the final space, because the mode of the agent may change it. So the
        # comparison comes after the write, and the error rolls the new row back.
        new = written.stored.memory
        if new.space == stored.memory.space:
            field = "visibility" if command.space is None else "space"
            raise ValidationFailed.for_field(field, "the memory lies there already")
        self._changes.remove(tx, stored, at=at)
        record_memory_event(
            self._audit,
            tx,
            requester,
            event_type="memory.move",
            memory=stored.memory,
            new_id=new.id,
        )
        return written

    def _build_draft(self, stored: StoredMemory, command: MoveMemory) -> MemoryDraft:
        """A draft of the stored memory for the new space. `carried` makes the writer keep the
        fields that a caller can't set."""
        memory = stored.memory
        requested = parse_space_request(_space_request(memory, command))
        policy = memory.retention_policy
        in_chat = requested.kind is SpaceKind.CHAT
        return MemoryDraft(
            kind=memory.kind,
            content=memory.content,
            requested=requested,
            observed_at=memory.observed_at,
            key=memory.key,
            value=memory.value,
            messages=memory.messages,
            run_id=RunId(requested.id) if requested.kind is SpaceKind.RUN else memory.run_id,
            sensitivity=memory.sensitivity,
            learned_in=ChatId(requested.id) if in_chat else memory.learned_in,
            pii_tags=memory.pii_tags,
            policy=self._rules.require_policy(policy, scope_for_kind(requested.kind))
            if policy
            else None,
            carried=stored,
        )


def _space_request(memory: Memory, command: MoveMemory) -> SpaceRequest:
    """The space request of a move. Its agent is the id of the target space, or else the agent of
    the memory. Spaces of users and chats need no agent, and that of the memory may be gone."""
    space = None if command.space is None else command.space.space_name
    named = space.id if space is not None and space.kind in AGENT_KINDS else None
    agentless = space is not None and space.kind in (SpaceKind.USER, SpaceKind.CHAT)
    own = None if agentless else memory.agent_id or memory.source_agent
    if space is not None and space.kind is SpaceKind.RUN and space.id is None:
        raise ValidationFailed.for_field("space.id", "is needed: which run?")
    if not (agentless or named or own):
        raise _missing_agent_error(command)
    return SpaceRequest(
        agent_id=AgentId(named) if named else own,
        visibility=command.visibility,
        space=space,
    )


def _missing_agent_error(command: MoveMemory) -> ValidationFailed:
    """The error for a memory without an agent. It names what to send instead."""
    if command.space is None:
        kind = f"agent_{command.visibility}"
        message = f"the memory has no agent; send `space` with `kind` `{kind}` and an agent's `id`"
        return ValidationFailed.for_field("visibility", message)
    if command.space.kind in AGENT_KINDS:
        return ValidationFailed.for_field(
            "space.id", "is needed: the memory has no agent; which one?"
        )
    kinds = sorted({*AGENT_KINDS, SpaceKind.USER, SpaceKind.CHAT})
    message = "the memory has no agent; move it to a space of an agent first"
    return ValidationFailed.for_field("space.kind", message, allowed=kinds)
