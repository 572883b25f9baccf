"""What a search asks for and what it gives back, and the words of one entry as an index holds
them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntFlag, StrEnum

from recollect.domain import language, words
from recollect.domain.entries import Entry
from recollect.domain.ids import ConversationId, EntryId

QUERY_CHARS_MAX = 10_000
INDEX_ITEMS_MAX = 1_000
# As much of a neighbour as counts for the entry beside it.
HEAD_CHARS = 200
# Stands before a stem in the index, so that it is never taken for a word.
STEM_MARK = "="


class SearchType(StrEnum):
    """How to find: by words, by meaning, or by all that is on, as one ranked answer."""

    AUTO = "auto"
    FULLTEXT = "fulltext"
    SEMANTIC = "semantic"


class Stage(StrEnum):
    """A part of a search that may fail while the others answer."""

    EMBEDDING = "embedding"
    FULLTEXT = "fulltext"
    VECTORS = "vectors"


class Trait(IntFlag):
    """What is known of an entry besides its words."""

    NONE = 0
    ASSISTANT = 1
    QUESTION = 2
    TIME = 4


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search as it was sent."""

    query: str
    type: SearchType = SearchType.AUTO
    after: str | None = None
    limit: int = 20
    include_entry: bool = True
    group_by_conversation: bool = True


@dataclass(frozen=True, slots=True)
class Hit:
    """One result. `score` is comparable within one answer only."""

    conversation_id: ConversationId
    entry_id: EntryId
    score: float
    conversation_title: str | None = None
    highlights: str | None = None
    entry: Entry | None = None


@dataclass(frozen=True, slots=True)
class SearchPage:
    """Results in order, the cursor of the next page, and the stages that failed."""

    items: Sequence[Hit]
    next_cursor: str | None = None
    degraded: Sequence[Stage] = ()


@dataclass(frozen=True, slots=True)
class NewText:
    """A text that an indexer gives an entry; it replaces an earlier one."""

    conversation_id: ConversationId
    entry_id: EntryId
    text: str


@dataclass(frozen=True, slots=True)
class IndexedWords:
    """A text as the index holds it: its words in order and their stems, both parted by blanks,
    how many of the words stand in its head, and its traits."""

    terms: str
    stems: str
    head: int
    traits: Trait

    def said_by(self, *, assistant: bool) -> "IndexedWords":
        """The same, from the mouth of the assistant or of a user."""
        return replace(self, traits=self.traits | Trait.ASSISTANT) if assistant else self


def index_words(text: str) -> IndexedWords:
    """The words of a text and what else a ranking wants to know of it. Linear in its length."""
    tokens = words.tokens(text)
    head = len(tokens) if len(text) <= HEAD_CHARS else len(words.tokens(text[:HEAD_CHARS]))
    traits = Trait.QUESTION if language.is_question(text) else Trait.NONE
    if language.has_time(text):
        traits |= Trait.TIME
    return IndexedWords(" ".join(tokens), _stems(tokens), min(head, len(tokens)), traits)


def index_terms(text: str) -> str:
    """The `terms` of `index_words` alone, in a third of the time."""
    return " ".join(words.tokens(text))


def _stems(tokens: Sequence[str]) -> str:
    """Those that are no token already, marked, so that a stem is never taken for a word."""
    distinct = set(tokens)
    stems = {words.stem(token) for token in distinct} - distinct
    return " ".join(STEM_MARK + stem for stem in sorted(stems))
