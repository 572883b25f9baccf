"""What the doctor asks of storage: rows that break a rule, by id, and single mends of what has no
service of its own. All rows, whoever they belong to; what is being erased is left to that job."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from recollect.domain.disclosure import PersonId
from recollect.domain.doctor import Check, SupersessionLink
from recollect.domain.memories import MemoryId
from recollect.domain.spaces import Space, SpaceKind
from recollect.ports.database import Tx
from recollect.ports.memories import Stored
from recollect.ports.search import Vector


@dataclass(frozen=True, slots=True)
class Looking:
    """When the doctor looks, and of which model vectors must be; empty for none."""

    now: datetime
    model: str = ""


class SpacePlace(NamedTuple):
    """Where a memory stands in the order of spaces and times."""

    space_kind: str
    space_id: str
    created_at: datetime
    memory_id: str


class SpacedVector(NamedTuple):
    """A statement and its vector, in the order of its space."""

    place: SpacePlace
    vector: Vector

    @property
    def space(self) -> Space:
        """Where it lies."""
        return Space(SpaceKind(self.place.space_kind), self.place.space_id)

    @property
    def memory_id(self) -> MemoryId:
        """Which memory it is."""
        return MemoryId(self.place.memory_id)


class Shelf(StrEnum):
    """Where callers' words are beside memories."""

    AGENTS = "agents"
    PEOPLE = "people"
    ALIASES = "aliases"
    RELATIONSHIPS = "relationships"
    CHATS = "chats"
    RUNS = "runs"


class Written(NamedTuple):
    """Words of a caller: the place in the pages of the shelf, the id of the agent, person, chat or
    run that they belong to, and the texts and JSON values."""

    place: str
    id: str
    values: tuple[Any, ...]


class Kept(NamedTuple):
    """What an earlier version of a memory kept: the id of the version, and its members."""

    id: str
    members: Mapping[str, Any]


class DoctorStore(Protocol):
    """Pages go on after the last id or number seen."""

    def ids(
        self, tx: Tx, check: Check, looking: Looking, *, after: str, limit: int
    ) -> Sequence[str]:
        """Ids of what breaks the rule of a check, in their order."""
        ...

    def still(self, tx: Tx, check: Check, looking: Looking, ids: Sequence[str]) -> Sequence[str]:
        """Which of these still do."""
        ...

    def page(self, tx: Tx, *, after_doc: int, limit: int) -> list[Stored]:
        """Memories with their texts, by number; none that was compacted."""
        ...

    def earlier(self, tx: Tx, memory_ids: Sequence[str]) -> dict[str, list[Kept]]:
        """By id, what earlier versions of these memories kept."""
        ...

    def rewrite(self, tx: Tx, kept: Kept) -> None:
        """Let an earlier version have kept this."""
        ...

    def written(self, tx: Tx, shelf: Shelf, *, after: str, limit: int) -> list[Written]:
        """Words of callers beside memories, by place."""
        ...

    def vectors(
        self, tx: Tx, looking: Looking, *, after: SpacePlace | None, limit: int
    ) -> list[SpacedVector]:
        """Verified active statements with a vector of the model, by place; no lists of messages,
        and none about somebody unknown."""
        ...

    def lost_erasures(self, tx: Tx, ids: Sequence[str]) -> Sequence[str]:
        """Those of these ids that are erasures which nobody works on any more."""
        ...

    def links(self, tx: Tx, *, after: tuple[str, str] | None, limit: int) -> list[SupersessionLink]:
        """Who replaced whom, by the two ids."""
        ...

    def cut(self, tx: Tx, link: SupersessionLink) -> bool:
        """Forget that one replaced the other; False if that was forgotten already."""
        ...

    def older_equals(self, tx: Tx, memory_id: MemoryId, looking: Looking) -> list[MemoryId]:
        """Active statements of the same place, people and text after folding that are older: a
        few, the oldest first."""
        ...

    def wait_for_vectors(self, tx: Tx, memory_ids: Sequence[str]) -> int:
        """Let these wait for a vector; how many there were."""
        ...

    def delete_edges(self, tx: Tx, ids: Sequence[str]) -> int:
        """Those of these edges and entities that nothing holds any more, with the entities that
        then nothing holds; how many of these."""
        ...

    def namesakes(self, tx: Tx, person_id: PersonId) -> list[PersonId]:
        """People of the same name and creator with smaller ids, by id."""
        ...

    def redirect(self, tx: Tx, person_id: PersonId, *, at: datetime) -> bool:
        """Lead an id, and whatever names it, in one step to somebody who is there. False if there
        is nobody to lead to."""
        ...

    def revive(self, tx: Tx, job_ids: Sequence[str], *, at: datetime) -> int:
        """Give stuck jobs new attempts; how many there were."""
        ...
