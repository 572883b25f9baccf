"""Operations for writing, changing, moving and deleting memories. Their bodies are the commands."""

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.http.call import Call, Handler, Reply
from recollect.http.errors import error_body, http_status
from recollect.http.examples import (
    AGENT_ID,
    APPROVAL_ID,
    MEMORY_ID,
    MOVED_MEMORY_ID,
    OTHER_MEMORY_ID,
    USER_ID,
)
from recollect.http.operation import (
    ID,
    Operation,
    id_param,
    memory_operation,
    resource,
)
from recollect.http.params import Schema
from recollect.http.schemas import (
    INTEGER,
    OBJECT,
    TEXT,
    describe,
    object_schema,
    schema_ref,
)
from recollect.kernel.errors import RecollectError
from recollect.kernel.strict_json import dump
from recollect.memories.commands import (
    BatchOp,
    CreateMemory,
    MemoryBatch,
    MoveMemory,
    PatchMemory,
)
from recollect.memories.model import StoredMemory
from recollect.memories.render import memory_to_json
from recollect.memories.rest_read import path_memory_id
from recollect.memories.service import MemoryService
from recollect.memories.write.batch import (
    BatchFailure,
    BatchOutcome,
    BatchRefused,
    BatchService,
    BatchSuccess,
)
from recollect.memories.write.warnings import WriteWarning
from recollect.memories.write.writer import MemoryWriteResult, WriteStatus

_WARNINGS = describe(
    {
        "type": "array",
        "items": resource(
            {
                "code": describe(TEXT, "What it warns of.", "visibility_by"),
                "message": describe(TEXT, "The same for people.", "default"),
            }
        ),
    },
    "What the caller should know about a write that succeeded.",
    [],
)
_BATCH_RESULT = object_schema(
    {
        "index": describe(INTEGER, "The place of the item in the batch.", 0),
        "status": describe(INTEGER, "The HTTP status that it has alone.", 201),
    },
    {
        "id": describe(ID, "The memory that it wrote.", OTHER_MEMORY_ID),
        "warnings": _WARNINGS,
        "error": describe(
            resource(
                {
                    "error": describe(TEXT, "What was wrong."),
                    "code": describe(TEXT, "The same for programs."),
                    "details": describe(OBJECT, "More about it, by code."),
                }
            ),
            "Why it failed.",
        ),
    },
)
RESOURCES: dict[str, Schema] = {
    "WriteResult": resource(
        {
            "id": describe(ID, "The id of the memory, or of an equal one.", MEMORY_ID),
            "group_id": describe(TEXT, "The name of its space.", f"user-{USER_ID}"),
            "status": describe(
                {"type": "string", "enum": [str(status) for status in WriteStatus]},
                "What became of the write.",
                "created",
            ),
            "memory": describe(schema_ref("Memory"), "The memory as it is stored."),
            "warnings": _WARNINGS,
        }
    ),
    "PendingChange": resource(
        {
            "approval_id": describe(ID, "The request for approval.", APPROVAL_ID),
            "memory": describe(schema_ref("Memory"), "The memory, which is as it was."),
        }
    ),
    "BatchResults": resource(
        {
            "results": describe(
                {"type": "array", "items": _BATCH_RESULT}, "What became of each item, in order."
            )
        }
    ),
}

_MEMORY_PATH = "/v1/memories/{memory_id}"

OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "createMemory",
        "POST /v1/memories",
        201,
        "Write a memory. An equal statement of the same space is counted, not stored twice.",
        response="WriteResult",
        body=CreateMemory,
        refusals=(404, 409),
    ),
    memory_operation(
        "batchMemories",
        "POST /v1/memories/batch",
        200,
        "Write, change and delete many memories. All of them or none, unless `atomic` is false: "
        "then each item has a status of its own.",
        response="BatchResults",
        body=MemoryBatch,
        refusals=(404, 409),
    ),
    memory_operation(
        "updateMemory",
        f"PATCH {_MEMORY_PATH}",
        200,
        "Change a memory; earlier versions stay in its history. A term past the cap on critical "
        "personal data changes nothing and answers 202 with the id of an approval.",
        response="Memory",
        also={202: "PendingChange"},
        body=PatchMemory,
        answered={"tags": ["food", "kitchen"], "version": 2},
        refusals=(409,),
    ),
    memory_operation(
        "deleteMemory",
        f"DELETE {_MEMORY_PATH}",
        204,
        "Delete a memory with its versions.",
        query=(id_param("agent_id", "Accepted and not looked at: the memory says whose it is."),),
    ),
    memory_operation(
        "moveMemory",
        f"POST {_MEMORY_PATH}/move",
        201,
        "Move a memory to another space, under a new id.",
        response="WriteResult",
        body=MoveMemory,
        answered={
            "id": MOVED_MEMORY_ID,
            "group_id": f"agent-{AGENT_ID}-private",
            "memory": {
                "id": MOVED_MEMORY_ID,
                "space": {"kind": "agent_private", "id": AGENT_ID},
                "group_id": f"agent-{AGENT_ID}-private",
                "agent_id": AGENT_ID,
                "org_id": "default",
                "visibility": "private",
                "source_memories": [MEMORY_ID],
            },
        },
        refusals=(409,),
    ),
)


_SUCCESS_STATUS = {BatchOp.CREATE: 201, BatchOp.UPDATE: 200, BatchOp.DELETE: 204}


def write_result_to_json(written: MemoryWriteResult) -> str:
    """The JSON of a `WriteResult`."""
    memory = written.stored.memory
    return dump(
        {
            "id": memory.id,
            "group_id": memory.space.group_id,
            "status": written.status,
            "memory": _written_memory_json(written.stored),
            "warnings": _warnings_json(written.warnings),
        }
    )


def _warnings_json(warnings: Sequence[WriteWarning]) -> list[dict[str, str]]:
    return [{"code": one.code, "message": one.message} for one in warnings]


async def create_memory(call: Call) -> str:
    command: CreateMemory = call.body
    written = await call.services[MemoryService].create(
        call.required_requester, command, reserved_id=call.reserved_id
    )
    return write_result_to_json(written)


async def update_memory(call: Call) -> str | Reply:
    """200 with the changed memory, or 202 with the approval that the change needs."""
    command: PatchMemory = call.body
    changed = await call.services[MemoryService].update(
        call.required_requester, path_memory_id(call), command
    )
    memory = _written_memory_json(changed.stored)
    if changed.approval is None:
        return dump(memory)
    return Reply(202, dump({"approval_id": changed.approval.id, "memory": memory}).encode())


async def delete_memory(call: Call) -> None:
    await call.services[MemoryService].delete(call.required_requester, path_memory_id(call))


async def move_memory(call: Call) -> str:
    command: MoveMemory = call.body
    moved = await call.services[MemoryService].move(
        call.required_requester, path_memory_id(call), command, reserved_id=call.reserved_id
    )
    return write_result_to_json(moved)


async def batch_memories(call: Call) -> str:
    batch: MemoryBatch = call.body
    try:
        outcomes = await call.services[BatchService].run(
            call.required_requester,
            batch.parse_items(),
            atomic=batch.atomic,
            reserved_id=call.reserved_id,
        )
    except BatchRefused as refused:
        raise _first_failure(refused) from None
    return dump({"results": [_result_json(outcome) for outcome in outcomes]})


def _written_memory_json(stored: StoredMemory) -> dict[str, Any]:
    """The memory with the status that it had at the instant of the write."""
    return memory_to_json(stored, stored.memory.updated_at)


def _result_json(outcome: BatchOutcome) -> dict[str, Any]:
    if isinstance(outcome, BatchFailure):
        return _failure_json(outcome)
    result = {"index": outcome.index, "status": _status_code(outcome), "id": outcome.id}
    warned = {"warnings": _warnings_json(outcome.warnings)} if outcome.warnings else {}
    return result | warned


def _status_code(done: BatchSuccess) -> int:
    return 202 if done.approval_id is not None else _SUCCESS_STATUS[done.op]


def _failure_json(failure: BatchFailure) -> dict[str, Any]:
    error: Mapping[str, Any] = error_body(failure.error, "", strict=True)
    return {
        "index": failure.index,
        "status": http_status(failure.error, strict=True),
        "error": error,
    }


def _first_failure(refused: BatchRefused) -> RecollectError:
    """The error of the first failure, with its own status and code and all failures in its
    details."""
    error = refused.failures[0].error
    items = [_failure_json(failure) for failure in refused.failures]
    error.details = {**error_body(error, "", strict=True)["details"], "items": items}
    return error


HANDLERS: dict[str, Handler] = {
    "createMemory": create_memory,
    "batchMemories": batch_memories,
    "updateMemory": update_memory,
    "deleteMemory": delete_memory,
    "moveMemory": move_memory,
}
