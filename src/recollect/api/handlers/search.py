"""Handlers of memory search and recall, shared by all surfaces: JSON in, JSON out."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from recollect.api.calls import Call, Handler
from recollect.api.handlers.memory_shapes import memory_to_json
from recollect.api.handlers.shapes import instant_text
from recollect.api.memory.search import RecallMemories, SearchMemories
from recollect.domain.jsontext import dump
from recollect.domain.memory_checks import parse_messages
from recollect.domain.people import Relationship
from recollect.errors import ValidationFailed
from recollect.services.memory_search import MemoryHit, MemorySearchRequest
from recollect.services.recall import RecallRequest
from recollect.services.recall_people import RecalledPerson


async def search_memories(call: Call) -> str:
    """Return a page of hits."""
    body: SearchMemories = call.body
    request = MemorySearchRequest(
        query=body.query,
        filters=body.filters,
        mode=body.mode,
        limit=body.limit,
        min_score=body.min_score,
        after=body.after,
        explain=body.explain,
    )
    found = await call.services.memory_search.search(call.required_requester, request)
    page = {
        "data": _to_hits(found.items, found.now),
        "next_cursor": found.next_cursor,
        "degraded": list(found.degraded),
    }
    return dump(page if found.withheld is None else page | {"withheld": found.withheld})


async def recall_memories(call: Call) -> str:
    """Return a prompt block."""
    body: RecallMemories = call.body
    request = RecallRequest(
        filters=body.filters,
        **_query_or_messages(body),
        token_budget=body.token_budget,
        max_items=body.max_items,
        include_people=body.include_people,
        format=body.format,
    )
    told = await call.services.recall.recall(call.required_requester, request)
    return dump(
        {
            "context": told.context,
            "items": _to_hits(told.items, told.now),
            "people": [_to_person(person) for person in told.people],
            "tokens": told.tokens,
            "token_budget": body.token_budget,
            "omitted": told.omitted,
            "degraded": list(told.degraded),
        }
    )


def _query_or_messages(body: RecallMemories) -> dict[str, Any]:
    """The query or the messages of a recall, or neither. Raises ValidationFailed for both. A string
    in `messages` is taken as a query."""
    if body.query is not None and body.messages is not None:
        raise ValidationFailed.for_field("messages", "send `query` or `messages`, not both")
    if isinstance(body.messages, list):
        return {"messages": parse_messages(body.messages)}
    return {"query": body.messages if body.query is None else body.query}


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
