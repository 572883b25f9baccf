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

from recollect.http.bodies import StrictBody, exact_word, example_config
from recollect.http.examples import AGENT_ID
from recollect.http.operation import ID, Id, Instant
from recollect.http.params import Schema
from recollect.http.schemas import INTEGER, TEXT, describe
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
        "role": describe(
            {"type": "string", "enum": [str(role) for role in MessageRole]},
            "Who said it: the person, the assistant, the system or a tool.",
        ),
        "content": describe(TEXT, "The text."),
        "name": describe(TEXT, "The name of who said it."),
        "user_id": describe(TEXT, "The user who said it."),
        "created_at": describe({"type": "string", "format": "date-time"}, "When it was said."),
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
    kind: Annotated[SpaceKind, exact_word(SpaceKind)] = Field(
        description="What the space belongs to.", examples=["user"]
    )
    id: str | None = Field(
        default=None,
        description="The id of that agent, user, chat, run or org, unless it follows from the "
        "request.",
    )

    @property
    def space_name(self) -> SpaceName:
        """The kind and the normalised id."""
        return SpaceName(self.kind, self.id)


class MutableFields(StrictBody):
    """What may be said at creation and changed later."""

    content: str | None = Field(default=None, description="The text of a statement.")
    value: dict[str, Any] | None = Field(default=None, description="The object of a record.")
    type: Annotated[MemoryType, exact_word(MemoryType)] | None = Field(
        default=None, description="What sort of fact it is; `knowledge` if absent."
    )
    sensitivity: Annotated[Sensitivity, exact_word(Sensitivity)] | None = Field(
        default=None, description="How private it is. Without it the server judges by the text."
    )
    portable: bool | None = Field(
        default=None, description="Whether it may be told outside of the chat where it was learned."
    )
    subjects: TextList | None = Field(
        default=None, description="The people that it is about: person ids or names."
    )
    tags: TextList | None = Field(default=None, description="Words to filter by.")
    metadata: dict[str, Any] | None = Field(default=None, description="Your own data.")
    pii_tags: PiiTags | None = Field(
        default=None,
        description="Kinds of personal data in it, beside those that the server finds.",
    )
    retention_policy: str | None = Field(
        default=None, description="The name of a retention policy."
    )
    ttl_seconds: Seconds | None = Field(default=None, description="How long it lives, in seconds.")
    expires_at: Instant | None = Field(default=None, description="When it expires.")
    valid_from: Instant | None = Field(default=None, description="From when on it is true.")
    valid_until: Instant | None = Field(default=None, description="Until when it is true.")


class CreateMemory(MutableFields, title="NewMemory"):
    """A memory to write: a text, a list of messages, or a key with a value."""

    model_config = example_config(
        {
            "space": {"kind": "user"},
            "content": "Ann is vegetarian.",
            "type": "preference",
            "tags": ["food"],
        }
    )

    # Null means absent in every field.
    messages: Messages | None = Field(
        default=None, description="Messages to remember as they are, or a text."
    )
    key: str | None = Field(default=None, description="The key of a record; it comes with `value`.")
    id: str | None = Field(
        default=None, description="The id of the new memory; one is made if it is absent."
    )
    memory_id: str | None = Field(default=None, description="Another name of `id`.")
    agent_id: Id | None = Field(default=None, description="The agent whose space it goes to.")
    agent_slug: Id | None = Field(default=None, description="Another name of `agent_id`.")
    visibility: VisibilityField | None = Field(
        default=None, description="Whether it goes to the agent's public or private space."
    )
    scope: Annotated[MemoryScope, exact_word(MemoryScope)] | None = Field(
        default=None,
        description="Which of the agent's spaces: its own, that of a run, or that of its org.",
    )
    run_id: str | None = Field(default=None, description="The run that writes it.")
    space: WriteSpace | None = Field(
        default=None, description="The space that it goes to, if no agent's."
    )
    chat_id: Id | None = Field(default=None, description="The chat in which it was said.")
    learned_in: Id | None = Field(default=None, description="Another name of `chat_id`.")
    stated_by: Id | None = Field(
        default=None, description="Who said it: a person id, a user id or a name."
    )
    observed_at: Instant | None = Field(
        default=None, description="When it was said; now if absent."
    )
    time_zone: Id | None = Field(
        default=None,
        description="The time zone of words such as `tomorrow`, as the IANA database has it.",
    )
    supersedes: TextList | None = Field(
        default=None, description="Memories of the same space that it replaces."
    )
    source_entries: TextList | None = Field(
        default=None, description="Entries of conversations that it was derived from."
    )
    extract: bool | None = Field(
        default=None, description="Reserved: whether to extract facts from it."
    )
    on_conflict: Annotated[OnConflict, exact_word(OnConflict)] | None = Field(
        default=None, description="What happens to a record with the same key; `keep` if absent."
    )
    request_approval: bool | None = Field(
        default=None,
        description="Whether to ask for approval of an expiry past the cap on critical personal "
        "data.",
    )
    wait: Annotated[WaitFor, exact_word(WaitFor)] | None = Field(
        default=None,
        description="Answer when it is found by meaning too, or when all work on it is done.",
    )
    wait_seconds: Annotated[int, Field(json_schema_extra={"minimum": 1, "maximum": 30})] | None = (
        Field(default=None, description="How long to wait at most; 10 if absent.")
    )


class PatchMemory(MutableFields, title="MemoryPatch"):
    """What changes of a memory. Null clears terms and times; a null sensitivity is `public`, and
    what never changes is not cleared either."""

    model_config = example_config({"tags": ["food", "kitchen"], "version": 1})
    nullable: ClassVar[frozenset[str]] = (
        IMMUTABLE_FIELDS
        | {"sensitivity", "retention_policy", "ttl_seconds", "expires_at"}
        | {field.name for field in PLAIN_FIELDS if field.nullable}
    )
    # The version that the caller expects, for optimistic locking.
    version: Annotated[int, Field(json_schema_extra={"minimum": 1})] | None = Field(
        default=None, description="Change it only if it still has this version.", examples=[1]
    )

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

    model_config = example_config({"space": {"kind": "agent_private", "id": AGENT_ID}})

    visibility: VisibilityField | None = Field(
        default=None, description="The visibility that it gets, of the same agent."
    )
    space: WriteSpace | None = Field(default=None, description="The space that it moves to.")


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
        "op": describe({"type": "string", "enum": [str(op) for op in BatchOp]}, "What to do."),
        "id": describe(ID, "The memory to change or to delete."),
        "version": describe(INTEGER, "Do it only if the memory still has this version."),
    },
    "description": "With the members of a new memory, or of a change.",
}


class MemoryBatch(StrictBody):
    """Writes, changes and deletions, all or none of them unless `atomic` is false."""

    model_config = example_config(
        {
            "items": [
                {
                    "op": "create",
                    "space": {"kind": "user"},
                    "content": "Ann works in Bern.",
                }
            ]
        }
    )

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
    ] = Field(description="What to do, in order.")
    atomic: bool = Field(default=True, description="Whether one item that fails undoes all others.")

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
