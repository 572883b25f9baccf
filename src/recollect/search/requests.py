"""Request bodies of entry search and of indexing, and the call of the service that each request
makes, for REST and gRPC."""

from collections.abc import Awaitable
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, RootModel

from recollect.conversations.entries.entry import Entry
from recollect.conversations.entries.requests import IndexedText
from recollect.http.bodies import (
    Body,
    OffByDefault,
    QueryText,
    UserIdText,
    UuidText,
    default_schema,
    word_validator,
)
from recollect.http.call import Call
from recollect.http.examples import CONVERSATION_ID, ENTRY_ID
from recollect.http.operation import Justified
from recollect.kernel.ids import ConversationId, EntryId
from recollect.kernel.pages import LIMIT_MAX, Page
from recollect.search.commands import IndexEntry, SearchEntries
from recollect.search.entries.indexing import IndexingService
from recollect.search.entries.service import EntrySearchService
from recollect.search.model import INDEX_ITEMS_MAX, EntryHitPage, SearchType


def _check_not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    return value


SearchTypeWord = Annotated[
    SearchType,
    word_validator({str(kind): kind for kind in SearchType}),
    default_schema("auto", {"type": "string", "enum": [str(kind) for kind in SearchType]}),
]
PageSize = Annotated[
    int,
    Field(ge=1, le=LIMIT_MAX),
    default_schema(20, {"type": "integer", "minimum": 1, "maximum": LIMIT_MAX}),
]
OnByDefault = Annotated[bool, default_schema(True, {"type": "boolean"})]
NonBlankQuery = Annotated[
    QueryText,
    AfterValidator(_check_not_blank),
    Field(json_schema_extra={"minLength": 1, "pattern": r"\S"}),
]


class SearchBody(Body):
    """What to look for. `after` and `afterCursor` are one member with two names."""

    queries: ClassVar[frozenset[str]] = frozenset({"query"})
    query: QueryText = Field(
        description="What to look for, in words.", examples=["documents for Bern"]
    )
    search_type: SearchTypeWord = Field(
        default=SearchType.AUTO, description="By words, by meaning, or by both."
    )
    after: str | None = Field(
        default=None, description="The cursor of the page before; absent for the first page."
    )
    after_cursor: str | None = Field(default=None, description="Another name of `after`.")
    limit: PageSize = Field(default=20, description="Most items of the page.")
    include_entry: OnByDefault = Field(
        default=True, description="Whether each result has its entry."
    )
    group_by_conversation: OnByDefault = Field(
        default=True, description="Whether only the best result of each conversation is shown."
    )


class AdminSearchBody(SearchBody, Justified):
    """What to look for in everybody's trees, or in those of one owner."""

    optional: ClassVar[bool] = False
    query: NonBlankQuery = Field(
        description="What to look for, in words. Not blank.", examples=["documents for Bern"]
    )
    user_id: UserIdText | None = Field(
        default=None, description="Only conversations of this owner."
    )
    include_deleted: OffByDefault = Field(
        default=False, description="Whether to search deleted conversations too."
    )


class IndexItem(Body):
    """The text to be indexed for one entry."""

    conversation_id: UuidText = Field(
        description="The conversation of the entry.", examples=[CONVERSATION_ID]
    )
    entry_id: UuidText = Field(description="The entry.", examples=[ENTRY_ID])
    indexed_content: IndexedText = Field(
        description="The text that search shall find it by.",
        examples=["Which documents a move to Bern takes"],
    )


IndexItems = Annotated[list[IndexItem], Field(min_length=1, max_length=INDEX_ITEMS_MAX)]


class IndexBatch(RootModel[IndexItems], Body):
    """Texts to be indexed: all of them, or none."""

    listed: ClassVar[bool] = True


def search(call: Call) -> Awaitable[EntryHitPage]:
    """Search the trees that the caller may read."""
    return call.services[EntrySearchService].search(call.principal, _search_request(call))


def search_all(call: Call) -> Awaitable[EntryHitPage]:
    """Search all trees, for administrators."""
    body: AdminSearchBody = call.body
    return call.services[EntrySearchService].search_all(
        call.principal,
        _search_request(call),
        user_id=body.user_id,
        include_deleted=body.include_deleted,
        justification=call.justification,
    )


def index_entries(call: Call) -> Awaitable[int]:
    """Set texts from an indexer, all or none. Returns how many."""
    batch: IndexBatch = call.body
    texts = [
        IndexEntry(
            ConversationId(item.conversation_id), EntryId(item.entry_id), item.indexed_content
        )
        for item in batch.root
    ]
    return call.services[IndexingService].index(call.principal, texts)


def list_unindexed(call: Call) -> Awaitable[Page[Entry]]:
    """List entries without indexed text."""
    return call.services[IndexingService].list_unindexed(
        call.principal, cursor=call.page.after, limit=call.page.size
    )


def _search_request(call: Call) -> SearchEntries:
    body: SearchBody = call.body
    return SearchEntries(
        query=body.query,
        type=body.search_type,
        after=call.page.after,
        limit=call.page.size,
        include_entry=body.include_entry,
        group_by_conversation=body.group_by_conversation,
    )
