"""The search index of memories. Queries for rows take the viewer and the filter; words and vectors
are then read by the row numbers that such a query returned."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from recollect.db.transaction import Tx
from recollect.embedding.port import Vector
from recollect.kernel.ids import MemoryId, PersonId
from recollect.memories.model import MemoryFilter, StoredMemory
from recollect.search.model import IndexedWords
from recollect.search.ports import IndexProgress
from recollect.visibility.disclosure import AskerView
from recollect.visibility.viewer import Viewer

# Pending vectors are divided among this many jobs.
BUCKETS = 8


class MemoryCandidate(NamedTuple):
    """A row that may be ranked, with what the ranking needs besides its words.

    `doc` and `revision` identify a text: the pair is never used for another text. A past version
    that is not in the index has a revision below 0, made from its text. `about` tells whether one
    of the people in the query is a subject.
    """

    doc: int
    memory_id: str
    revision: int
    has_vector: bool
    trust: str
    observed_at: datetime
    valid_from: datetime | None
    valid_until: datetime | None
    about: bool


class WordRow(NamedTuple):
    """The words of one memory in text order, separated by spaces."""

    doc: int
    revision: int
    terms: str


class MemoryVector(NamedTuple):
    """The vector of one memory's text."""

    doc: int
    revision: int
    vector: Vector


@dataclass(frozen=True, slots=True)
class SearchContext:
    """Which rows are ranked: those that the viewer may see and that pass the filter. `people` are
    those whom the query names. `model` is the embedding model, or empty if there is no query
    vector."""

    sight: Viewer
    chosen: MemoryFilter
    people: tuple[PersonId, ...] = ()
    model: str = ""


@dataclass(frozen=True, slots=True)
class NamedPerson:
    """A person whom a query names. `form` is the normal form of the words that do."""

    person_id: PersonId
    name: str
    form: str


@dataclass(frozen=True, slots=True)
class PendingMemoryText:
    """A text that has to be embedded. `revision` identifies the text of the row."""

    doc: int
    revision: int
    text: str


class StoredVector(NamedTuple):
    """A row whose vector was stored. `first`: its text had no vector of any model before."""

    doc: int
    first: bool


class MemorySearchStore(Protocol):
    """Stores words and vectors of memories. Every method runs in the caller's transaction. A row is
    pending while its text has to be embedded."""

    @property
    def has_sealed_words(self) -> bool:
        """Whether words are encrypted, so that the engine's word index can't be used."""
        ...

    def put(self, tx: Tx, stored: StoredMemory, found: IndexedWords, *, pending: bool) -> bool:
        """Index a new or changed row. Returns False if it is indexed with the same words; else
        an older vector is deleted."""
        ...

    def drop(self, tx: Tx, memory_id: MemoryId) -> None:
        """Delete words and vector of a row."""
        ...

    def candidates(self, tx: Tx, looking: SearchContext, *, limit: int) -> list[MemoryCandidate]:
        """The rows to rank, in no order. This and the following methods know present versions only:
        rows that changed since the filter's `as_of` are not returned."""
        ...

    def page_word_matches(
        self, tx: Tx, looking: SearchContext, query: str | None, *, after_doc: int, limit: int
    ) -> list[MemoryCandidate]:
        """A batch of rows that the engine's word index finds, by `doc`; without a query, of all
        rows. Encrypted words are not in that index: see `has_sealed_words`."""
        ...

    def page_embedded(
        self, tx: Tx, looking: SearchContext, *, after_doc: int, limit: int
    ) -> list[MemoryCandidate]:
        """A batch of rows that have a vector of the model, by `doc`."""
        ...

    def candidates_by_doc(
        self, tx: Tx, looking: SearchContext, docs: Sequence[int]
    ) -> list[MemoryCandidate]:
        """Those of these rows that the viewer may see and that pass the filter."""
        ...

    def ids_changed_since(self, tx: Tx, looking: SearchContext) -> list[MemoryId]:
        """Memories whose version at the filter's `as_of` is not the present one, by `doc`. The
        caller has to check that version against viewer and filter."""
        ...

    def words(self, tx: Tx, docs: Sequence[int]) -> list[WordRow]:
        """The words of these rows."""
        ...

    def vectors(self, tx: Tx, docs: Sequence[int], *, model: str) -> list[MemoryVector]:
        """The vectors of those of these rows that have one of this model."""
        ...

    def people_by_name(self, tx: Tx, asker: AskerView, forms: Sequence[str]) -> list[NamedPerson]:
        """The people whom one of these normal forms names: by a name that the asker may see, or by
        an alias or relationship that the asker stated. Relationship words ("my sister") are
        compared with what the asker stated or created only, never with names that others gave."""
        ...

    def derived_memory_ids(
        self, tx: Tx, memory_ids: Sequence[MemoryId]
    ) -> Mapping[MemoryId, Sequence[MemoryId]]:
        """By id of a source, the ids of the memories that were derived from it."""
        ...

    def pending_texts(self, tx: Tx, bucket: int, *, limit: int) -> list[PendingMemoryText]:
        """Pending texts: those of the bucket by `doc` and, if these are too few, any others. So
        jobs of different buckets seldom embed the same texts, and none ends while work is left."""
        ...

    def put_vectors(
        self, tx: Tx, made: Sequence[MemoryVector], *, model: str
    ) -> list[StoredVector]:
        """Store vectors of texts that are unchanged and still pending; returns these rows."""
        ...

    def mark_pending(self, tx: Tx, *, after_doc: int, limit: int, lacking: str | None) -> list[int]:
        """Mark the next rows by `doc` as pending; returns them. With `lacking` only rows that have
        no vector of that model and are not pending."""
        ...

    def progress(self, tx: Tx) -> IndexProgress:
        """Counts over all memories."""
        ...
