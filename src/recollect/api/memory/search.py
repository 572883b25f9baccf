"""Requests, responses and operations of memory search and recall."""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from recollect.api.bodies import QueryText, exact_word
from recollect.api.memory.filters import FilterBody
from recollect.api.memory.memories import Messages
from recollect.api.memory.reading import MEMORY_PROPERTIES
from recollect.api.memory.rows import ID, memory_operation, nullable_field, resource
from recollect.api.operation import Operation
from recollect.api.params import Schema
from recollect.api.resources import INSTANT, INTEGER, TEXT, object_schema, schema_ref
from recollect.domain.memory_finding import (
    LIMIT_DEFAULT,
    LIMIT_MAX,
    FindingStage,
    MemorySearchComponent,
)
from recollect.domain.search import SearchType
from recollect.services.recall import ITEMS_MAX, TOKEN_BUDGET_MAX, RecallFormat


class SearchMemories(FilterBody):
    """What to look for, and where."""

    queries: ClassVar[frozenset[str]] = frozenset({"query"})
    query: QueryText
    limit: Annotated[int, Field(ge=1, le=LIMIT_MAX)] = LIMIT_DEFAULT
    mode: Annotated[SearchType, exact_word(SearchType)] = SearchType.AUTO
    min_score: float | None = None
    after: str | None = None
    explain: bool = False


class RecallMemories(FilterBody):
    """What is talked about, where to look, and how much to tell."""

    queries: ClassVar[frozenset[str]] = frozenset({"query"})
    query: QueryText | None = None
    messages: Messages | None = None
    token_budget: Annotated[int, Field(ge=1, le=TOKEN_BUDGET_MAX)] = 1_000
    max_items: Annotated[int, Field(ge=1, le=ITEMS_MAX)] = 20
    include_people: bool = True
    format: Annotated[RecallFormat, exact_word(RecallFormat)] = RecallFormat.TEXT


def _list_of(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


_DEGRADED = _list_of({"type": "string", "enum": [str(part) for part in MemorySearchComponent]})
_HIT_FIELDS: dict[str, Any] = {
    "score": {"type": "number"},
    "stages": _list_of({"type": "string", "enum": [str(stage) for stage in FindingStage]}),
    "why": TEXT,
}
_RELATIONSHIP = resource(
    {
        "relationship": TEXT,
        "to_person_id": nullable_field(ID),
        "stated_by": nullable_field(ID),
        "created_at": INSTANT,
    }
)

RESOURCES: dict[str, Schema] = {
    "MemoryHit": resource(MEMORY_PROPERTIES | _HIT_FIELDS),
    "MemoryHits": object_schema(
        {
            "data": _list_of(schema_ref("MemoryHit")),
            "next_cursor": nullable_field(TEXT),
            "degraded": _DEGRADED,
        },
        {"withheld": INTEGER},
    ),
    "Recall": resource(
        {
            "context": nullable_field(TEXT),
            "items": _list_of(schema_ref("MemoryHit")),
            "people": _list_of(
                resource({"id": ID, "name": TEXT, "relationships": _list_of(_RELATIONSHIP)})
            ),
            "tokens": INTEGER,
            "token_budget": INTEGER,
            "omitted": INTEGER,
            "degraded": _DEGRADED,
        }
    ),
}

OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "searchMemories",
        "POST /v1/memories/search",
        200,
        "Search memories by words, by meaning, by the people and the times that a query names. At "
        "least one of `agent_id`, `spaces`, `chat_id`, `run_id`, `scope` and `user_id` says where "
        "to look. A part that fails is named in `degraded`, and the others answer.",
        response="MemoryHits",
        body=SearchMemories,
        refusals=(404,),
        only_reads=True,
    ),
    memory_operation(
        "recallMemories",
        "POST /v1/memories/recall",
        200,
        "Recall what an agent should be told now, as a block for its prompt of at most "
        "`token_budget` tokens. Without `query` and `messages` the latest that matters is told.",
        response="Recall",
        body=RecallMemories,
        refusals=(404,),
        only_reads=True,
    ),
)
