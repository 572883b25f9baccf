"""Requests, responses and operations of memory search and recall."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from recollect.http.call import Call, Handler
from recollect.http.operation import (
    ID,
    Operation,
    memory_operation,
    nullable_field,
    resource,
)
from recollect.http.params import Schema
from recollect.http.render import instant_text
from recollect.http.schemas import (
    INSTANT,
    INTEGER,
    TEXT,
    object_schema,
    schema_ref,
)
from recollect.kernel.strict_json import dump
from recollect.memories.render import memory_to_json
from recollect.memories.rest_read import MEMORY_PROPERTIES
from recollect.people.model import Relationship
from recollect.search.commands import RecallMemories, SearchMemories
from recollect.search.memories.explain_hit import (
    FindingStage,
    MemorySearchComponent,
)
from recollect.search.memories.pages import MemoryHit
from recollect.search.memories.service import MemorySearchService
from recollect.search.recall.people import RecalledPerson
from recollect.search.recall.service import RecallService


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


async def search_memories(call: Call) -> str:
    """Return a page of hits."""
    found = await call.services[MemorySearchService].search(call.required_requester, call.body)
    page = {
        "data": _to_hits(found.items, found.now),
        "next_cursor": found.next_cursor,
        "degraded": list(found.degraded),
    }
    return dump(page if found.withheld is None else page | {"withheld": found.withheld})


async def recall_memories(call: Call) -> str:
    """Return a prompt block."""
    command: RecallMemories = call.body
    result = await call.services[RecallService].recall(call.required_requester, command)
    return dump(
        {
            "context": result.context,
            "items": _to_hits(result.items, result.now),
            "people": [_to_person(person) for person in result.people],
            "tokens": result.tokens,
            "token_budget": command.token_budget,
            "omitted": result.omitted,
            "degraded": list(result.degraded),
        }
    )


def _to_hits(hits: Sequence[MemoryHit], now: datetime) -> list[dict[str, Any]]:
    return [
        memory_to_json(hit.stored, now)
        | {"score": hit.score, "stages": list(hit.stages), "why": hit.why}
        for hit in hits
    ]


def _to_person(person: RecalledPerson) -> dict[str, Any]:
    return {
        "id": person.id,
        "name": person.name,
        "relationships": [_to_relationship(claim) for claim in person.relationships],
    }


def _to_relationship(claim: Relationship) -> dict[str, Any]:
    """`stated_by` is the person, not the user: not everybody may know whose user that is."""
    return {
        "relationship": claim.relationship,
        "to_person_id": claim.to_person_id,
        "stated_by": claim.stated_by_person,
        "created_at": instant_text(claim.created_at),
    }


HANDLERS: dict[str, Handler] = {
    "searchMemories": search_memories,
    "recallMemories": recall_memories,
}
