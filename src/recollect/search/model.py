"""Results of entry search, and the words of a text as the index stores them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntFlag, StrEnum

from recollect.conversations.entries.entry import Entry
from recollect.kernel.ids import ConversationId, EntryId
from recollect.text import english
from recollect.text import tokens as words

QUERY_CHARS_MAX = 10_000
INDEX_ITEMS_MAX = 1_000
# A text's head: the part that also counts, for less, for its neighbours.
HEAD_CHARS = 200
# Prefix of stems in the index, so that a stem never matches as a word.
STEM_MARK = "="

# Above this length a text is tokenized on a thread: the event loop would wait.
LONG_TEXT_CHARS = 20_000


class SearchType(StrEnum):
    """How to search: by words, by vector, or by everything that is enabled, in one ranking."""

    AUTO = "auto"
    FULLTEXT = "fulltext"
    SEMANTIC = "semantic"


class RecallFormat(StrEnum):
    """Whether a recall returns the prompt block and the items, or the items alone."""

    TEXT = "text"
    ITEMS = "items"


class EntrySearchComponent(StrEnum):
    """A component of a search that may fail while the others still answer."""

    EMBEDDING = "embedding"
    FULLTEXT = "fulltext"
    VECTORS = "vectors"


class EntryTrait(IntFlag):
    """Properties of an entry that the ranking uses besides its words."""

    NONE = 0
    ASSISTANT = 1
    QUESTION = 2
    TIME = 4


@dataclass(frozen=True, slots=True)
class EntryHit:
    """One result. `score` is comparable within one answer only. `unreadable`: its title or its
    entry could not be decrypted."""

    conversation_id: ConversationId
    entry_id: EntryId
    score: float
    conversation_title: str | None = None
    highlights: str | None = None
    entry: Entry | None = None
    unreadable: bool = False


@dataclass(frozen=True, slots=True)
class EntryHitPage:
    """Results in order, the cursor of the next page, and the components that failed."""

    items: Sequence[EntryHit]
    next_cursor: str | None = None
    degraded: Sequence[EntrySearchComponent] = ()


@dataclass(frozen=True, slots=True)
class IndexedWords:
    """A text as the index stores it: words in order and marked stems, both separated by spaces,
    the number of words in the head, and traits."""

    terms: str
    stems: str
    head: int
    traits: EntryTrait

    def with_speaker_trait(self, *, assistant: bool) -> "IndexedWords":
        """The same with the assistant trait, if an assistant said it."""
        return replace(self, traits=self.traits | EntryTrait.ASSISTANT) if assistant else self


def index_words(text: str) -> IndexedWords:
    """The words and traits of a text. Linear in its length."""
    tokens = words.tokens(text)
    head = len(tokens) if len(text) <= HEAD_CHARS else len(words.tokens(text[:HEAD_CHARS]))
    traits = EntryTrait.QUESTION if english.is_question(text) else EntryTrait.NONE
    if english.has_time(text):
        traits |= EntryTrait.TIME
    return IndexedWords(" ".join(tokens), marked_stems(tokens), min(head, len(tokens)), traits)


def index_terms(text: str) -> str:
    """Only the `terms` of `index_words`, in a third of the time."""
    return " ".join(words.tokens(text))


def marked_stems(tokens: Sequence[str]) -> str:
    """The marked stems of tokens, without stems that are tokens themselves, separated by spaces."""
    distinct = set(tokens)
    stems = {words.stem(token) for token in distinct} - distinct
    return " ".join(STEM_MARK + stem for stem in sorted(stems))
