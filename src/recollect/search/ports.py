"""The search index of entries: what the store and a vector database must provide. Every query for
rows takes the scope of trees that the caller may read."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from recollect.conversations.entries.entry import Entry
from recollect.db.transaction import Tx
from recollect.embedding.port import Vector
from recollect.identity.scope import TreeScope
from recollect.kernel.ids import ConversationId, EntryId, TreeId
from recollect.search.model import STEM_MARK, EntryTrait, IndexedWords

# A text is cut to this length before it is embedded. A model may read even less of it.
EMBEDDED_CHARS = 8_000


@dataclass(frozen=True, slots=True)
class SearchScope:
    """Which trees are searched: those that the policy permits. An administrator may restrict them
    to one owner, and may include deleted trees."""

    scope: TreeScope
    owner_user_id: str | None = None
    include_deleted: bool = False


@dataclass(frozen=True, slots=True)
class TreeState:
    """The index state of a permitted tree. `revision` grows with every change of its index rows.
    `removals` counts the rows that left the index. The id of an evicted tree can be used again;
    `born`, its creation time, tells the two apart."""

    tree_id: TreeId
    entries: int
    revision: int
    born: datetime
    removals: int

    def only_grew_since(self, known: "TreeState") -> bool:
        """Whether every row that was there at an earlier state still is."""
        return (self.born, self.removals) == (known.born, known.removals)


@dataclass(frozen=True, slots=True)
class ScopeSpeakers:
    """The speakers in a scope: user ids, and whether there are entries of an assistant."""

    user_ids: Sequence[str]
    assistant: bool


@dataclass(frozen=True, slots=True)
class TextRow:
    """The words of one entry. `terms` are its tokens in order, separated by spaces."""

    entry_id: EntryId
    tree_id: TreeId
    conversation_id: ConversationId
    seq: int
    speaker: str
    traits: EntryTrait
    head: int
    terms: str


@dataclass(frozen=True, slots=True)
class VectorRow:
    """The vectors of one entry: of its own text, and of its window (it and its neighbours)."""

    entry_id: EntryId
    embedding: Vector
    window: Vector | None


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """An entry on a result page, with its conversation's title and its indexed text. `unreadable`:
    one of them could not be decrypted, and is empty."""

    entry: Entry
    title: str | None
    text: str
    unreadable: bool = False


@dataclass(frozen=True, slots=True)
class PendingText:
    """A text that has to be embedded. `revision` identifies the text."""

    entry_id: EntryId
    conversation_id: ConversationId
    seq: int
    revision: int


@dataclass(frozen=True, slots=True)
class PositionedText:
    """A text and its position in a conversation."""

    entry_id: EntryId
    seq: int
    text: str


@dataclass(frozen=True, slots=True)
class NewVectors:
    """Vectors made by an index job. `embedding` is None if only the window changed: then the
    stored own vector stays."""

    entry_id: EntryId
    conversation_id: ConversationId
    embedding: Vector | None
    window: Vector


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """How many entries are indexed, and how many of these are pending."""

    entries: int
    pending: int


class SearchStore(Protocol):
    """Stores words and vectors of entries. Every method runs in the caller's transaction. An entry
    is pending while it has to be embedded."""

    def insert(self, tx: Tx, entry: Entry, found: IndexedWords, *, pending: bool) -> None:
        """Index a new entry. The append has already counted it in the tree's row, and holds the
        tree's lock."""
        ...

    def replace(self, tx: Tx, entry: Entry, found: IndexedWords, *, pending: bool) -> None:
        """Index an existing entry, again or for the first time. The caller holds the tree's lock.
        Deletes its vectors."""
        ...

    def remove(self, tx: Tx, entry: Entry, *, reembed: bool) -> None:
        """Remove an entry with its vectors, and the windows of its neighbours that contain its
        text. With `reembed` the neighbours are pending. Takes the tree's lock; does nothing for
        an entry that is not in the index."""
        ...

    def update_text(self, tx: Tx, entry_id: EntryId, text: str, *, at: datetime | None) -> None:
        """Set an entry's text for search. `at` is when all its indexes have it; None: not yet."""
        ...

    def page_unindexed(
        self, tx: Tx, *, after: tuple[datetime, str] | None, limit: int
    ) -> list[Entry]:
        """Live history entries without indexed text, oldest first."""
        ...

    def page_not_in_index(
        self, tx: Tx, *, after: EntryId | None, limit: int
    ) -> list[tuple[Entry, str]]:
        """Entries that have a text for search but no index row, with that text, by id."""
        ...

    def is_in_index(self, tx: Tx, entry: Entry) -> bool:
        """Whether the entry has an index row. Takes the tree's lock."""
        ...

    def tree_states(self, tx: Tx, scope: SearchScope, *, limit: int) -> list[TreeState]:
        """Permitted trees that hold indexed entries."""
        ...

    def scope_speakers(self, tx: Tx, scope: SearchScope) -> ScopeSpeakers:
        """The speakers of all permitted entries. Reads all of their index rows."""
        ...

    def texts(self, tx: Tx, scope: SearchScope) -> list[TextRow]:
        """The words of all permitted entries."""
        ...

    def changed_texts(self, tx: Tx, tree_id: TreeId, *, after_revision: int) -> list[TextRow]:
        """The entries of one tree whose words changed after a revision. Not restricted to a scope:
        the caller has checked the tree."""
        ...

    def texts_matching(
        self, tx: Tx, scope: SearchScope, query: str, *, after_doc: int, limit: int
    ) -> tuple[list[TextRow], int | None]:
        """A batch of permitted entries that match a `prefix_query` or a `stem_query`, and the
        `after_doc` of the next batch; None after the last."""
        ...

    def texts_with_neighbours(
        self, tx: Tx, scope: SearchScope, entry_ids: Sequence[EntryId]
    ) -> list[TextRow]:
        """Those of these entries that are permitted, each with its two neighbours."""
        ...

    def vectors(self, tx: Tx, scope: SearchScope, *, model: str) -> list[VectorRow]:
        """Vectors of all permitted entries."""
        ...

    def changed_vectors(
        self, tx: Tx, tree_id: TreeId, *, model: str, after_revision: int
    ) -> list[VectorRow]:
        """Vectors of one tree that changed after a revision. Not restricted to a scope."""
        ...

    def vectors_by_ids(
        self, tx: Tx, scope: SearchScope, entry_ids: Sequence[EntryId], *, model: str
    ) -> list[VectorRow]:
        """Vectors of those of these entries that are permitted."""
        ...

    def nearest_entries(
        self, tx: Tx, scope: SearchScope, vector: Vector, *, model: str, limit: int
    ) -> list[EntryId]:
        """The permitted entries whose own vectors are nearest, in no order. Where the engine's
        index is approximate, some of the nearest may be missing."""
        ...

    def fetch_permitted(
        self, tx: Tx, scope: SearchScope, entry_ids: Sequence[EntryId]
    ) -> dict[EntryId, FoundEntry]:
        """Those of these entries that are permitted, by id."""
        ...

    def pending_texts(self, tx: Tx, tree_id: TreeId, *, limit: int) -> list[PendingText]:
        """Pending texts of a tree, by position. Takes the tree's lock."""
        ...

    def window_texts(
        self, tx: Tx, conversation_id: ConversationId, seq: int, *, reach: int
    ) -> list[PositionedText]:
        """The text at a position, and up to `reach` texts before and after it, by position."""
        ...

    def put_vectors(
        self,
        tx: Tx,
        tree_id: TreeId,
        made: Sequence[NewVectors],
        done: Sequence[PendingText],
        *,
        model: str,
        at: datetime,
    ) -> int:
        """Store vectors and clear the pending flag of the texts in `done`; returns how many. A
        text whose revision changed meanwhile stays pending and gets no vector. Takes the tree's
        lock."""
        ...

    def mark_pending(self, tx: Tx, *, after: TreeId | None, limit: int) -> list[TreeId]:
        """Mark all texts of the next trees by id as pending; returns the trees."""
        ...

    def page_trees_without_vectors(
        self, tx: Tx, *, model: str, after: TreeId | None, limit: int
    ) -> list[TreeId]:
        """Trees by id with a text that has no vector of this model and is not pending. Scans the
        whole index."""
        ...

    def mark_without_vectors(self, tx: Tx, tree_id: TreeId, *, model: str) -> None:
        """Mark the texts of a tree without a vector of this model as pending. Takes the tree's
        lock."""
        ...

    def progress(self, tx: Tx) -> IndexProgress:
        """Counts over all trees."""
        ...

    def index_build_statements(
        self, tx: Tx, *, dimensions: int, from_entries: int
    ) -> Sequence[Any]:
        """The statements that build the index behind `nearest_entries`, to be run outside of any
        transaction. Empty below `from_entries` vectors, if the index exists, or if the engine has
        no such index."""
        ...


class VectorIndex(Protocol):
    """A separate vector database. It is a copy and can be rebuilt from our tables at any time.

    Methods raise Unavailable and nothing else."""

    @property
    def name(self) -> str:
        """Identifies server and collection. A new name means that it has to be filled."""
        ...

    async def put(self, tree_id: TreeId, made: Sequence[NewVectors]) -> None:
        """Store the own vectors of these entries; window vectors are not copied."""
        ...

    async def delete_tree(self, tree_id: TreeId, *, keep: Sequence[EntryId] = ()) -> None:
        """Delete the vectors of a tree, except those of the entries in `keep`."""
        ...

    async def nearest_entries(
        self, trees: Sequence[TreeId] | None, vector: Vector, *, limit: int
    ) -> list[EntryId]:
        """The nearest entries of these trees (None: of all trees), best first."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


def prefix_query(tokens: Sequence[str]) -> str:
    """A query for `texts_matching`: each token must be a prefix of a word of the text. Tokens are
    quoted, so no character in them is an operator."""
    return " AND ".join(f'"{token}" *' for token in tokens)


def stem_query(stems: Sequence[str]) -> str:
    """A query for `texts_matching`: a word of the text has one of these stems. The index holds a
    marked stem only where it differs from every word of the text, so both forms are asked for."""
    return " OR ".join(f'"{stem}" OR "{STEM_MARK}{stem}"' for stem in stems)
