"""Storage for the doctor: ids of rows that break a rule, texts and vectors in pages, and repairs
that no other store offers. It sees rows of all owners, except those that are being erased."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from recollect.embedding.port import Vector
from recollect.kernel.ids import MemoryId
from recollect.kernel.space import Space, SpaceKind


@dataclass(frozen=True, slots=True)
class CheckContext:
    """The time of the examination, and the embedding model that vectors must be of; empty if this
    server makes none."""

    now: datetime
    model: str = ""


class VectorCursor(NamedTuple):
    """The cursor of the pages of vectors, which are ordered by space and time."""

    space_kind: str
    space_id: str
    created_at: datetime
    memory_id: str


class StatementVector(NamedTuple):
    """The vector of a statement, and its cursor."""

    place: VectorCursor
    vector: Vector

    @property
    def space(self) -> Space:
        """The space of the statement."""
        return Space(SpaceKind(self.place.space_kind), self.place.space_id)

    @property
    def memory_id(self) -> MemoryId:
        """The id of the statement."""
        return MemoryId(self.place.memory_id)


class TextSource(StrEnum):
    """The tables with texts of callers that are not memories."""

    AGENTS = "agents"
    PEOPLE = "people"
    PERSON_VERSIONS = "person_versions"
    ALIASES = "aliases"
    RELATIONSHIPS = "relationships"
    CHATS = "chats"
    RUNS = "runs"


class StoredTexts(NamedTuple):
    """The texts and JSON values of one row: `place` is the cursor, `id` the agent, person, chat or
    run that they belong to."""

    place: str
    id: str
    values: tuple[Any, ...]


class VersionSnapshot(NamedTuple):
    """The snapshot of an earlier version: the id of the version, and the fields it kept."""

    id: str
    members: Mapping[str, Any]
