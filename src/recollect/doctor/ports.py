"""Storage for the doctor: ids of rows that break a rule, texts and vectors in pages, and repairs
that no other store offers. It sees rows of all owners, except those that are being erased."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from recollect.db.transaction import Tx
from recollect.doctor.model import DoctorCheck, SupersessionLink
from recollect.embedding.port import Vector
from recollect.kernel.ids import MemoryId, PersonId
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import StoredMemory


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


class DoctorStore(Protocol):
    """Pages continue after the last id or number of the previous one."""

    def find_ids(
        self, tx: Tx, check: DoctorCheck, looking: CheckContext, *, after: str, limit: int
    ) -> Sequence[str]:
        """Ids of rows that break the rule of a check, in ascending order."""
        ...

    def recheck_ids(
        self, tx: Tx, check: DoctorCheck, looking: CheckContext, ids: Sequence[str]
    ) -> Sequence[str]:
        """Those of the ids that still break the rule."""
        ...

    def page(self, tx: Tx, *, after_doc: int, limit: int) -> list[StoredMemory]:
        """Memories by their number (`doc`), without compacted ones: they have no text."""
        ...

    def version_snapshots(
        self, tx: Tx, memory_ids: Sequence[str]
    ) -> dict[str, list[VersionSnapshot]]:
        """The snapshots of earlier versions, by memory id, oldest first."""
        ...

    def rewrite_snapshot(self, tx: Tx, kept: VersionSnapshot) -> None:
        """Overwrite the snapshot of a version."""
        ...

    def texts_page(self, tx: Tx, shelf: TextSource, *, after: str, limit: int) -> list[StoredTexts]:
        """A page of texts from one source."""
        ...

    def vectors(
        self, tx: Tx, looking: CheckContext, *, after: VectorCursor | None, limit: int
    ) -> list[StatementVector]:
        """Verified active statements with a vector of the model, by space and time. Without lists
        of messages, and without memories about people who have no id."""
        ...

    def lost_erasures(self, tx: Tx, ids: Sequence[str]) -> Sequence[str]:
        """Those of the ids that are unfinished erasures without a job."""
        ...

    def supersession_links(
        self, tx: Tx, *, after: tuple[str, str] | None, limit: int
    ) -> list[SupersessionLink]:
        """All `supersedes` links, ordered by the ids of successor and predecessor."""
        ...

    def delete_link(self, tx: Tx, link: SupersessionLink) -> bool:
        """Delete the link; False if it was gone already."""
        ...

    def older_equals(self, tx: Tx, memory_id: MemoryId, looking: CheckContext) -> list[MemoryId]:
        """Older active statements with the same normalised text, space, subjects, speaker and
        origin: a few, oldest first."""
        ...

    def mark_pending(self, tx: Tx, memory_ids: Sequence[str]) -> int:
        """Mark index rows as waiting for a vector; returns how many."""
        ...

    def delete_edges(self, tx: Tx, ids: Sequence[str]) -> int:
        """Delete those of the edges and entities that are orphaned, and entities that lose their
        last edge by that. Returns how many of the given ids were deleted."""
        ...

    def namesakes(self, tx: Tx, person_id: PersonId) -> list[PersonId]:
        """People of the same name and creator with smaller ids, by id."""
        ...

    def redirect_person(self, tx: Tx, person_id: PersonId, *, at: datetime) -> bool:
        """Let a merged id lead to an existing person in one step, and move all references to that
        person. False if no person exists at the end of the chain."""
        ...

    def retry_jobs(self, tx: Tx, job_ids: Sequence[str], *, at: datetime) -> int:
        """Give stuck jobs new attempts; returns how many."""
        ...
