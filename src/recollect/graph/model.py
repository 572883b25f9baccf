"""The graph: people and other entities, and edges that memories state between them.

An edge belongs to one memory and lives as long as it does. An edge is built only if it is certain
which person the sentence means: one of the memory's subjects, or the stater.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NewType

from recollect.graph.fact_patterns import (
    NOBODY_NAMED,
    SPEAKER,
    SPEAKERS,
    AttributeFact,
    EntityKind,
    ExtractedFact,
    RelationshipFact,
    extract_fact,
)
from recollect.kernel.ids import MemoryId, PersonId
from recollect.kernel.space import Space
from recollect.memories.model import Memory, MemoryFilter, MemoryKind
from recollect.people.model import normal_form
from recollect.visibility.viewer import Viewer

EntityId = NewType("EntityId", str)
RelationId = NewType("RelationId", str)

HOPS_MAX = 2
PATH_HOPS_MAX = 4


@dataclass(frozen=True, slots=True)
class Entity:
    """A person, or something that is named in memories of one space. A person has no space. The
    name is None if the reader may not see it, or if it could not be decrypted (`unreadable`)."""

    id: EntityId
    kind: EntityKind
    name: str | None
    space: Space | None = None
    unreadable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRelation:
    """An edge as readers get it. It has two times: `valid_from` and `valid_until` come from its
    memory and say when the fact was true; `recorded_at` and `retracted_at` say when it was known.
    """

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

    def other_end(self, end: EntityId) -> EntityId:
        return self.to_id if end == self.from_id else self.from_id


@dataclass(frozen=True, slots=True)
class NamedCandidate:
    """A person whom a sentence may mean, with name and aliases in normal form."""

    person_id: PersonId
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class EntityRef:
    """The target of an edge that is not a person."""

    kind: EntityKind
    name: str


@dataclass(frozen=True, slots=True)
class EdgeDraft:
    """An edge before it has an id."""

    from_id: PersonId
    relation: str
    to: PersonId | EntityRef


def extract_memory_fact(memory: Memory) -> ExtractedFact | None:
    """The fact that a memory states, if its text has a known form. Raw messages and records of
    other kinds state nothing."""
    if memory.kind is not MemoryKind.STATEMENT or memory.messages:
        return None
    return extract_fact(memory.content)


def candidate_people(memory: Memory) -> tuple[PersonId, ...]:
    """The people whom the text of a memory may mean: its subjects and its stater."""
    stater = () if memory.stated_by is None else (memory.stated_by,)
    return tuple(dict.fromkeys(map(PersonId, (*memory.subjects, *stater))))


def build_edges(
    memory: Memory,
    facts: Sequence[ExtractedFact],
    people: Sequence[NamedCandidate],
    *,
    doubt: bool = False,
) -> tuple[EdgeDraft, ...]:
    """The edges of a memory, without duplicates. `people` are those whom the text may mean.
    `doubt`: a subject is unresolved, so a sentence without a name can't be assigned to the only
    subject."""
    scene = _EdgeBuilder(memory, people, doubt)
    edges = (edge for fact in facts for edge in scene.build(fact))
    return tuple(dict.fromkeys(edges))


@dataclass(frozen=True, slots=True)
class _EdgeBuilder:
    """Resolves the words of one memory's facts ("I", a name, nobody) to people."""

    memory: Memory
    people: Sequence[NamedCandidate]
    doubt: bool

    def build(self, fact: ExtractedFact) -> list[EdgeDraft]:
        if isinstance(fact, RelationshipFact):
            return self._relationship_edges(fact)
        end = self._far_end(fact)
        if end is None:
            return []
        return [
            EdgeDraft(who, fact.relation, end) for who in self._resolve_sources(fact) if who != end
        ]

    def _far_end(self, attribute: AttributeFact) -> PersonId | EntityRef | None:
        """The target of a fact. A liked thing with a capital letter may be a person: it counts only
        if it is one of the known people, since "likes Rose" can't be told from "likes Porsche"."""
        if attribute.kind is EntityKind.THING and attribute.name[0].isupper():
            return self._find_by_name(attribute.name)
        return EntityRef(attribute.kind, attribute.name)

    def _relationship_edges(self, relationship: RelationshipFact) -> list[EdgeDraft]:
        who, whom = self._resolve_end(relationship.who), self._resolve_end(relationship.whom)
        if who is None or whom is None or who == whom:
            return []
        return [EdgeDraft(who, relationship.relation, whom)]

    def _resolve_end(self, name: str) -> PersonId | None:
        return self._stater if name == SPEAKER else self._find_by_name(name)

    def _resolve_sources(self, attribute: AttributeFact) -> tuple[PersonId, ...]:
        # "We" means all subjects, or the stater if there are none; with an unresolved subject it is
        # not known who else "we" are.
        if attribute.who == SPEAKERS:
            return () if self.doubt else self._subjects or self._as_tuple(self._stater)
        if attribute.who == SPEAKER:
            return self._as_tuple(self._resolve_speaker())
        lone = (
            self._only_subject()
            if attribute.who == NOBODY_NAMED
            else self._find_by_name(attribute.who)
        )
        return self._as_tuple(lone)

    def _resolve_speaker(self) -> PersonId | None:
        """The person that "I" means: the stater, unless the memory is about others only; for a
        memory that an agent wrote, the only subject."""
        if self._stater is None:
            return self._only_subject()
        about = not self._subjects or self._stater in self._subjects
        return self._stater if about else None

    def _only_subject(self) -> PersonId | None:
        return self._subjects[0] if len(self._subjects) == 1 and not self.doubt else None

    def _find_by_name(self, name: str) -> PersonId | None:
        """The only person with this name. If nobody has exactly this name, the only person whose
        name contains all of its words."""
        form = normal_form(name)
        words = set(form.split())
        # An exact name wins over a part of one: with Ann and Ann Lee, "Ann" means Ann.
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
    def _as_tuple(person_id: PersonId | None) -> tuple[PersonId, ...]:
        return () if person_id is None else (person_id,)


@dataclass(frozen=True, slots=True)
class StoredEdge:
    """A stored edge of one memory: id, both ends and the relation."""

    id: RelationId
    from_id: EntityId
    relation: str
    to_id: EntityId

    @property
    def triple(self) -> tuple[str, str, str]:
        """Two edges of a memory with the same triple are the same edge."""
        return self.from_id, self.relation, self.to_id


@dataclass(frozen=True, slots=True)
class ListedEntity:
    """An entity with the time of the first edge of it that the reader sees. Names of people are
    missing: the service adds those that the reader may see."""

    entity: Entity
    since: datetime


@dataclass(frozen=True, slots=True)
class GraphContext:
    """Who reads the graph, and a filter for the memories whose edges count."""

    viewer: Viewer
    filters: MemoryFilter = field(default_factory=MemoryFilter)
