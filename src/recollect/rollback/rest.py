"""Operations of rollbacks."""

from typing import ClassVar

from pydantic import model_validator

from recollect.http.bodies import StrictBody
from recollect.http.call import Call, Handler
from recollect.http.operation import (
    Id,
    Instant,
    JustifiedStrict,
    Operation,
    memory_operation,
)
from recollect.http.paths import path_id
from recollect.http.resource import Resource, resource_schemas
from recollect.kernel.space import to_chat_id
from recollect.rollback.model import RollbackSource, SourceKind
from recollect.rollback.service import RollbackService

_SOURCE_FIELDS = ", ".join(SourceKind)


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
    def _require_one(self) -> "SourceBody":
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


class RollbackBody(JustifiedStrict):
    """What to take back. `since` and `until` narrow when memories of the source were stored."""

    source: SourceBody
    since: Instant | None = None
    until: Instant | None = None
    dry_run: bool

    @property
    def rollback_source(self) -> RollbackSource:
        ((kind, id_),) = self.source.sent_ids.items()
        return RollbackSource(kind, id_, self.since, self.until)


class UndoBody(JustifiedStrict):
    """The reason of an admin."""

    optional: ClassVar[bool] = True


class RollbackReportResource(Resource):
    """What a rollback or its undo did."""

    id: str | None
    archived: int
    restored: int
    untouched: int
    ids: list[str]


RESOURCES = resource_schemas(RollbackReportResource)

OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
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
    memory_operation(
        "undoRollback",
        "POST /v1/rollbacks/{rollback_id}/undo",
        200,
        "Give rows back what a rollback took from them. What was changed since is `untouched`.",
        response="RollbackReport",
        body=UndoBody,
        refusals=(409,),
    ),
)


async def roll_back(call: Call) -> str:
    body: RollbackBody = call.body
    done = await call.services[RollbackService].roll_back(
        call.required_requester,
        body.rollback_source,
        dry_run=body.dry_run,
        justification=body.justification,
    )
    return RollbackReportResource.render(done)


async def undo_rollback(call: Call) -> str:
    body: UndoBody = call.body
    done = await call.services[RollbackService].undo(
        call.required_requester,
        path_id(call, "rollback_id", "rollback"),
        justification=body.justification,
    )
    return RollbackReportResource.render(done)


HANDLERS: dict[str, Handler] = {"rollBack": roll_back, "undoRollback": undo_rollback}
