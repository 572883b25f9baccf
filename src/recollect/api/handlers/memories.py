"""Handlers of the operations that write memories, for REST and gRPC."""

from collections.abc import Mapping
from typing import Any

from recollect.api import inputs
from recollect.api.calls import Call, Handler, Reply
from recollect.api.errors import error_body, http_status
from recollect.api.handlers.memory_shapes import memory_to_json
from recollect.api.handlers.reading import path_memory_id
from recollect.api.memory.memories import (
    BatchDeleteBody,
    MemoryBatch,
    MemoryMove,
    MemoryPatch,
    NewMemory,
)
from recollect.domain.jsontext import dump
from recollect.domain.memories import MemoryId
from recollect.errors import RecollectError, ValidationFailed
from recollect.ports.memories import StoredMemory
from recollect.services.memory_batches import (
    BatchCreate,
    BatchDelete,
    BatchFailure,
    BatchItem,
    BatchOp,
    BatchOutcome,
    BatchRefused,
    BatchSuccess,
    BatchUpdate,
    InvalidBatchItem,
)
from recollect.services.memory_writing import MemoryWriteResult

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
            "warnings": [{"code": w.code, "message": w.message} for w in written.warnings],
        }
    )


async def create_memory(call: Call) -> str:
    body: NewMemory = call.body
    written = await call.services.memories.create(
        call.required_requester, body.sent_fields, reserved_id=call.reserved_id
    )
    return write_result_to_json(written)


async def update_memory(call: Call) -> str | Reply:
    """200 with the changed memory, or 202 with the approval that the change needs."""
    body: MemoryPatch = call.body
    changed = await call.services.memories.update(
        call.required_requester, path_memory_id(call), body.sent_fields
    )
    memory = _written_memory_json(changed.stored)
    if changed.approval is None:
        return dump(memory)
    return Reply(202, dump({"approval_id": changed.approval.id, "memory": memory}).encode())


async def delete_memory(call: Call) -> None:
    await call.services.memories.delete(call.required_requester, path_memory_id(call))


async def move_memory(call: Call) -> str:
    body: MemoryMove = call.body
    moved = await call.services.memories.move(
        call.required_requester,
        path_memory_id(call),
        body.sent_fields,
        reserved_id=call.reserved_id,
    )
    return write_result_to_json(moved)


async def batch_memories(call: Call) -> str:
    body: MemoryBatch = call.body
    items = [_read_item(item) for item in body.items]
    try:
        outcomes = await call.services.memory_batches.run(
            call.required_requester, items, atomic=body.atomic, reserved_id=call.reserved_id
        )
    except BatchRefused as refused:
        raise _first_failure(refused) from None
    return dump({"results": [_result_json(outcome) for outcome in outcomes]})


def _written_memory_json(stored: StoredMemory) -> dict[str, Any]:
    """The memory with the status that it had at the instant of the write."""
    return memory_to_json(stored, stored.memory.updated_at)


def _read_item(value: Any) -> BatchItem:
    """Parse an item. Its error becomes an item too: it must not refuse the others of a batch that
    is not atomic, and an atomic one reports all failures."""
    try:
        return _parse_item(value)
    except RecollectError as error:
        return InvalidBatchItem(error)


def _parse_item(value: Any) -> BatchItem:
    if not isinstance(value, dict):
        raise ValidationFailed.for_field("body", "must be an object with `op`")
    rest = {name: member for name, member in value.items() if name != "op"}
    match value.get("op"):
        case BatchOp.CREATE:
            return BatchCreate(inputs.validate_body(rest, NewMemory).sent_fields)
        case BatchOp.UPDATE:
            memory_id = _pop_item_id(rest)
            return BatchUpdate(memory_id, inputs.validate_body(rest, MemoryPatch).sent_fields)
        case BatchOp.DELETE:
            removal = inputs.validate_body(rest, BatchDeleteBody)
            return BatchDelete(MemoryId(removal.id), removal.version)
    raise ValidationFailed.for_field(
        "op", f"must be one of {', '.join(BatchOp)}", allowed=list(BatchOp)
    )


def _pop_item_id(rest: dict[str, Any]) -> MemoryId:
    """Take the id out of an update; the rest are the fields to change."""
    memory_id = rest.pop("id", None)
    if not isinstance(memory_id, str) or not memory_id:
        raise ValidationFailed.for_field("id", "must name the memory to change")
    return MemoryId(memory_id)


def _result_json(outcome: BatchOutcome) -> dict[str, Any]:
    if isinstance(outcome, BatchFailure):
        return _failure_json(outcome)
    return {"index": outcome.index, "status": _status_code(outcome), "id": outcome.id}


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
