"""Typed commands: what a caller sends to roll back, and to undo a rollback."""

from typing import ClassVar

from pydantic import Field, model_validator

from recollect.http.bodies import StrictBody
from recollect.http.examples import MEMORY_ID
from recollect.http.operation import Id, Instant, JustifiedStrict
from recollect.kernel.space import to_chat_id
from recollect.rollback.model import RollbackSource, SourceKind

_SOURCE_FIELDS = ", ".join(SourceKind)


class SourceFields(StrictBody, title="SourceBody"):
    """Where it came from: exactly one member."""

    entry_id: Id | None = Field(
        default=None, description="Memories from this entry of a conversation."
    )
    conversation_id: Id | None = Field(default=None, description="Memories from this conversation.")
    chat_id: Id | None = Field(default=None, description="Memories that were learned in this chat.")
    agent_id: Id | None = Field(default=None, description="Memories that this agent wrote.")
    stated_by: Id | None = Field(default=None, description="Memories that this person stated.")
    run_id: Id | None = Field(default=None, description="Memories of this run.")
    import_id: Id | None = Field(default=None, description="Memories of this import.")
    memory_id: Id | None = Field(
        default=None, description="This memory, and what came of it.", examples=[MEMORY_ID]
    )

    @model_validator(mode="after")
    def _require_one(self) -> "SourceFields":
        if len(self.sent_ids) != 1:
            raise ValueError(f"must have exactly one of {_SOURCE_FIELDS}")
        return self

    @property
    def sent_ids(self) -> dict[SourceKind, str]:
        """The fields that were sent; chat ids in canonical form."""
        named = ((kind, getattr(self, kind)) for kind in SourceKind)
        sent = {kind: id_ for kind, id_ in named if id_ is not None}
        chat = sent.get(SourceKind.CHAT)
        return sent if chat is None else sent | {SourceKind.CHAT: to_chat_id(chat)}


class RollBack(JustifiedStrict, title="RollbackBody"):
    """What to take back. `since` and `until` narrow when memories of the source were stored."""

    source: SourceFields = Field(description="Where they came from: exactly one member.")
    since: Instant | None = Field(
        default=None, description="Only what was stored at or after this instant."
    )
    until: Instant | None = Field(
        default=None, description="Only what was stored before this instant."
    )
    dry_run: bool = Field(description="Whether to tell only what would change.")

    @property
    def rollback_source(self) -> RollbackSource:
        ((kind, id_),) = self.source.sent_ids.items()
        return RollbackSource(kind, id_, self.since, self.until)


class UndoRollback(JustifiedStrict, title="UndoBody"):
    """The reason of an admin."""

    optional: ClassVar[bool] = True
