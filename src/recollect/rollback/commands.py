"""Typed commands: what a caller sends to roll back, and to undo a rollback."""

from typing import ClassVar

from pydantic import model_validator

from recollect.http.bodies import StrictBody
from recollect.http.operation import Id, Instant, JustifiedStrict
from recollect.kernel.space import to_chat_id
from recollect.rollback.model import RollbackSource, SourceKind

_SOURCE_FIELDS = ", ".join(SourceKind)


class SourceFields(StrictBody, title="SourceBody"):
    """Where it came from: exactly one member."""

    entry_id: Id | None = None
    conversation_id: Id | None = None
    chat_id: Id | None = None
    agent_id: Id | None = None
    stated_by: Id | None = None
    run_id: Id | None = None
    import_id: Id | None = None
    memory_id: Id | None = None

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

    source: SourceFields
    since: Instant | None = None
    until: Instant | None = None
    dry_run: bool

    @property
    def rollback_source(self) -> RollbackSource:
        ((kind, id_),) = self.source.sent_ids.items()
        return RollbackSource(kind, id_, self.since, self.until)


class UndoRollback(JustifiedStrict, title="UndoBody"):
    """The reason of an admin."""

    optional: ClassVar[bool] = True
