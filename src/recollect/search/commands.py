"""Typed commands: what a caller sends to search entries, to search memories, and to recall.

REST, gRPC, `ir`, tests and benchmarks make the same commands. Those over memories are request
bodies as well: one declaration gives the OpenAPI schema, the parsing, and what the services take.
Those over entries are made from bodies (`requests.py`), because the conversation API has
two names for a cursor, and ignores unknown fields and the letter case of enumerated values.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from recollect.http.bodies import QueryText, exact_word, example_config
from recollect.kernel.errors import ValidationFailed
from recollect.kernel.ids import ConversationId, EntryId
from recollect.kernel.strict_json import drop_unstorable
from recollect.memories.commands import Messages
from recollect.memories.filters import MemoryFilters
from recollect.memories.model import MessageRole
from recollect.memories.validation import parse_messages
from recollect.search.model import RecallFormat, SearchType

HITS_MAX = 100
HITS_DEFAULT = 10
TOKEN_BUDGET_MAX = 32_000
RECALL_ITEMS_MAX = 100

# The query of a recall is made of the last messages of a conversation, up to these bounds.
_MESSAGES_USED = 3
_QUERY_CHARS_MAX = 4_000


@dataclass(frozen=True, slots=True)
class SearchEntries:
    """Search the history of conversations."""

    query: str
    type: SearchType = SearchType.AUTO
    after: str | None = None
    limit: int = 20
    include_entry: bool = True
    group_by_conversation: bool = True


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """Set the text by which an entry is found. It replaces an earlier one."""

    conversation_id: ConversationId
    entry_id: EntryId
    text: str


class SearchMemories(MemoryFilters):
    """What to look for, and where."""

    model_config = example_config(
        {"query": "Is Ann vegetarian?", "spaces": [{"kind": "user"}], "limit": 5}
    )

    queries: ClassVar[frozenset[str]] = frozenset({"query"})
    query: QueryText = Field(description="What to look for: words, a question, people or times.")
    limit: Annotated[int, Field(ge=1, le=HITS_MAX)] = Field(
        default=HITS_DEFAULT, description="Most hits of the page."
    )
    mode: Annotated[SearchType, exact_word(SearchType)] = Field(
        default=SearchType.AUTO,
        description="By words, by meaning, or by everything that is enabled.",
    )
    min_score: float | None = Field(default=None, description="Leave out hits with a lower score.")
    after: str | None = Field(
        default=None, description="The cursor of the page before; absent for the first page."
    )
    explain: bool = Field(
        default=False,
        description="Whether to count in `withheld` the matches about the caller that a group "
        "chat hides.",
    )


class RecallMemories(MemoryFilters):
    """What is talked about, where to look, and how much to tell."""

    model_config = example_config(
        {
            "query": "What can I cook for Ann?",
            "spaces": [{"kind": "user"}],
            "token_budget": 500,
        }
    )

    queries: ClassVar[frozenset[str]] = frozenset({"query"})
    query: QueryText | None = Field(
        default=None, description="What is talked about now. Send this or `messages`."
    )
    messages: Messages | None = Field(
        default=None, description="The last messages of the conversation, or a text."
    )
    token_budget: Annotated[int, Field(ge=1, le=TOKEN_BUDGET_MAX)] = Field(
        default=1_000, description="How many tokens the block may have."
    )
    max_items: Annotated[int, Field(ge=1, le=RECALL_ITEMS_MAX)] = Field(
        default=20, description="How many memories it may tell."
    )
    include_people: bool = Field(default=True, description="Whether to tell who the people are.")
    format: Annotated[RecallFormat, exact_word(RecallFormat)] = Field(
        default=RecallFormat.TEXT, description="The block and the items, or the items alone."
    )

    @property
    def text(self) -> str:
        """The text to search for: the query, or the last messages of the user (of anybody, if the
        user said nothing). A string in `messages` is a query. Blank if nothing was sent. Raises
        ValidationFailed for both, and for a malformed message."""
        if self.query is not None and self.messages is not None:
            raise ValidationFailed.for_field("messages", "send `query` or `messages`, not both")
        if not isinstance(self.messages, list):
            return drop_unstorable(self.query or self.messages or "")
        messages = parse_messages(self.messages)
        by_user = [one.content for one in messages if one.role is MessageRole.USER]
        contents = by_user or [one.content for one in messages]
        return drop_unstorable("\n".join(contents[-_MESSAGES_USED:]))[-_QUERY_CHARS_MAX:]
