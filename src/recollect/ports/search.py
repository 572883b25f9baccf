"""The search index behind a port. What a caller may see is part of every question it takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from recollect.domain.entries import Entry
from recollect.domain.ids import ConversationId, EntryId, TreeId
from recollect.domain.search import STEM_MARK, IndexedWords, Trait
from recollect.policy.scope import Scope
from recollect.ports.database import Tx

# Of any byte order: stored vectors are big-endian, computed ones are of the machine.
Vector = NDArray[np.floating[Any]]
# As much of a text as is embedded; what a model reads of it is its own affair.
EMBEDDED_CHARS = 8_000


@dataclass(frozen=True, slots=True)
class SearchScope:
    """Whose trees are searched: what policy permits, for administrators perhaps narrowed to one
    owner, and with deleted trees or without."""

    scope: Scope
    owner_user_id: str | None = None
    include_deleted: bool = False


@dataclass(frozen=True, slots=True)
class TreeState:
    """A permitted tree: how many entries its index holds, and a number that grows with each
    change of it. The id of an evicted tree may be taken again: `born` tells the two apart."""

    tree_id: TreeId
    entries: int
    revision: int
    born: datetime


@dataclass(frozen=True, slots=True)
class Voices:
    """Who speaks in a scope: ids of users, and whether an assistant does."""

    user_ids: Sequence[str]
    assistant: bool


@dataclass(frozen=True, slots=True)
class TextRow:
    """The words of one entry. `terms` are its tokens in order, parted by blanks."""

    entry_id: EntryId
    tree_id: TreeId
    conversation_id: ConversationId
    seq: int
    speaker: str
    traits: Trait
    head: int
    terms: str


@dataclass(frozen=True, slots=True)
class VectorRow:
    """The vectors of one entry: of its own text, and of it with its neighbours."""

    entry_id: EntryId
    embedding: Vector
    window: Vector | None


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """An entry of a result page, with what else the page shows of it."""

    entry: Entry
    title: str | None
    text: str


@dataclass(frozen=True, slots=True)
class PendingText:
    """A text that waits for its vector. `revision` says which text it is."""

    entry_id: EntryId
    conversation_id: ConversationId
    seq: int
    revision: int


@dataclass(frozen=True, slots=True)
class PlacedText:
    """A text at its place in a conversation."""

    entry_id: EntryId
    seq: int
    text: str


@dataclass(frozen=True, slots=True)
class NewVectors:
    """What an index job made: the vector of an entry's own text (None: the one there stays), and
    that of its window."""

    entry_id: EntryId
    conversation_id: ConversationId
    embedding: Vector | None
    window: Vector


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """How many entries are indexed, and how many of them still wait for a vector."""

    entries: int
    pending: int


class SearchStore(Protocol):
    """Words and vectors of entries. All of it runs in the caller's transaction."""

    def insert(self, tx: Tx, entry: Entry, found: IndexedWords, *, pending: bool) -> None:
        """Index a new entry, behind the append that counted it. The tree's lock is held."""
        ...

    def replace(self, tx: Tx, entry: Entry, found: IndexedWords, *, pending: bool) -> None:
        """Index an entry that was there before, anew or for the first time. The tree's lock is
        held."""
        ...

    def update_text(self, tx: Tx, entry_id: EntryId, text: str, *, at: datetime | None) -> None:
        """Set an entry's indexed text. `at` is when its indexes hold it, None: not yet."""
        ...

    def page_unindexed(
        self, tx: Tx, *, after: tuple[datetime, str] | None, limit: int
    ) -> list[Entry]:
        """Live history entries without indexed text, oldest first."""
        ...

    def page_unwritten(
        self, tx: Tx, *, after: EntryId | None, limit: int
    ) -> list[tuple[Entry, str]]:
        """Entries by id whose text is not in the index, with that text."""
        ...

    def is_written(self, tx: Tx, entry: Entry) -> bool:
        """Is the entry's text in the index? The tree's lock is taken."""
        ...

    def trees(self, tx: Tx, scope: SearchScope, *, limit: int) -> list[TreeState]:
        """Permitted trees that hold indexed entries."""
        ...

    def voices(self, tx: Tx, scope: SearchScope) -> Voices:
        """Who said what is permitted. Looks at all of it."""
        ...

    def texts(self, tx: Tx, scope: SearchScope) -> list[TextRow]:
        """All permitted entries."""
        ...

    def texts_of(self, tx: Tx, tree_id: TreeId, *, after_revision: int) -> list[TextRow]:
        """Entries of one tree whose words changed after a revision."""
        ...

    def texts_matching(
        self, tx: Tx, scope: SearchScope, query: str, *, after_doc: int, limit: int
    ) -> tuple[list[TextRow], int | None]:
        """Permitted entries that a `prefix_query` or a `stem_query` finds, and where the next batch
        starts."""
        ...

    def texts_around(
        self, tx: Tx, scope: SearchScope, entry_ids: Sequence[EntryId]
    ) -> list[TextRow]:
        """Permitted ones of these entries, with the entries before and after each."""
        ...

    def vectors(self, tx: Tx, scope: SearchScope, *, model: str) -> list[VectorRow]:
        """Vectors of all permitted entries."""
        ...

    def vectors_of(
        self, tx: Tx, tree_id: TreeId, *, model: str, after_revision: int
    ) -> list[VectorRow]:
        """Vectors of one tree that changed after a revision."""
        ...

    def vectors_at(
        self, tx: Tx, scope: SearchScope, entry_ids: Sequence[EntryId], *, model: str
    ) -> list[VectorRow]:
        """Vectors of the permitted ones of these entries."""
        ...

    def nearest(
        self, tx: Tx, scope: SearchScope, vector: Vector, *, model: str, limit: int
    ) -> list[EntryId]:
        """The permitted entries whose own vectors are nearest, in no order; perhaps not all of
        the very best where the engine's index is approximate."""
        ...

    def find(
        self, tx: Tx, scope: SearchScope, entry_ids: Sequence[EntryId]
    ) -> dict[EntryId, FoundEntry]:
        """The permitted ones of these entries."""
        ...

    def pending(self, tx: Tx, tree_id: TreeId, *, limit: int) -> list[PendingText]:
        """Texts of a tree that wait for a vector, by position. The tree's lock is taken."""
        ...

    def texts_near(
        self, tx: Tx, conversation_id: ConversationId, seq: int, *, reach: int
    ) -> list[PlacedText]:
        """The indexed text at a position with those before and after it, by position."""
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
        """Store vectors and take what is done from those that wait; a text that changed
        meanwhile goes on waiting. How many were done."""
        ...

    def mark_pending(self, tx: Tx, *, after: TreeId | None, limit: int) -> list[TreeId]:
        """Let all texts of the next trees by id wait for vectors. Which trees these are."""
        ...

    def page_lacking(self, tx: Tx, *, model: str, after: TreeId | None, limit: int) -> list[TreeId]:
        """Trees by id with a text that has no vector of this model and waits for none. Looks at
        the whole index."""
        ...

    def mark_lacking(self, tx: Tx, tree_id: TreeId, *, model: str) -> None:
        """Let the texts of a tree that have no vector of this model wait for one. The tree's lock
        is taken."""
        ...

    def progress(self, tx: Tx) -> IndexProgress:
        """How far the index is."""
        ...

    def missing_index(self, tx: Tx, *, dimensions: int, from_entries: int) -> Sequence[Any]:
        """Statements for `Database.apart` that build the index of `nearest`, once there are so
        many vectors that it pays; none where it is there or the engine has no such index."""
        ...


class VectorIndex(Protocol):
    """A vector database beside ours. It can be rebuilt at any time; ours holds the truth.

    It may fail with Unavailable and nothing else."""

    @property
    def name(self) -> str:
        """Which one it is; under a new name there is nothing in it yet."""
        ...

    async def put(self, tree_id: TreeId, made: Sequence[NewVectors]) -> None:
        """Store the own vectors of these entries."""
        ...

    async def delete_tree(self, tree_id: TreeId, *, keep: Sequence[EntryId] = ()) -> None:
        """Forget a tree, but for these entries of it."""
        ...

    async def nearest(
        self, trees: Sequence[TreeId] | None, vector: Vector, *, limit: int
    ) -> list[EntryId]:
        """The nearest entries of these trees, None: of all, best first."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


def prefix_query(tokens: Sequence[str]) -> str:
    """What `texts_matching` takes for texts that hold every word, or one that starts with it."""
    return " AND ".join(f'"{token}" *' for token in tokens)


def stem_query(stems: Sequence[str]) -> str:
    """What `texts_matching` takes for texts that hold a word with one of these stems."""
    return " OR ".join(f'"{stem}" OR "{STEM_MARK}{stem}"' for stem in stems)
