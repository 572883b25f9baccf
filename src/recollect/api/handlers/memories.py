"""Handlers of the operations that write memories, for REST and gRPC."""

from collections.abc import Mapping
from typing import Any

from recollect.api import inputs
from recollect.api.calls import Call, Handler, Reply
from recollect.api.errors import error_body, http_status
from recollect.api.handlers.memory_shapes import to_memory
from recollect.api.handlers.reading import memory_of
from recollect.api.memory.memories import (
    MemoryBatch,
    MemoryMove,
    MemoryPatch,
    MemoryRemoval,
    NewMemory,
)
from recollect.domain.jsontext import dump
from recollect.domain.memories import MemoryId
from recollect.errors import RecollectError, ValidationFailed
from recollect.ports.memories import Stored
from recollect.services.memory_batches import (
    BatchRefused,
    Broken,
    Creation,
    Deletion,
    Done,
    Failure,
    Item,
    Op,
    Outcome,
    Update,
)
from recollect.services.memory_writing import Written

_SUCCESS = {Op.CREATE: 201, Op.UPDATE: 200, Op.DELETE: 204}


def to_written(written: Written) -> str:
    """The JSON of a `WriteResult`."""
    memory = written.stored.memory
    return dump(
        {
            "id": memory.id,
            "group_id": memory.space.group_id,
            "status": written.status,
            "memory": _shown(written.stored),
            "warnings": [{"code": w.code, "message": w.message} for w in written.warnings],
        }
    )


async def create_memory(call: Call) -> str:
    body: NewMemory = call.body
    written = await call.services.memories.create(
        call.asker, body.members, reserved_id=call.reserved_id
    )
    return to_written(written)


async def update_memory(call: Call) -> str | Reply:
    """200 with the changed memory, or 202 with the approval that the change needs."""
    body: MemoryPatch = call.body
    changed = await call.services.memories.update(call.asker, memory_of(call), body.members)
    memory = _shown(changed.stored)
    if changed.approval is None:
        return dump(memory)
    return Reply(202, dump({"approval_id": changed.approval.id, "memory": memory}).encode())


async def delete_memory(call: Call) -> None:
    await call.services.memories.delete(call.asker, memory_of(call))


async def move_memory(call: Call) -> str:
    body: MemoryMove = call.body
    moved = await call.services.memories.move(
        call.asker, memory_of(call), body.members, reserved_id=call.reserved_id
    )
    return to_written(moved)


async def batch_memories(call: Call) -> str:
    body: MemoryBatch = call.body
    items = [_item(item) for item in body.items]
    try:
        outcomes = await call.services.memory_batches.run(
            call.asker, items, atomic=body.atomic, reserved_id=call.reserved_id
        )
    except BatchRefused as refused:
        raise _first_of(refused) from None
    return dump({"results": [_result(outcome) for outcome in outcomes]})


def _shown(stored: Stored) -> dict[str, Any]:
    """The memory with the status that it had at the instant of the write."""
    return to_memory(stored, stored.memory.updated_at)


def _item(value: Any) -> Item:
    """Parse an item. Its error becomes an item too: it must not refuse the others of a batch that
    is not atomic, and an atomic one reports all failures."""
    try:
        return _parsed_item(value)
    except RecollectError as error:
        return Broken(error)


def _parsed_item(value: Any) -> Item:
    if not isinstance(value, dict):
        raise ValidationFailed.of("body", "must be an object with `op`")
    rest = {name: member for name, member in value.items() if name != "op"}
    match value.get("op"):
        case Op.CREATE:
            return Creation(inputs.from_value(rest, NewMemory).members)
        case Op.UPDATE:
            memory_id = _item_id(rest)
            return Update(memory_id, inputs.from_value(rest, MemoryPatch).members)
        case Op.DELETE:
            removal = inputs.from_value(rest, MemoryRemoval)
            return Deletion(MemoryId(removal.id), removal.version)
    raise ValidationFailed.of("op", f"must be one of {', '.join(Op)}", allowed=list(Op))


def _item_id(rest: dict[str, Any]) -> MemoryId:
    """Take the id out of an update; the rest are the fields to change."""
    memory_id = rest.pop("id", None)
    if not isinstance(memory_id, str) or not memory_id:
        raise ValidationFailed.of("id", "must name the memory to change")
    return MemoryId(memory_id)


def _result(outcome: Outcome) -> dict[str, Any]:
    if isinstance(outcome, Failure):
        return _failed(outcome)
    return {"index": outcome.index, "status": _status(outcome), "id": outcome.id}


def _status(done: Done) -> int:
    return 202 if done.approval_id is not None else _SUCCESS[done.op]


def _failed(failure: Failure) -> dict[str, Any]:
    error: Mapping[str, Any] = error_body(failure.error, "", strict=True)
    return {
        "index": failure.index,
        "status": http_status(failure.error, strict=True),
        "error": error,
    }


def _first_of(refused: BatchRefused) -> RecollectError:
    """The error of the first failure, with its own status and code and all failures in its
    details."""
    error = refused.failures[0].error
    items = [_failed(failure) for failure in refused.failures]
    error.details = {**error_body(error, "", strict=True)["details"], "items": items}
    return error


HANDLERS: dict[str, Handler] = {
    "createMemory": create_memory,
    "batchMemories": batch_memories,
    "updateMemory": update_memory,
    "deleteMemory": delete_memory,
    "moveMemory": move_memory,
}
