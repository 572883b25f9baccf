"""Operations of rollbacks."""

from typing import ClassVar

from pydantic import model_validator

from recollect.api.bodies import StrictBody
from recollect.api.memory.rows import ID, Id, Instant, JustifiedStrict, optional, resource, row
from recollect.api.operation import Operation
from recollect.api.params import Schema
from recollect.api.resources import WHOLE
from recollect.domain.spaces import as_chat_id
from recollect.ports.keeping import RollbackSource, SourceKind

_NAMES = ", ".join(SourceKind)


class SourceBody(StrictBody):
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
    def _one(self) -> "SourceBody":
        if len(self.sent) != 1:
            raise ValueError(f"must have exactly one of {_NAMES}")
        return self

    @property
    def sent(self) -> dict[SourceKind, str]:
        """The fields that were sent; chat ids in canonical form."""
        named = ((kind, getattr(self, kind)) for kind in SourceKind)
        sent = {kind: id_ for kind, id_ in named if id_ is not None}
        chat = sent.get(SourceKind.CHAT)
        return sent if chat is None else sent | {SourceKind.CHAT: as_chat_id(chat)}


class RollbackBody(JustifiedStrict):
    """What to take back. `since` and `until` narrow when memories of the source were stored."""

    source: SourceBody
    since: Instant | None = None
    until: Instant | None = None
    dry_run: bool

    @property
    def wanted(self) -> RollbackSource:
        ((kind, id_),) = self.source.sent.items()
        return RollbackSource(kind, id_, self.since, self.until)


class UndoBody(JustifiedStrict):
    """The reason of an admin."""

    optional: ClassVar[bool] = True


RESOURCES: dict[str, Schema] = {
    "RollbackReport": resource(
        {
            "id": optional(ID),
            "archived": WHOLE,
            "restored": WHOLE,
            "untouched": WHOLE,
            "ids": {"type": "array", "items": ID},
        }
    ),
}

OPERATIONS: tuple[Operation, ...] = (
    row(
        "rollBack",
        "POST /v1/rollbacks",
        200,
        "Archive every memory that came from a source, straight or through other memories, and "
        "make active again what they had replaced. Rows that the caller sees and may not write are "
        "`untouched`; an admin takes back all. A dry run has no id.",
        response="RollbackReport",
        body=RollbackBody,
        refusals=(404,),
    ),
    row(
        "undoRollback",
        "POST /v1/rollbacks/{rollback_id}/undo",
        200,
        "Give rows back what a rollback took from them. What was changed since is `untouched`.",
        response="RollbackReport",
        body=UndoBody,
        refusals=(409,),
    ),
)
