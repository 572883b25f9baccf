"""Request bodies, schemas and operations for writing, changing, moving and deleting memories."""

from typing import Annotated, Any, ClassVar

from pydantic import Field, PlainValidator, WithJsonSchema, model_validator

from recollect.api.bodies import StrictBody, exact_word
from recollect.api.memory.rows import ID, Id, Instant, id_param, memory_operation, resource
from recollect.api.operation import Operation
from recollect.api.params import Schema
from recollect.api.resources import INTEGER, OBJECT, TEXT, object_schema, schema_ref
from recollect.domain.memories import (
    IMMUTABLE_FIELDS,
    MESSAGES_MAX,
    MemoryType,
    MessageRole,
    Sensitivity,
)
from recollect.domain.memory_checks import check_immutable
from recollect.domain.retention import PII_TAGS, MemoryScope
from recollect.domain.spaces import SpaceKind, SpaceName, Visibility
from recollect.services.drafts import OnConflict
from recollect.services.memory_batches import ITEMS_MAX, BatchOp
from recollect.services.memory_writing import WriteStatus

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
