"""The REST operations of entry search and of the indexer."""

from functools import partial

from pydantic import Field

from recollect.conversations.entries.entry import Entry
from recollect.conversations.entries.rest import to_entry
from recollect.http.call import Call, Handler, respond_with, respond_with_page
from recollect.http.examples import CONVERSATION_ID, ENTRY_ID
from recollect.http.operation import (
    Envelope,
    Operation,
    Paging,
    admin_operation,
    conversation_operation,
)
from recollect.http.params import Schema
from recollect.http.resource import (
    IdText,
    SparseResource,
    UnreadableFlag,
    resource_schemas,
)
from recollect.http.schemas import INTEGER, UUID, describe, object_schema, schema_ref
from recollect.identity.actions import Action
from recollect.kernel.strict_json import dump
from recollect.search import requests
from recollect.search.model import EntryHit, EntryHitPage, EntrySearchComponent, SearchType

SEARCH_TYPE: Schema = {
    "type": "string",
    "enum": [str(kind) for kind in SearchType if kind is not SearchType.AUTO],
}
STAGE: Schema = {"type": "string", "enum": [str(stage) for stage in EntrySearchComponent]}


class SearchResultResource(SparseResource):
    """One result of a search. Its entry, if the caller wants it, is added as text (`to_hit`)."""

    conversation_id: IdText = Field(
        description="The conversation of the entry.", examples=[CONVERSATION_ID]
    )
    conversation_title: str | None = Field(
        default=None, description="What that conversation is called.", examples=["Move to Bern"]
    )
    entry_id: IdText = Field(description="The entry that was found.", examples=[ENTRY_ID])
    score: float = Field(
        description="How well it fits; comparable within one answer.", examples=[0.83]
    )
    highlights: str | None = Field(default=None, description="The words around what was found.")
    unreadable: UnreadableFlag | None = None


def _hit_schema(entry: str) -> Schema:
    schema = resource_schemas(SearchResultResource)["SearchResult"]
    found = describe(schema_ref(entry), "The entry itself, unless `includeEntry` is false.")
    return schema | {"properties": schema["properties"] | {"entry": found}}


RESOURCES: dict[str, Schema] = {
    "SearchResult": _hit_schema("Entry"),
    "AdminSearchResult": _hit_schema("AdminEntry"),
    "UnindexedEntry": object_schema(
        {
            "conversationId": describe(UUID, "The conversation of the entry.", CONVERSATION_ID),
            "entry": describe(schema_ref("Entry"), "The entry."),
        }
    ),
    "IndexOutcome": object_schema(
        {"indexed": describe(INTEGER, "How many entries got their text.", 1)}
    ),
}

OPERATIONS: tuple[Operation, ...] = (
    conversation_operation(
        "searchConversations",
        "POST /v1/conversations/search",
        200,
        "Search the history of the caller's conversations, by words, by meaning or by both. "
        "A blank query finds nothing. `degraded` names the stages that failed, if any.",
        response="SearchResult",
        body=requests.SearchBody,
        paging=Paging(Envelope.A, search=True),
        refusals=(501,),
        only_reads=True,
    ),
    conversation_operation(
        "indexEntries",
        "POST /v1/conversations/index",
        200,
        "Give history entries the texts that search shall find them by. All are stored, or none. "
        "Needs the role indexer.",
        response="IndexOutcome",
        action=Action.INDEX,
        body=requests.IndexBatch,
        refusals=(404,),
    ),
    conversation_operation(
        "listUnindexed",
        "GET /v1/conversations/unindexed",
        200,
        "List history entries that have no text to be found by, the oldest first. Needs the role "
        "indexer.",
        response="UnindexedEntry",
        action=Action.INDEX,
        paging=Paging(Envelope.C, 100),
    ),
    admin_operation(
        "adminSearchConversations",
        "POST /v1/admin/conversations/search",
        200,
        "Search anybody's conversations, soft-deleted ones on request.",
        response="AdminSearchResult",
        action=Action.ADMIN_READ,
        audit="searchConversations",
        body=requests.AdminSearchBody,
        paging=Paging(Envelope.A, search=True),
        refusals=(501,),
    ),
)


def to_hit(hit: EntryHit, *, admin: bool = False) -> str:
    """One result of a search, with its entry if the caller asked for it."""
    result = SearchResultResource.render(hit)
    if hit.entry is None:
        return result
    # The entry is JSON text already, so it is inserted before the closing brace.
    return f'{result[:-1]},"entry":{to_entry(hit.entry, admin=admin)}}}'


def to_unindexed(entry: Entry) -> str:
    """An entry that has no text to be found by."""
    return f'{{"conversationId":"{entry.conversation_id}","entry":{to_entry(entry)}}}'


async def search(call: Call) -> bytes:
    return _render_hits(call, await requests.search(call), admin=False)


async def search_all(call: Call) -> bytes:
    return _render_hits(call, await requests.search_all(call), admin=True)


def _render_hits(call: Call, page: EntryHitPage, *, admin: bool) -> bytes:
    items = map(partial(to_hit, admin=admin), page.items)
    return call.render_page(items, page.next_cursor, degraded=page.degraded)


HANDLERS: dict[str, Handler] = {
    "searchConversations": search,
    "adminSearchConversations": search_all,
    "indexEntries": respond_with(requests.index_entries, lambda count: dump({"indexed": count})),
    "listUnindexed": respond_with_page(requests.list_unindexed, to_unindexed),
}
