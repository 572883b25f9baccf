"""Operations of rollbacks."""

from pydantic import Field

from recollect.http.call import Call, Handler
from recollect.http.examples import MEMORY_ID, ROLLBACK_ID
from recollect.http.operation import Operation, memory_operation
from recollect.http.paths import path_id
from recollect.http.resource import Resource, resource_schemas
from recollect.rollback.commands import RollBack, UndoRollback
from recollect.rollback.service import RollbackService


class RollbackReportResource(Resource):
    """What a rollback or its undo did."""

    id: str | None = Field(
        description="The id by which the rollback can be undone; null in a dry run.",
        examples=[ROLLBACK_ID],
    )
    archived: int = Field(description="How many memories were archived, or would be.", examples=[1])
    restored: int = Field(
        description="How many memories are active again, or would be.", examples=[0]
    )
    untouched: int = Field(
        description="How many were left as they are: the caller may not write them, or they were "
        "changed since.",
        examples=[0],
    )
    ids: list[str] = Field(
        description="The memories that were archived or restored, or would be.",
        examples=[[MEMORY_ID]],
    )


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
        body=RollBack,
        refusals=(404,),
    ),
    memory_operation(
        "undoRollback",
        "POST /v1/rollbacks/{rollback_id}/undo",
        200,
        "Give rows back what a rollback took from them. What was changed since is `untouched`.",
        response="RollbackReport",
        body=UndoRollback,
        answered={"archived": 0, "restored": 1},
        refusals=(409,),
    ),
)


async def roll_back(call: Call) -> str:
    return RollbackReportResource.render(
        await call.services[RollbackService].roll_back(call.required_requester, call.body)
    )


async def undo_rollback(call: Call) -> str:
    return RollbackReportResource.render(
        await call.services[RollbackService].undo(
            call.required_requester, path_id(call, "rollback_id", "rollback"), call.body
        )
    )


HANDLERS: dict[str, Handler] = {"rollBack": roll_back, "undoRollback": undo_rollback}
