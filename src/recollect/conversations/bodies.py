"""Request bodies of the conversation API: strict types, unknown fields ignored, null is absent.

The models check syntax and limits only; the services check what a body means.
"""

from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    RootModel,
    WithJsonSchema,
)

from recollect.audit.model import JUSTIFICATION_CHARS_MAX
from recollect.conversations.entries.entry import (
    CONTENT_ITEMS_MAX,
    CONTENT_TYPE_CHARS_MAX,
    INDEXED_CHARS_MAX,
    SYNC_ITEMS_MAX,
    Channel,
)
from recollect.conversations.model import TITLE_CHARS_MAX, Keep
from recollect.http.bodies import (
    NO_CONTROL,
    Body,
    OffByDefault,
    QueryText,
    default_schema,
)
from recollect.http.params import Schema, read_uuid, word_reader
from recollect.kernel.access_level import Level
from recollect.kernel.ids import USER_ID_CHARS_MAX
from recollect.kernel.pages import LIMIT_MAX
from recollect.kernel.strict_json import dump
from recollect.kernel.validation import METADATA_BYTES_MAX
from recollect.search.model import INDEX_ITEMS_MAX, SearchType
from recollect.text.dates.durations import CHARS_MAX as DURATION_CHARS_MAX
from recollect.text.dates.durations import Duration, parse_duration

T = TypeVar("T")


def _word_validator(words: dict[str, Any]) -> BeforeValidator:
    read = word_reader(words)

    def convert(value: Any) -> Any:
        if not isinstance(value, str):
            raise ValueError("must be a string")
        return read(value)

    return BeforeValidator(convert)


def _check_object_size(value: dict[str, Any]) -> dict[str, Any]:
    if len(dump(value).encode()) > METADATA_BYTES_MAX:
        raise ValueError(f"must have at most {METADATA_BYTES_MAX} bytes as compact JSON")
    return value


def _list_validator(most: int, *, text_too: bool) -> PlainValidator:
    wanted = "a list or a string" if text_too else "a list"

    def check(value: Any) -> Any:
        if not (isinstance(value, list) or (text_too and isinstance(value, str))):
            raise ValueError(f"must be {wanted}")
        if isinstance(value, list) and len(value) > most:
            raise ValueError(f"must have at most {most} items")
        return value

    return PlainValidator(check)


def _read_duration(value: Any) -> Duration:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    return parse_duration(value)


def _check_not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    return value


def _example_config(body: dict[str, Any]) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [body]})


_LIST: Schema = {"type": "array", "items": {}}
Title = Annotated[str, Field(max_length=TITLE_CHARS_MAX, pattern=NO_CONTROL)]
User = Annotated[str, Field(min_length=1, max_length=USER_ID_CHARS_MAX)]
UuidText = Annotated[
    str, AfterValidator(read_uuid), WithJsonSchema({"type": "string", "format": "uuid"})
]
ChannelWord = Annotated[
    Channel,
    _word_validator({str(channel): channel for channel in Channel}),
    WithJsonSchema({"type": "string", "enum": [str(channel) for channel in Channel]}),
]
LevelWord = Annotated[
    Level,
    _word_validator({level.word: level for level in Level}),
    WithJsonSchema({"type": "string", "enum": [level.word for level in Level]}),
]
SearchTypeWord = Annotated[
    SearchType,
    _word_validator({str(kind): kind for kind in SearchType}),
    default_schema("auto", {"type": "string", "enum": [str(kind) for kind in SearchType]}),
]
PageSize = Annotated[
    int,
    Field(ge=1, le=LIMIT_MAX),
    default_schema(20, {"type": "integer", "minimum": 1, "maximum": LIMIT_MAX}),
]
OnByDefault = Annotated[bool, default_schema(True, {"type": "boolean"})]
IndexedText = Annotated[str, Field(min_length=1, max_length=INDEXED_CHARS_MAX)]
NonBlankQuery = Annotated[
    QueryText,
    AfterValidator(_check_not_blank),
    Field(json_schema_extra={"minLength": 1, "pattern": r"\S"}),
]
ResourceType = Annotated[
    str,
    _word_validator({"conversations": "conversations"}),
    WithJsonSchema({"type": "string", "enum": ["conversations"]}),
]
Period = Annotated[
    Duration,
    PlainValidator(_read_duration),
    WithJsonSchema(
        {
            "type": "string",
            "format": "duration",
            "pattern": "^P[0-9.,YMWDTHS]+$",
            "maxLength": DURATION_CHARS_MAX,
            "examples": ["P90D"],
        }
    ),
]
Metadata = Annotated[
    dict[str, Any],
    AfterValidator(_check_object_size),
    Field(description=f"At most {METADATA_BYTES_MAX} bytes as compact JSON in UTF-8."),
]


class Justified(Body):
    """The reason of an admin call, where it is not in the query."""

    optional: ClassVar[bool] = True
    justification: Annotated[str, Field(max_length=JUSTIFICATION_CHARS_MAX)] | None = None


class NewConversation(Body):
    """A conversation to create."""

    optional: ClassVar[bool] = True
    title: Title | None = None
    metadata: Metadata | None = None


class ConversationPatch(Body):
    """Changes of a conversation: an absent title stays, null clears it."""

    nullable: ClassVar[frozenset[str]] = frozenset({"title"})
    title: Title | None = None

    @property
    def new_title(self) -> str | Keep | None:
        """The new title: None clears it, `Keep.KEEP` leaves it as it is."""
        return self.title if "title" in self.model_fields_set else Keep.KEEP


class NewFork(Body):
    """A fork to create; without a title it has its parent's."""

    optional: ClassVar[bool] = True
    title: Title | None = None


class EntryBody(Body):
    """What append and sync have in common."""

    user_id: User | None = None
    channel: ChannelWord | None = None
    content_type: Annotated[str, Field(min_length=1, max_length=CONTENT_TYPE_CHARS_MAX)] | None = (
        None
    )
    indexed_content: IndexedText | None = None
    forked_at_conversation_id: UuidText | None = None
    forked_at_entry_id: UuidText | None = None


class AppendBody(EntryBody):
    """An entry to append."""

    model_config = _example_config(
        {
            "channel": "history",
            "contentType": "history",
            "content": [{"role": "USER", "text": "I moved to Lisbon."}],
        }
    )
    content: Annotated[
        Any,
        _list_validator(CONTENT_ITEMS_MAX, text_too=True),
        WithJsonSchema({"anyOf": [_LIST | {"maxItems": CONTENT_ITEMS_MAX}, {"type": "string"}]}),
    ]


class SyncBody(EntryBody):
    """A client's whole memory."""

    model_config = _example_config(
        {"contentType": "notes", "content": [{"note": "answers in Portuguese"}]}
    )
    content: Annotated[
        Any,
        _list_validator(SYNC_ITEMS_MAX, text_too=False),
        WithJsonSchema(_LIST | {"maxItems": SYNC_ITEMS_MAX}),
    ]


class SearchBody(Body):
    """What to look for. `after` and `afterCursor` are one member with two names."""

    queries: ClassVar[frozenset[str]] = frozenset({"query"})
    query: QueryText
    search_type: SearchTypeWord = SearchType.AUTO
    after: str | None = None
    after_cursor: str | None = None
    limit: PageSize = 20
    include_entry: OnByDefault = True
    group_by_conversation: OnByDefault = True


class AdminSearchBody(SearchBody, Justified):
    """What to look for in everybody's trees, or in those of one owner."""

    optional: ClassVar[bool] = False
    query: NonBlankQuery
    user_id: User | None = None
    include_deleted: OffByDefault = False


class IndexItem(Body):
    """The text to be indexed for one entry."""

    conversation_id: UuidText
    entry_id: UuidText
    indexed_content: IndexedText


IndexItems = Annotated[list[IndexItem], Field(min_length=1, max_length=INDEX_ITEMS_MAX)]


class IndexBatch(RootModel[IndexItems], Body):
    """Texts to be indexed: all of them, or none."""

    listed: ClassVar[bool] = True


class NewMembership(Body):
    """Somebody to share with."""

    user_id: User
    access_level: LevelWord


class MembershipPatch(Body):
    """A member's new level."""

    access_level: LevelWord


class NewTransfer(Body):
    """An offer to hand over a conversation's tree."""

    conversation_id: UuidText
    new_owner_user_id: User


class Evict(Justified):
    """What to remove for good: trees that were soft-deleted longer ago than the period."""

    optional: ClassVar[bool] = False
    retention_period: Period
    resource_types: Annotated[list[ResourceType], Field(min_length=1)]
