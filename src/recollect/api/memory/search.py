"""Requests, responses and operations of memory search and recall."""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from recollect.api.bodies import Query, exactly
from recollect.api.memory.filters import FilterBody
from recollect.api.memory.memories import Messages
from recollect.api.memory.reading import MEMORY
from recollect.api.memory.rows import ID, optional, resource, row
from recollect.api.operation import Operation
from recollect.api.params import Schema
from recollect.api.resources import INSTANT, TEXT, WHOLE, ref, shape
from recollect.domain.memory_finding import LIMIT_DEFAULT, LIMIT_MAX, FindingStage, Part
from recollect.domain.search import SearchType
from recollect.services.recall import ITEMS_MAX, TOKEN_BUDGET_MAX, RecallFormat


class SearchMemories(FilterBody):
    """What to look for, and where."""

    queries: ClassVar[frozenset[str]] = frozenset({"query"})
    query: Query
    limit: Annotated[int, Field(ge=1, le=LIMIT_MAX)] = LIMIT_DEFAULT
    mode: Annotated[SearchType, exactly(SearchType)] = SearchType.AUTO
    min_score: float | None = None
    after: str | None = None
    explain: bool = False


class RecallMemories(FilterBody):
    """What is talked about, where to look, and how much to tell."""

    queries: ClassVar[frozenset[str]] = frozenset({"query"})
    query: Query | None = None
    messages: Messages | None = None
    token_budget: Annotated[int, Field(ge=1, le=TOKEN_BUDGET_MAX)] = 1_000
    max_items: Annotated[int, Field(ge=1, le=ITEMS_MAX)] = 20
    include_people: bool = True
    format: Annotated[RecallFormat, exactly(RecallFormat)] = RecallFormat.TEXT


def _list_of(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


_DEGRADED = _list_of({"type": "string", "enum": [str(part) for part in Part]})
_FOUND: dict[str, Any] = {
    "score": {"type": "number"},
    "stages": _list_of({"type": "string", "enum": [str(stage) for stage in FindingStage]}),
    "why": TEXT,
}
_RELATIONSHIP = resource(
    {
        "relationship": TEXT,
        "to_person_id": optional(ID),
        "stated_by": optional(ID),
        "created_at": INSTANT,
    }
)

RESOURCES: dict[str, Schema] = {
    "MemoryHit": resource(MEMORY | _FOUND),
    "MemoryHits": shape(
        {
            "data": _list_of(ref("MemoryHit")),
            "next_cursor": optional(TEXT),
            "degraded": _DEGRADED,
        },
        {"withheld": WHOLE},
    ),
    "Recall": resource(
        {
            "context": optional(TEXT),
            "items": _list_of(ref("MemoryHit")),
            "people": _list_of(
                resource({"id": ID, "name": TEXT, "relationships": _list_of(_RELATIONSHIP)})
            ),
            "tokens": WHOLE,
            "token_budget": WHOLE,
            "omitted": WHOLE,
            "degraded": _DEGRADED,
        }
    ),
}

OPERATIONS: tuple[Operation, ...] = (
    row(
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
    row(
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
