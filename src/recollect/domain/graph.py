"""The graph: entities, and what memories state of them as edges.

An edge belongs to one memory and begins and ends with it. It is drawn only where there is no doubt
whom the sentence means: a person who is a subject, or the one who said it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NewType

from recollect.domain.disclosure import PersonId
from recollect.domain.memories import Kind, Memory, MemoryId
from recollect.domain.people import normal_form
from recollect.domain.sayings import (
    NOBODY_NAMED,
    SPEAKER,
    SPEAKERS,
    Bond,
    EntityKind,
    Saying,
    Tie,
    saying_of,
)
from recollect.domain.spaces import Space

EntityId = NewType("EntityId", str)
RelationId = NewType("RelationId", str)

HOPS_MAX = 2
PATH_HOPS_MAX = 4


@dataclass(frozen=True, slots=True)
class Entity:
    """A person, or something that memories of one space name. A person has no space; the name is
    None where the reader may not know it."""

    id: EntityId
    kind: EntityKind
    name: str | None
    space: Space | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """An edge as it is stored. World time is that of its memory; what is recorded from
    `recorded_at` on is withdrawn at `retracted_at`."""

    id: RelationId
    from_id: EntityId
    to_id: EntityId
    relation: str
    memory_id: MemoryId
    space: Space
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    recorded_at: datetime
    retracted_at: datetime | None = None

    def other(self, end: EntityId) -> EntityId:
        """The end that is not this one."""
        return self.to_id if end == self.from_id else self.from_id


@dataclass(frozen=True, slots=True)
class Named:
    """Somebody whom a sentence may mean, by name and aliases in normal form."""

    person_id: PersonId
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Thing:
    """The far end of an edge that is no person."""

    kind: EntityKind
    name: str


@dataclass(frozen=True, slots=True)
class Edge:
    """What a memory states, before it has an id."""

    from_id: PersonId
    relation: str
    to: PersonId | Thing


def stated(memory: Memory) -> Saying | None:
    """What a memory states that could be an edge. Raw messages and records state nothing here."""
    if memory.kind is not Kind.STATEMENT or memory.messages:
        return None
    return saying_of(memory.content)


def could_be_meant(memory: Memory) -> tuple[PersonId, ...]:
    """Whose names are needed to draw what a memory states."""
    stater = () if memory.stated_by is None else (memory.stated_by,)
    return tuple(dict.fromkeys(map(PersonId, (*memory.subjects, *stater))))


def draw(
    memory: Memory, sayings: Sequence[Saying], people: Sequence[Named], *, doubt: bool = False
) -> tuple[Edge, ...]:
    """The edges of a memory. `people` are those who could be meant; `doubt` means that not every
    subject is known, so that nobody is meant without being named."""
    scene = _Scene(memory, people, doubt)
    edges = (edge for saying in sayings for edge in scene.edges(saying))
    return tuple(dict.fromkeys(edges))


@dataclass(frozen=True, slots=True)
class _Scene:
    """Who is there when a sentence is said."""

    memory: Memory
    people: Sequence[Named]
    doubt: bool

    def edges(self, saying: Saying) -> list[Edge]:
        if isinstance(saying, Tie):
            return self._between(saying)
        end = self._far_end(saying)
        if end is None:
            return []
        return [Edge(who, saying.relation, end) for who in self._of(saying) if who != end]

    def _far_end(self, bond: Bond) -> PersonId | Thing | None:
        """Who likes a name in capitals likes somebody, who must be known, or something that can't
        be told from somebody."""
        if bond.kind is EntityKind.THING and bond.name[0].isupper():
            return self._called(bond.name)
        return Thing(bond.kind, bond.name)

    def _between(self, tie: Tie) -> list[Edge]:
        who, whom = self._end(tie.who), self._end(tie.whom)
        if who is None or whom is None or who == whom:
            return []
        return [Edge(who, tie.relation, whom)]

    def _end(self, name: str) -> PersonId | None:
        return self._stater if name == SPEAKER else self._called(name)

    def _of(self, bond: Bond) -> tuple[PersonId, ...]:
        if bond.who == SPEAKERS:
            return () if self.doubt else self._subjects or self._listed(self._stater)
        if bond.who == SPEAKER:
            return self._listed(self._speaker())
        lone = self._lone() if bond.who == NOBODY_NAMED else self._called(bond.who)
        return self._listed(lone)

    def _speaker(self) -> PersonId | None:
        """Who says "I" is the stater; an agent's words are those of the one they are about."""
        if self._stater is None:
            return self._lone()
        about = not self._subjects or self._stater in self._subjects
        return self._stater if about else None

    def _lone(self) -> PersonId | None:
        return self._subjects[0] if len(self._subjects) == 1 and not self.doubt else None

    def _called(self, name: str) -> PersonId | None:
        """The one of this name; a part of a name will do where one person alone has it."""
        form = normal_form(name)
        words = set(form.split())
        whole = {one.person_id for one in self.people if form in one.names}
        partly = {
            one.person_id for one in self.people for of in one.names if words <= set(of.split())
        }
        found = whole or partly
        return next(iter(found)) if len(found) == 1 and words else None

    @property
    def _subjects(self) -> tuple[PersonId, ...]:
        return tuple(map(PersonId, self.memory.subjects))

    @property
    def _stater(self) -> PersonId | None:
        return None if self.memory.stated_by is None else PersonId(self.memory.stated_by)

    @staticmethod
    def _listed(person_id: PersonId | None) -> tuple[PersonId, ...]:
        return () if person_id is None else (person_id,)
