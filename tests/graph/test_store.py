"""The graph as it is stored: what is drawn comes back, what ends stays in the record, and nothing
hangs in the air."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

import pytest

from recollect.db.transaction import Tx
from recollect.graph.fact_patterns import EntityKind
from recollect.graph.model import Entity, EntityId, GraphContext, GraphRelation
from recollect.graph.writer import GraphWriter
from recollect.kernel.ids import PersonId
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import MemoryFilter, MemoryStatus, StoredMemory
from recollect.people.model import Person
from recollect.visibility.disclosure import AskerView, DisclosureSettings
from recollect.visibility.viewer import Viewer
from tests.support.engines import TestDatabase
from tests.support.memory.builders import ANN, a_memory, at, change, dump, keep
from tests.support.storage import Storage, a_storage


def drawn(storage: Storage, content: str, person: str, **fields: Any) -> StoredMemory:
    """A memory of its lone subject, with its edges."""
    memory = a_memory(storage, content=content, subjects=(person,), **fields)
    return redrawn(storage, keep(storage, memory))


def redrawn(storage: Storage, stored: StoredMemory) -> StoredMemory:
    """The same memory with the edges of its present text."""
    storage.do(GraphWriter(storage.stores, storage.runtime).write_edges, stored)
    return stored


def seen(
    storage: Storage, *ids: str, now: datetime | None = None, limit: int = 100, **chosen: Any
) -> list[GraphRelation]:
    """What a reader of everything sees at these entities."""
    look = GraphContext(Viewer.for_system("a test", now or at(100)), MemoryFilter(**chosen))
    entities = [EntityId(one) for one in ids]
    return storage.ask(storage.stores.graph.neighbours, look, entities, limit=limit)


def thing(storage: Storage, id_: str) -> Entity | None:
    """The entity of this id."""
    return storage.ask(storage.stores.graph.fetch_entities, [id_]).get(EntityId(id_))


def ends(storage: Storage, person: str, **chosen: Any) -> list[str | None]:
    """The names at the other ends of a person's edges, the newest first."""
    found = [thing(storage, one.to_id) for one in seen(storage, person, **chosen)]
    return [one.name if one else None for one in found]


def test_an_edge_comes_back_with_what_its_memory_says(storage: Storage) -> None:
    ann, space = storage.new_id(), Space(SpaceKind.CHAT, storage.new_id())
    stored = drawn(
        storage, "Lives in Porto", ann, space=space, valid_from=at(-10), valid_until=at(10)
    )
    (edge,) = seen(storage, ann)
    assert edge == GraphRelation(
        id=edge.id,
        from_id=EntityId(ann),
        to_id=edge.to_id,
        relation="lives_in",
        memory_id=stored.memory.id,
        space=space,
        valid_from=at(-10),
        valid_until=at(10),
        recorded_at=at(0),
    )
    assert thing(storage, edge.to_id) == Entity(edge.to_id, EntityKind.PLACE, "Porto", space)
    assert seen(storage, edge.to_id) == [edge]


def test_one_name_in_one_space_is_one_entity(storage: Storage) -> None:
    ann, bob, space = storage.new_id(), storage.new_id(), Space(SpaceKind.USER, storage.new_id())
    drawn(storage, "Lives in The Hague", ann, space=space)
    drawn(storage, "Lives in the Hague", bob, space=space)
    drawn(storage, "Lives in The Hague", bob)
    (of_ann,), of_bob = seen(storage, ann), seen(storage, bob)
    assert [one.to_id == of_ann.to_id for one in of_bob].count(True) == 1
    assert len(of_bob) == 2


def test_what_a_later_version_does_not_say_is_in_the_record_only(storage: Storage) -> None:
    ann = storage.new_id()
    first = drawn(storage, "Lives in Porto", ann)
    second = redrawn(storage, change(storage, first, hours=5, content="Lives in Lisbon"))
    assert ends(storage, ann) == ["Lisbon"]
    assert ends(storage, ann, as_of=at(4)) == ["Porto"]
    assert ends(storage, ann, as_of=at(5)) == ["Lisbon"]
    assert ends(storage, ann, as_of=at(-1)) == []
    (was,) = seen(storage, ann, as_of=at(4))
    assert (was.recorded_at, was.retracted_at) == (at(0), at(5))
    redrawn(storage, change(storage, second, content="Likes tea."))
    assert ends(storage, ann) == ["tea"]


def test_an_unchanged_edge_stays_the_same(storage: Storage) -> None:
    ann = storage.new_id()
    first = drawn(storage, "Lives in Porto", ann)
    before = seen(storage, ann)
    redrawn(storage, change(storage, first, tags=("home",)))
    assert seen(storage, ann) == before


def test_world_time_of_an_earlier_record_is_that_of_its_version(storage: Storage) -> None:
    ann = storage.new_id()
    first = drawn(storage, "Lives in Porto", ann)
    change(storage, first, hours=5, valid_until=at(3), status=MemoryStatus.SUPERSEDED)
    assert seen(storage, ann) == []
    assert [one.valid_until for one in seen(storage, ann, as_of=at(4))] == [None]
    assert [one.valid_until for one in seen(storage, ann, valid_at=at(2))] == [at(3)]
    assert seen(storage, ann, valid_at=at(3)) == []
    assert len(seen(storage, ann, valid_at=at(3), as_of=at(4))) == 1


def test_the_newest_edges_come_first_up_to_the_limit(storage: Storage) -> None:
    ann = storage.new_id()
    for hour, name in enumerate(("tea", "jam", "rye")):
        drawn(storage, f"Likes {name}", ann, created_at=at(hour), updated_at=at(hour))
    assert ends(storage, ann) == ["rye", "jam", "tea"]
    assert ends(storage, ann, limit=2) == ["rye", "jam"]


def test_erased_edges_take_their_entities_along(storage: Storage) -> None:
    ann = storage.new_id()
    first = drawn(storage, "Lives in Porto", ann)
    second = redrawn(storage, change(storage, first, content="Lives in Lisbon"))
    porto, lisbon = seen(storage, ann, as_of=at(0))[0].to_id, seen(storage, ann)[0].to_id
    storage.do(GraphWriter(storage.stores, storage.runtime).delete_edges, second.memory.id)
    assert seen(storage, ann) == seen(storage, ann, as_of=at(0)) == []
    assert thing(storage, porto) is thing(storage, lisbon) is None


def test_an_edge_from_somebody_to_themself_is_not_there(storage: Storage) -> None:
    ann = storage.new_id()
    bob = storage.new_id()
    drawn(storage, "Lives in Porto", ann)
    storage.database.rows("UPDATE relations SET to_id = from_id WHERE from_id = :ann", ann=ann)
    assert seen(storage, ann) == seen(storage, bob) == []


def test_no_edge_loses_its_entity_to_a_removal_at_the_same_moment(storage: Storage) -> None:
    space = Space(SpaceKind.USER, storage.new_id())
    people = [storage.new_id() for _ in range(40)]
    graph, memories = GraphWriter(storage.stores, storage.runtime), storage.stores.memories
    old = drawn(storage, "Lives in Porto", people[0], space=space)
    for person in people[1:]:
        memory = a_memory(storage, content="Lives in Porto", subjects=(person,), space=space)
        new = keep(storage, memory)
        works: list[Callable[[Tx], object]] = [
            partial(graph.write_edges, stored=new),
            partial(memories.delete, memory_id=old.memory.id, at=at(1)),
        ]
        begun = [storage.begin(storage.engine.write(work)) for work in works]
        for future in begun:
            future.result(30)
        assert ends(storage, person) == ["Porto"]
        old = new
    assert len([row for row in dump(storage, "entities") if row[-1] == space.id]) == 1


def a_person(storage: Storage, name: str) -> str:
    """Somebody of the org `default`."""
    id_ = PersonId(storage.new_id())
    storage.do(
        storage.stores.people.insert,
        Person(id=id_, name=name, created_by=ANN, created_at=at(0), updated_at=at(0)),
    )
    return id_


def test_memories_are_close_by_edges_and_by_the_people_whom_these_lead_to(
    storage: Storage,
) -> None:
    ann, bob, cyd, dan = (a_person(storage, name) for name in ("Ann", "Bob", "Cyd", "Dan"))
    between = [
        keep(storage, a_memory(storage, content=content, subjects=subjects))
        for content, subjects in (
            ("Bob is Ann's boss", (bob, ann)),
            ("Cyd is Bob's boss", (cyd, bob)),
            ("Dan is Cyd's boss", (dan, cyd)),
        )
    ]
    for stored in between:
        redrawn(storage, stored)
    of_bob = keep(storage, a_memory(storage, content="launches in March", subjects=(bob,)))
    of_cyd = keep(storage, a_memory(storage, content="is on leave", subjects=(cyd,)))
    keep(storage, a_memory(storage, content="is new here", subjects=(dan,)))
    keep(storage, a_memory(storage, content="sings", subjects=(ann,)))
    graph, everything = (
        GraphWriter(storage.stores, storage.runtime),
        Viewer.for_system("a test", at(100)),
    )
    near = storage.ask(graph.closeness, everything, [ann])
    first, second, third = (stored.memory.id for stored in between)
    assert near == {
        first: 1.0,
        second: 0.5,
        of_bob.memory.id: 0.5,
        of_cyd.memory.id: 1 / 3,
        third: 1 / 3,
    }
    nobody = Viewer((), AskerView(), None, DisclosureSettings(), at(100))
    assert storage.ask(graph.closeness, nobody, [ann]) == {}


@pytest.fixture
def sealed(new_database: Callable[[], TestDatabase]) -> Any:
    """A storage with a key."""
    with a_storage(new_database(), keys=[("k1", b"1" * 32)]) as running:
        yield running


def test_with_a_key_no_name_is_in_the_database(sealed: Storage) -> None:
    ann = sealed.new_id()
    drawn(sealed, "Lives in Porto", ann)
    assert ends(sealed, ann) == ["Porto"]
    assert "porto" not in str(dump(sealed, "entities")).lower()
