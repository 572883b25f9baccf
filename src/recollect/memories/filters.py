"""Filters of memories: one model, as query parameters and as fields of a request body.

`chat_id` is the context of the request. It also selects the spaces to read if nothing else does.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import (
    AfterValidator,
    Field,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)

from recollect.http.bodies import StrictBody, exact_word
from recollect.http.operation import Id, Instant, id_param
from recollect.http.params import (
    VALUES_MAX,
    Param,
    enum_param,
    flag_param,
    instant_param,
    repeated_param,
    require_storable_text,
    text_param,
)
from recollect.kernel.ids import AgentId, ChatId, RunId
from recollect.kernel.retention_rules import MemoryScope
from recollect.kernel.space import SpaceKind, SpaceName, Visibility, to_chat_id
from recollect.kernel.validation import NAME_CHARS_MAX
from recollect.memories.model import (
    KEY_CHARS_MAX,
    SUBJECTS_MAX,
    TAG_CHARS_MAX,
    TAGS_MAX,
    MemoryStatus,
    MemoryType,
    ReadContext,
    Sensitivity,
)

ALL_SPACES: Final = "all"
LOCATION_FIELDS: Final = ("agent_id", "spaces", "chat_id", "run_id", "scope", "user_id")
_KINDS = ", ".join(SpaceKind)
_ID = Field(min_length=1, max_length=NAME_CHARS_MAX)


class SpaceBody(StrictBody):
    """A space. Without an id every one of the kind."""

    example: ClassVar[str] = '{"kind": "user"}'
    kind: Annotated[SpaceKind, exact_word(SpaceKind)] = Field(
        description="What the space belongs to.", examples=["user"]
    )
    id: Id | None = Field(
        default=None,
        description="The id of that agent, user, chat, run or org; every one of the kind if "
        "absent.",
    )

    @property
    def space_name(self) -> SpaceName:
        """The kind and the normalised id."""
        return SpaceName(self.kind, self.id)


def _check_spaces(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    if value == ALL_SPACES:
        return ALL_SPACES
    if not isinstance(value, list):
        wanted = f'such as [{SpaceBody.example}], or "{ALL_SPACES}"'
        raise ValueError(f"must be a list of spaces {wanted}")
    return check(value)


Spaces = Annotated[
    list[SpaceBody],
    Field(max_length=VALUES_MAX),
    WrapValidator(_check_spaces),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "array", "items": SpaceBody.model_json_schema(), "maxItems": VALUES_MAX},
                {"type": "string", "const": ALL_SPACES},
            ]
        }
    ),
]
Tag = Annotated[str, Field(min_length=1, max_length=TAG_CHARS_MAX)]
MemoryTypeField = Annotated[MemoryType, exact_word(MemoryType)]


class MemoryFilters(StrictBody):
    """Which memories: lists, search, recall and export share these fields. Absent means any."""

    agent_id: Annotated[AgentId, _ID] | None = Field(
        default=None,
        description="The spaces of this agent, or with `spaces`, `run_id` or `scope` its rows.",
    )
    spaces: Spaces | None = Field(
        default=None, description="A list of spaces to read, or `all` that the caller may read."
    )
    visibility: Annotated[Visibility, exact_word(Visibility)] | None = Field(
        default=None, description="Only agent spaces of this visibility."
    )
    scope: Annotated[MemoryScope, exact_word(MemoryScope)] | None = Field(
        default=None, description="Only spaces of this scope."
    )
    run_id: Annotated[RunId, _ID] | None = Field(
        default=None, description="Only memories of this run."
    )
    user_id: Id | None = Field(
        default=None, description="The space of this user, as far as it is disclosed."
    )
    chat_id: Annotated[ChatId, _ID, AfterValidator(to_chat_id)] | None = Field(
        default=None, description="The chat in whose context is asked."
    )
    asker_id: Id | None = Field(default=None, description="For whom an agent asks in the chat.")
    key: Annotated[str, Field(min_length=1, max_length=KEY_CHARS_MAX)] | None = Field(
        default=None, description="Only records of this key."
    )
    tags: Annotated[list[Tag], Field(max_length=TAGS_MAX)] | None = Field(
        default=None, description="Only memories that have every one of these."
    )
    types: Annotated[list[MemoryTypeField], Field(max_length=len(MemoryType))] | None = Field(
        default=None, description="Only memories of one of these types."
    )
    subjects: Annotated[list[Id], Field(max_length=SUBJECTS_MAX)] | None = Field(
        default=None, description="Only memories about one of these people."
    )
    stated_by: Id | None = Field(default=None, description="Only what this person said.")
    sensitivity: Annotated[Sensitivity, exact_word(Sensitivity)] | None = Field(
        default=None, description="Only memories of this sensitivity."
    )
    status: Annotated[MemoryStatus, exact_word(MemoryStatus)] = Field(
        default=MemoryStatus.ACTIVE, description="Only memories of this status."
    )
    include_expired: bool = Field(
        default=False,
        description="Also memories that are due, in spaces that the caller may write.",
    )
    created_after: Instant | None = Field(
        default=None, description="Only memories stored after this instant."
    )
    created_before: Instant | None = Field(
        default=None, description="Only memories stored before this instant."
    )
    valid_at: Instant | None = Field(
        default=None, description="What was true in the world at this instant."
    )
    as_of: Instant | None = Field(default=None, description="What was recorded at this instant.")

    @property
    def context(self) -> ReadContext:
        """The chat of the request, and for whom an agent asks."""
        return ReadContext(self.chat_id, self.asker_id)

    @property
    def space_names(self) -> tuple[SpaceName, ...] | Literal["all"]:
        """The spaces to read; empty if none were sent."""
        sent: Any = self.spaces
        return ALL_SPACES if sent == ALL_SPACES else tuple(one.space_name for one in sent or ())

    @property
    def has_location(self) -> bool:
        """Whether a field limits where to read."""
        return any(getattr(self, name) for name in LOCATION_FIELDS)

    @property
    def filters(self) -> "MemoryFilters":
        """The filters alone, of a request that has more fields."""
        names = MemoryFilters.model_fields
        return MemoryFilters.model_construct(**{name: getattr(self, name) for name in names})


def filters_from_query(query: Mapping[str, Any]) -> MemoryFilters:
    """The filters of query parameters. `all` beside other spaces means all."""
    sent = {
        name: query[name] for name in MemoryFilters.model_fields if query[name] not in (None, ())
    }
    if ALL_SPACES in sent.get("spaces", ()):
        sent["spaces"] = ALL_SPACES
    lists = {name: list(value) for name, value in sent.items() if isinstance(value, tuple)}
    return MemoryFilters(**sent | lists)


def _parse_space(value: str) -> SpaceBody | Literal["all"]:
    """Parse `all`, a kind, or `kind:id`."""
    if value == ALL_SPACES:
        return ALL_SPACES
    kind, colon, space_id = value.partition(":")
    if kind not in list(SpaceKind):
        raise ValueError(f"must be `all`, or one of {_KINDS}, with `:` and an id behind it")
    if colon and not 1 <= len(space_id) <= NAME_CHARS_MAX:
        raise ValueError(f"the id must have 1 to {NAME_CHARS_MAX} characters")
    return SpaceBody(kind=SpaceKind(kind), id=require_storable_text(space_id) or None)


FILTER_PARAMS: tuple[Param, ...] = (
    id_param(
        "agent_id", "The spaces of this agent, or with `spaces`, `run_id` or `scope` its rows."
    ),
    repeated_param(
        Param(
            "spaces",
            _parse_space,
            {"type": "string", "examples": [ALL_SPACES, "user", "chat:c-1"]},
            "`all`, a kind of space, or a kind, `:` and an id.",
            example=["user"],
        )
    ),
    enum_param("visibility", Visibility, "Only agent spaces of this visibility."),
    enum_param("scope", MemoryScope, "Only spaces of this scope."),
    id_param("run_id", "Only memories of this run."),
    id_param("user_id", "The space of this user, as far as it is disclosed."),
    id_param("chat_id", "The chat in whose context is asked."),
    id_param("asker_id", "For whom an agent asks in the chat."),
    text_param("key", "Only records of this key.", chars_max=KEY_CHARS_MAX),
    repeated_param(
        text_param("tags", "Only memories that have every one of these.", chars_max=TAG_CHARS_MAX)
    ),
    repeated_param(enum_param("types", MemoryType, "Only memories of one of these types.")),
    repeated_param(id_param("subjects", "Only memories about one of these people.")),
    id_param("stated_by", "Only what this person said."),
    enum_param("sensitivity", Sensitivity, "Only memories of this sensitivity."),
    enum_param("status", MemoryStatus, "Only memories of this status.", MemoryStatus.ACTIVE),
    flag_param(
        "include_expired", "Also memories that are due, in spaces that the caller may write."
    ),
    instant_param("created_after", "Only memories stored after this instant."),
    instant_param("created_before", "Only memories stored before this instant."),
    instant_param("valid_at", "What was true in the world at this instant."),
    instant_param("as_of", "What was recorded at this instant."),
)
