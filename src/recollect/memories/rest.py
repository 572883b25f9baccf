"""Request bodies, schemas and operations for writing, changing, moving and deleting memories."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field, PlainValidator, WithJsonSchema, model_validator

from recollect.http import validation
from recollect.http.bodies import StrictBody, exact_word
from recollect.http.call import Call, Handler, Reply
from recollect.http.errors import error_body, http_status
from recollect.http.operation import (
    ID,
    Id,
    Instant,
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
    object_schema,
    schema_ref,
)
from recollect.kernel.errors import RecollectError, ValidationFailed
from recollect.kernel.ids import MemoryId
from recollect.kernel.retention_rules import PII_TAGS, MemoryScope
from recollect.kernel.space import SpaceKind, SpaceName, Visibility
from recollect.kernel.strict_json import dump
from recollect.memories.model import (
    IMMUTABLE_FIELDS,
    MESSAGES_MAX,
    MemoryType,
    MessageRole,
    Sensitivity,
    StoredMemory,
)
from recollect.memories.render import memory_to_json
from recollect.memories.rest_read import path_memory_id
from recollect.memories.service import MemoryService
from recollect.memories.validation import check_immutable
from recollect.memories.write.batch import (
    ITEMS_MAX,
    BatchCreate,
    BatchDelete,
    BatchFailure,
    BatchItem,
    BatchOp,
    BatchOutcome,
    BatchRefused,
    BatchService,
    BatchSuccess,
    BatchUpdate,
    InvalidBatchItem,
)
from recollect.memories.write.draft import OnConflict
from recollect.memories.write.writer import MemoryWriteResult, WriteStatus

_MESSAGE_SCHEMA: Schema = {
    "type": "object",
    "required": ["role", "content"],
    "additionalProperties": False,
    "properties": {
        "role": {"type": "string", "enum": [str(role) for role in MessageRole]},
        "content": TEXT,
        "name": TEXT,
        "user_id": TEXT,
        "created_at": {"type": "string", "format": "date-time"},
    },
}


def _check_text_or_list(value: Any) -> Any:
    if not isinstance(value, str | list):
        raise ValueError("must be a string or a list of messages")
    return value


Messages = Annotated[
    Any,
    PlainValidator(_check_text_or_list),
    WithJsonSchema(
        {
            "anyOf": [
                TEXT,
                {
                    "type": "array",
                    "items": _MESSAGE_SCHEMA,
                    "minItems": 1,
                    "maxItems": MESSAGES_MAX,
                },
            ]
        }
    ),
]
TextList = list[str]
PiiTags = Annotated[
    list[str],
    WithJsonSchema({"type": "array", "items": {"type": "string", "enum": list(PII_TAGS)}}),
]
MemoryTypeField = Annotated[MemoryType, exact_word(MemoryType)]
SensitivityField = Annotated[Sensitivity, exact_word(Sensitivity)]
VisibilityField = Annotated[Visibility, exact_word(Visibility)]
Seconds = Annotated[int, Field(json_schema_extra={"minimum": 1})]


class SpaceWish(StrictBody):
    """A space to write to. The id may be left out where it follows from the request."""

    kind: Annotated[SpaceKind, exact_word(SpaceKind)]
    id: str | None = None


class SentFieldsBody(StrictBody):
    """A body whose sent fields are passed to the services by name. Absent is not null here."""

    @property
    def sent_fields(self) -> dict[str, Any]:
        """The sent fields, with values of domain types."""
        sent = {name: getattr(self, name) for name in self.model_fields_set}
        space = sent.get("space")
        return sent if space is None else sent | {"space": SpaceName(space.kind, space.id)}


class MutableFieldsBody(SentFieldsBody):
    """What may be said at creation and changed later."""

    content: str | None = None
    value: dict[str, Any] | None = None
    type: MemoryTypeField | None = None
    sensitivity: SensitivityField | None = None
    portable: bool | None = None
    subjects: TextList | None = None
    tags: TextList | None = None
    metadata: dict[str, Any] | None = None
    pii_tags: PiiTags | None = None
    retention_policy: str | None = None
    ttl_seconds: Seconds | None = None
    expires_at: Instant | None = None
    valid_from: Instant | None = None
    valid_until: Instant | None = None


class NewMemory(MutableFieldsBody):
    """A memory to write: a text, a list of messages, or a key with a value."""

    messages: Messages | None = None
    key: str | None = None
    id: str | None = None
    memory_id: str | None = None
    agent_id: Id | None = None
    agent_slug: Id | None = None
    visibility: VisibilityField | None = None
    scope: Annotated[MemoryScope, exact_word(MemoryScope)] | None = None
    run_id: str | None = None
    space: SpaceWish | None = None
    chat_id: Id | None = None
    learned_in: Id | None = None
    stated_by: Id | None = None
    observed_at: Instant | None = None
    time_zone: Id | None = None
    supersedes: TextList | None = None
    source_entries: TextList | None = None
    extract: bool | None = None
    on_conflict: Annotated[OnConflict, exact_word(OnConflict)] | None = None
    request_approval: bool | None = None


class MemoryPatch(MutableFieldsBody):
    """What changes of a memory. Null clears terms and times; a null sensitivity is `public`, and
    what never changes is not cleared either."""

    nullable: ClassVar[frozenset[str]] = IMMUTABLE_FIELDS | {
        "sensitivity",
        "retention_policy",
        "ttl_seconds",
        "expires_at",
        "valid_from",
        "valid_until",
    }
    version: Annotated[int, Field(json_schema_extra={"minimum": 1})] | None = None

    @model_validator(mode="before")
    @classmethod
    def _refuse_immutable_fields(cls, sent: Any) -> Any:
        """Report fields that never change by their own error code, before they count as unknown."""
        if isinstance(sent, dict):
            check_immutable(sent)
        return sent


class MemoryMove(SentFieldsBody):
    """Where a memory moves: another visibility of its agent, or another space."""

    visibility: VisibilityField | None = None
    space: SpaceWish | None = None


class BatchDeleteBody(StrictBody):
    """An item of a batch that deletes a memory."""

    id: Id
    version: int | None = None


_BATCH_ITEM_SCHEMA: Schema = {
    "type": "object",
    "required": ["op"],
    "properties": {
        "op": {"type": "string", "enum": [str(op) for op in BatchOp]},
        "id": ID,
        "version": INTEGER,
    },
    "description": "With the members of a new memory, or of a change.",
}


class MemoryBatch(StrictBody):
    """Writes, changes and deletions, all or none of them unless `atomic` is false."""

    items: Annotated[
        list[Any],
        Field(min_length=1, max_length=ITEMS_MAX),
        WithJsonSchema(
            {"type": "array", "items": _BATCH_ITEM_SCHEMA, "minItems": 1, "maxItems": ITEMS_MAX}
        ),
    ]
    atomic: bool = True


RESOURCES: dict[str, Schema] = {
    "WriteResult": resource(
        {
            "id": ID,
            "group_id": TEXT,
            "status": {"type": "string", "enum": [str(status) for status in WriteStatus]},
            "memory": schema_ref("Memory"),
            "warnings": {
                "type": "array",
                "items": resource({"code": TEXT, "message": TEXT}),
            },
        }
    ),
    "BatchResults": resource(
        {
            "results": {
                "type": "array",
                "items": object_schema(
                    {"index": INTEGER, "status": INTEGER},
                    {"id": ID, "error": resource({"error": TEXT, "code": TEXT, "details": OBJECT})},
                ),
            }
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
        body=NewMemory,
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
        body=MemoryPatch,
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
        body=MemoryMove,
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
            "warnings": [{"code": w.code, "message": w.message} for w in written.warnings],
        }
    )


async def create_memory(call: Call) -> str:
    body: NewMemory = call.body
    written = await call.services[MemoryService].create(
        call.required_requester, body.sent_fields, reserved_id=call.reserved_id
    )
    return write_result_to_json(written)


async def update_memory(call: Call) -> str | Reply:
    """200 with the changed memory, or 202 with the approval that the change needs."""
    body: MemoryPatch = call.body
    changed = await call.services[MemoryService].update(
        call.required_requester, path_memory_id(call), body.sent_fields
    )
    memory = _written_memory_json(changed.stored)
    if changed.approval is None:
        return dump(memory)
    return Reply(202, dump({"approval_id": changed.approval.id, "memory": memory}).encode())


async def delete_memory(call: Call) -> None:
    await call.services[MemoryService].delete(call.required_requester, path_memory_id(call))


async def move_memory(call: Call) -> str:
    body: MemoryMove = call.body
    moved = await call.services[MemoryService].move(
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
        outcomes = await call.services[BatchService].run(
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
            return BatchCreate(validation.validate_body(rest, NewMemory).sent_fields)
        case BatchOp.UPDATE:
            memory_id = _pop_item_id(rest)
            return BatchUpdate(memory_id, validation.validate_body(rest, MemoryPatch).sent_fields)
        case BatchOp.DELETE:
            removal = validation.validate_body(rest, BatchDeleteBody)
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
