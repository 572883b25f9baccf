"""How memories are found, behind a port. What a caller may see is part of every question that
looks for rows; words and vectors are then read by the numbers of rows that it gave."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from recollect.domain.disclosure import AskerView, PersonId
from recollect.domain.memories import MemoryId
from recollect.domain.search import IndexedWords
from recollect.policy.sight import Sight
from recollect.ports.database import Tx
from recollect.ports.memories import MemoryFilter, Stored
from recollect.ports.search import IndexProgress, Vector

# Among so many jobs the vectors that are waited for are shared out.
BUCKETS = 8


class Candidate(NamedTuple):
    """A row that may be ranked, and what a ranking wants to know of it beside its words.

    `doc` and `revision` together name a text: neither is ever used for another one. The revision
    of a text that the index does not have, because it is that of an earlier version, is below 0 and
    made of the text. `about`: one of the people asked for is a subject.
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
    """The words of one memory in text order, parted by blanks."""

    doc: int
    revision: int
    terms: str


class VectorOf(NamedTuple):
    """The vector of one memory's text."""

    doc: int
    revision: int
    vector: Vector


@dataclass(frozen=True, slots=True)
class Looking:
    """Which rows are ranked: those that the sight shows and the filter lets through. `people` are
    those whom the query names; `model` is that of the vectors, empty for none."""

    sight: Sight
    chosen: MemoryFilter
    people: tuple[PersonId, ...] = ()
    model: str = ""


@dataclass(frozen=True, slots=True)
class NamedPerson:
    """Somebody whom a query names, and the normal form that does."""

    person_id: PersonId
    name: str
    form: str


@dataclass(frozen=True, slots=True)
class WaitingText:
    """A text that waits for its vector. `revision` says which text of the row it is."""

    doc: int
    revision: int
    text: str


class Placed(NamedTuple):
    """A row whose vector was stored; `first`: its text had none before, of any model."""

    doc: int
    first: bool


class MemorySearchStore(Protocol):
    """Words and vectors of memories. All of it runs in the caller's transaction."""

    @property
    def words_are_sealed(self) -> bool:
        """Are words encrypted, so that no index of the engine finds them?"""
        ...

    def put(self, tx: Tx, stored: Stored, found: IndexedWords, *, pending: bool) -> bool:
        """Index a row that is new or changed, with its `doc`. False if its words are there
        already; otherwise an older vector is gone."""
        ...

    def drop(self, tx: Tx, memory_id: MemoryId) -> None:
        """Forget words and vector of a row."""
        ...

    def candidates(self, tx: Tx, looking: Looking, *, limit: int) -> list[Candidate]:
        """The rows to rank, in no order. This and all that follows knows the present versions
        alone: what has changed since the filter's `as_of` is not among them."""
        ...

    def matching(
        self, tx: Tx, looking: Looking, query: str | None, *, after_doc: int, limit: int
    ) -> list[Candidate]:
        """Those that the engine's word index finds, by `doc`; None finds all. Sealed words are not
        in that index: see `words_are_sealed`."""
        ...

    def with_vectors(
        self, tx: Tx, looking: Looking, *, after_doc: int, limit: int
    ) -> list[Candidate]:
        """Those that have a vector of the model, by `doc`."""
        ...

    def some(self, tx: Tx, looking: Looking, docs: Sequence[int]) -> list[Candidate]:
        """Those of these rows that may be ranked."""
        ...

    def changed_since(self, tx: Tx, looking: Looking) -> list[MemoryId]:
        """What had another version at the filter's `as_of`, by `doc`. That version may not fit the
        filter: see `MemoryLists.shown`."""
        ...

    def words(self, tx: Tx, docs: Sequence[int]) -> list[WordRow]:
        """The words of these rows."""
        ...

    def vectors(self, tx: Tx, docs: Sequence[int], *, model: str) -> list[VectorOf]:
        """The vectors of these rows, as far as they have one of this model."""
        ...

    def named(self, tx: Tx, asker: AskerView, forms: Sequence[str]) -> list[NamedPerson]:
        """Whom one of these normal forms calls: by a name that the one who asks may know, or by
        what they claimed themself. A word for a relationship is no name that others know."""
        ...

    def facts_from(
        self, tx: Tx, memory_ids: Sequence[MemoryId]
    ) -> Mapping[MemoryId, Sequence[MemoryId]]:
        """By id of a source, what was made from it."""
        ...

    def pending(self, tx: Tx, bucket: int, *, limit: int) -> list[WaitingText]:
        """Texts that wait for a vector: those of a bucket by `doc`, and if there are fewer, any
        others. So jobs of different buckets seldom take the same."""
        ...

    def put_vectors(self, tx: Tx, made: Sequence[VectorOf], *, model: str) -> list[Placed]:
        """Store the vectors of texts that are still there and wait; which those were."""
        ...

    def mark(self, tx: Tx, *, after_doc: int, limit: int, lacking: str | None) -> list[int]:
        """Let the next rows by `doc` wait for vectors: all, or those that have none of a model and
        wait for none. Which rows these are."""
        ...

    def progress(self, tx: Tx) -> IndexProgress:
        """How far the index is."""
        ...
