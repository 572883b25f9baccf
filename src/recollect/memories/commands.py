"""Typed commands: what a caller sends to create, change, move and delete memories.

One declaration gives the OpenAPI schema, the parsing of REST, gRPC and batch items, and what the
services take. Here is the shape of a command alone; rules that need more than one field, and all
that need stored data, are in `write/`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import Field, PlainValidator, WithJsonSchema, model_validator

from recollect.http.bodies import StrictBody, exact_word
from recollect.http.operation import ID, Id, Instant
from recollect.http.params import Schema
from recollect.http.schemas import INTEGER, TEXT
from recollect.http.validation import validate_body
from recollect.kernel.errors import RecollectError, ValidationFailed
from recollect.kernel.ids import MemoryId
from recollect.kernel.retention_rules import PII_TAGS, TTL_SECONDS_MAX, MemoryScope
from recollect.kernel.space import SpaceKind, SpaceName, Visibility
from recollect.memories.fields import PLAIN_FIELDS
from recollect.memories.model import (
    IMMUTABLE_FIELDS,
    MESSAGES_MAX,
    MemoryType,
    MessageRole,
    Sensitivity,
)
from recollect.memories.validation import check_immutable

BATCH_ITEMS_MAX = 1_000


class OnConflict(StrEnum):
    """What happens to records with the same key in the space of a new record."""

    KEEP = "keep"
    SUPERSEDE = "supersede"
    REFUSE = "refuse"


class WaitFor(StrEnum):
    """What a write waits for: that the memory is found by meaning too, or that also everything else
    which the write has queued for it is done."""

    INDEXED = "indexed"
    EXTRACTED = "extracted"


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
_MESSAGES_SCHEMA: Schema = {
    "anyOf": [
        TEXT,
        {"type": "array", "items": _MESSAGE_SCHEMA, "minItems": 1, "maxItems": MESSAGES_MAX},
    ]
}


def _check_text_or_list(value: Any) -> Any:
    if not isinstance(value, str | list):
        raise ValueError("must be a string or a list of messages")
    return value


# The items are parsed by `validation.parse_messages`, whose errors name the index.
Messages = Annotated[
    str | list[Any], PlainValidator(_check_text_or_list), WithJsonSchema(_MESSAGES_SCHEMA)
]
TextList = list[str]
PiiTags = Annotated[
    list[str],
    WithJsonSchema({"type": "array", "items": {"type": "string", "enum": list(PII_TAGS)}}),
]
VisibilityField = Annotated[Visibility, exact_word(Visibility)]
Seconds = Annotated[int, Field(json_schema_extra={"minimum": 1, "maximum": TTL_SECONDS_MAX})]


class WriteSpace(StrictBody, title="SpaceWish"):
    """A space to write to. The id may be left out where it follows from the request."""

    example: ClassVar[str] = '{"kind": "user"}'
    kind: Annotated[SpaceKind, exact_word(SpaceKind)]
    id: str | None = None

    @property
    def space_name(self) -> SpaceName:
        """The kind and the normalised id."""
        return SpaceName(self.kind, self.id)


class MutableFields(StrictBody):
    """What may be said at creation and changed later."""

    content: str | None = None
    value: dict[str, Any] | None = None
    type: Annotated[MemoryType, exact_word(MemoryType)] | None = None
    sensitivity: Annotated[Sensitivity, exact_word(Sensitivity)] | None = None
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


class CreateMemory(MutableFields, title="NewMemory"):
    """A memory to write: a text, a list of messages, or a key with a value."""

    # Null means absent in every field.
    messages: Messages | None = None
    key: str | None = None
    id: str | None = None
    memory_id: str | None = None
    agent_id: Id | None = None
    agent_slug: Id | None = None
    visibility: VisibilityField | None = None
    scope: Annotated[MemoryScope, exact_word(MemoryScope)] | None = None
    run_id: str | None = None
    space: WriteSpace | None = None
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
    wait: Annotated[WaitFor, exact_word(WaitFor)] | None = None
    wait_seconds: Annotated[int, Field(json_schema_extra={"minimum": 1, "maximum": 30})] | None = (
        None
    )


class PatchMemory(MutableFields, title="MemoryPatch"):
    """What changes of a memory. Null clears terms and times; a null sensitivity is `public`, and
    what never changes is not cleared either."""

    nullable: ClassVar[frozenset[str]] = (
        IMMUTABLE_FIELDS
        | {"sensitivity", "retention_policy", "ttl_seconds", "expires_at"}
        | {field.name for field in PLAIN_FIELDS if field.nullable}
    )
    # The version that the caller expects, for optimistic locking.
    version: Annotated[int, Field(json_schema_extra={"minimum": 1})] | None = None

    @model_validator(mode="before")
    @classmethod
    def _refuse_immutable_fields(cls, sent: Any) -> Any:
        """Report fields that never change by their own error code, before they count as unknown."""
        if isinstance(sent, dict):
            check_immutable(sent)
        return sent

    def sends(self, *names: str) -> bool:
        """Whether the caller sent any of these fields: None clears a field that was sent, and an
        absent one stays as it is."""
        return not self.model_fields_set.isdisjoint(names)


class MoveMemory(StrictBody, title="MemoryMove"):
    """Where a memory moves: another visibility of its agent, or another space."""

    visibility: VisibilityField | None = None
    space: WriteSpace | None = None


class DeleteMemory(StrictBody):
    """An item of a batch that deletes a memory, if it still has the version that was seen."""

    id: Id
    version: int | None = None


class BatchOp(StrEnum):
    """The operation of an item."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class UpdateItem:
    """An item of a batch that changes a memory."""

    id: MemoryId
    patch: PatchMemory


@dataclass(frozen=True, slots=True)
class InvalidBatchItem:
    """An item that could not be parsed. It takes its place in the results."""

    error: RecollectError


BatchItem = CreateMemory | UpdateItem | DeleteMemory | InvalidBatchItem

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
        Field(min_length=1, max_length=BATCH_ITEMS_MAX),
        WithJsonSchema(
            {
                "type": "array",
                "items": _BATCH_ITEM_SCHEMA,
                "minItems": 1,
                "maxItems": BATCH_ITEMS_MAX,
            }
        ),
    ]
    atomic: bool = True

    def parse_items(self) -> list[BatchItem]:
        """The commands. The error of an item becomes an item too: it must not refuse the others of
        a batch that is not atomic, and an atomic one reports all failures."""
        return [_parse_item_or_fail(item) for item in self.items]


def _parse_item_or_fail(item: Any) -> BatchItem:
    try:
        return _parse_item(item)
    except RecollectError as error:
        return InvalidBatchItem(error)


def _parse_item(item: Any) -> BatchItem:
    if not isinstance(item, Mapping):
        raise ValidationFailed.for_field("body", "must be an object with `op`")
    fields = {name: value for name, value in item.items() if name != "op"}
    match item.get("op"):
        case BatchOp.CREATE:
            for name in ("wait", "wait_seconds"):
                if fields.get(name) is not None:
                    raise ValidationFailed.for_field(name, "is for single writes, not for a batch")
            return validate_body(fields, CreateMemory)
        case BatchOp.UPDATE:
            memory_id = fields.pop("id", None)
            if not isinstance(memory_id, str) or not memory_id:
                raise ValidationFailed.for_field("id", "must name the memory to change")
            return UpdateItem(MemoryId(memory_id), validate_body(fields, PatchMemory))
        case BatchOp.DELETE:
            return validate_body(fields, DeleteMemory)
    raise ValidationFailed.for_field(
        "op", f"must be one of {', '.join(BatchOp)}", allowed=list(BatchOp)
    )
