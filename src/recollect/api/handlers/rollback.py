"""Handlers of rollbacks."""

from recollect.api.calls import Call, Handler
from recollect.api.handlers.paths import path_id
from recollect.api.memory.rollback import RollbackBody, UndoBody
from recollect.domain.jsontext import dump
from recollect.services.rollback import RollbackResult


async def roll_back(call: Call) -> str:
    body: RollbackBody = call.body
    done = await call.services.rollbacks.roll_back(
        call.required_requester,
        body.rollback_source,
        dry_run=body.dry_run,
        justification=body.justification,
    )
    return _result_to_json(done)


async def undo_rollback(call: Call) -> str:
    body: UndoBody = call.body
    done = await call.services.rollbacks.undo(
        call.required_requester,
        path_id(call, "rollback_id", "rollback"),
        justification=body.justification,
    )
    return _result_to_json(done)


def _result_to_json(done: RollbackResult) -> str:
    return dump(
        {
            "id": done.id,
            "archived": done.archived,
            "restored": done.restored,
            "untouched": done.untouched,
            "ids": list(done.ids),
        }
    )


HANDLERS: dict[str, Handler] = {"rollBack": roll_back, "undoRollback": undo_rollback}
