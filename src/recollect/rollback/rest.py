"""Operations of rollbacks."""

from recollect.http.call import Call, Handler
from recollect.http.operation import Operation, memory_operation
from recollect.http.paths import path_id
from recollect.http.resource import Resource, resource_schemas
from recollect.rollback.commands import RollBack, UndoRollback
from recollect.rollback.service import RollbackService


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
