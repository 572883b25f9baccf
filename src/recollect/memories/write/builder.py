"""Builds the row of a new or moved memory from its draft. Pure: space and subjects are given."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.identity.requester import Requester
from recollect.kernel.ids import AgentId, MemoryId, PersonId
from recollect.memories.expiry import TYPE_TTL_SECONDS, surviving_approval
from recollect.memories.fields import PLAIN_FIELDS
from recollect.memories.model import Memory, MemoryOrigin, Sensitivity
from recollect.memories.trust import derive_trust
from recollect.memories.write.draft import MemoryDraft
from recollect.memories.write.screen import ScreeningReport
from recollect.memories.write.sensitivity import (
    SensitivityFloors,
    sensitivity_of_move,
    sensitivity_of_write,
    stricter,
)
from recollect.memories.write.target_space import TargetSpace
from recollect.people.chat import ChatKind


@dataclass(frozen=True, slots=True)
class MemoryInputs:
    """Everything that a new row is built from. `subjects` are those of a new draft; a moved one
    keeps its own. `floors` count all of its PII tags, sent or found."""

    requester: Requester
    draft: MemoryDraft
    findings: ScreeningReport
    place: TargetSpace
    subjects: Sequence[PersonId]
    floors: SensitivityFloors
    id: MemoryId
    at: datetime

    @property
    def pii_tags(self) -> tuple[str, ...]:
        """All PII tags, sent or found."""
        return self.findings.merge_tags(self.draft.pii_tags)

    @property
    def sensitivity(self) -> Sensitivity:
        """The sensitivity of the row in its place."""
        draft, place = self.draft, self.place
        if draft.carried is not None:
            return sensitivity_of_move(draft.carried, self.floors, place.space.kind)
        private = place.chat is not None and place.chat.kind is ChatKind.PRIVATE
        # Short-lived facts from a private chat are at least personal, whatever their words.
        passing = private and draft.type in TYPE_TTL_SECONDS
        lowest = Sensitivity.PERSONAL if passing else Sensitivity.PUBLIC
        return sensitivity_of_write(
            draft.sensitivity,
            stricter(lowest, self.floors.lowest_in(place.space.kind)),
            kind=place.space.kind,
            subjects=self.subjects,
            person_id=self.requester.person_id,
        )


def build_new(inputs: MemoryInputs) -> Memory:
    """The row of a new memory. Its expiry is not computed yet (`ExpiryCalculator.apply`)."""
    draft, place, requester = inputs.draft, inputs.place, inputs.requester
    stated_by, subjects = requester.person_id, inputs.subjects
    return Memory(
        id=inputs.id,
        kind=draft.kind,
        content=draft.content,
        key=draft.key,
        value=draft.value,
        messages=draft.messages,
        created_at=inputs.at,
        updated_at=inputs.at,
        observed_at=draft.observed_at,
        sensitivity=inputs.sensitivity,
        portable=draft.portable is not False,
        subjects=tuple(subjects),
        stated_by=stated_by,
        **_chat_fields(place),
        trust=derive_trust(stated_by, subjects),
        tags=draft.tags,
        metadata=draft.metadata,
        pii_tags=inputs.pii_tags,
        retention_policy=draft.policy.name if draft.policy else None,
        explicit_expires_at=draft.explicit_expires_at,
        source=draft.source,
        source_entries=draft.source_entries,
        run_id=draft.run_id,
        **{field.name: getattr(draft, field.name) for field in PLAIN_FIELDS},
        **_space_fields(place),
        source_agent=requester.agent_id
        or (None if place.stores_agent else _target_agent_id(place)),
    )


def build_moved(inputs: MemoryInputs, old: Memory) -> Memory:
    """The row of a memory in its new space.

    It keeps `created_at`: caps on personal data count from there, and a move must not renew them.
    Version, links and conflicts start afresh; `source_memories` names the row that it came from.
    """
    draft, place, pii_tags = inputs.draft, inputs.place, inputs.pii_tags
    return replace(
        old,
        id=inputs.id,
        content=draft.content,
        key=draft.key,
        value=draft.value,
        messages=draft.messages,
        tags=draft.tags,
        metadata=draft.metadata,
        updated_at=inputs.at,
        sensitivity=inputs.sensitivity,
        pii_tags=pii_tags,
        # An approval to live past the cap moves along only while no other personal data is found.
        approved_expires_at=surviving_approval(old.approved_expires_at, old.pii_tags, pii_tags),
        **({} if place.chat is None else _chat_fields(place)),
        source_memories=(old.id,),
        supersedes=(),
        conflicts_with=(),
        version=1,
        run_id=draft.run_id,
        **_space_fields(place),
        source_agent=old.source_agent or (None if place.stores_agent else old.agent_id),
    )


def _chat_fields(place: TargetSpace) -> dict[str, Any]:
    """Where it was learned."""
    if place.chat is None:
        return {"origin": MemoryOrigin.DIRECT}
    return {
        "learned_in": place.chat.id,
        "learned_in_conversation": place.conversation,
        "origin": MemoryOrigin.CHAT,
    }


def _space_fields(place: TargetSpace) -> dict[str, Any]:
    """The fields that follow from the space. In spaces of users and chats the agent is only the
    source of a memory."""
    return {
        "space": place.space,
        "agent_id": _target_agent_id(place) if place.stores_agent else None,
        "org_id": place.agent.org_id if place.agent and place.stores_agent else None,
        "parent_run_id": place.run.parent_run_id if place.run else None,
    }


def _target_agent_id(place: TargetSpace) -> AgentId | None:
    return place.agent.id if place.agent else None
