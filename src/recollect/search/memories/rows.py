"""The search index of memories. Queries for rows take the viewer and the filter; words and vectors
are then read by the row numbers that such a query returned."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from recollect.embedding.port import Vector
from recollect.kernel.ids import PersonId
from recollect.memories.model import MemoryFilter
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

    viewer: Viewer
    filters: MemoryFilter
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
