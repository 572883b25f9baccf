"""A deletion leaves nothing of a memory but its place in the histories of others."""

from functools import partial
from typing import Any

from sqlalchemy import text

from recollect.db.columns import metadata
from recollect.db.statements import Query
from recollect.memories.model import StoredMemory
from tests.support.builders import NOON
from tests.support.memory.builders import FULL, a_memory, at, change, dump, keep
from tests.support.storage import Storage


def test_a_deleted_memory_leaves_no_row_that_names_it(storage: Storage) -> None:
    kept = keep(storage, a_memory(storage, **FULL | {"supersedes": ()}))
    hang_everything_on(storage, kept)
    changed = change(storage, kept, content="changed")
    assert storage.do(storage.stores.memories.delete, changed.memory.id, at=at(5))
    assert rows_naming(storage, kept.memory.id) == {}
    assert not storage.do(storage.stores.memories.delete, changed.memory.id, at=at(6))


def test_a_deleted_memory_stays_in_the_history_of_its_successor(storage: Storage) -> None:
    old, new = keep(storage, a_memory(storage)), keep(storage, a_memory(storage))
    memories = storage.stores.memories
    storage.do(memories.link_superseded, new.memory.id, old.memory.id, at=at(1), reason="r")
    storage.do(memories.delete, old.memory.id, at=at(5))
    assert rows_naming(storage, old.memory.id) == {"memory_links": 1, "memory_removals": 1}
    assert storage.ask(memories.removals, [old.memory.id, new.memory.id]) == {old.memory.id: at(5)}


def test_an_entity_goes_with_its_last_edge(storage: Storage) -> None:
    one, two = keep(storage, a_memory(storage)), keep(storage, a_memory(storage))
    shared, lone, far = (storage.new_id() for _ in range(3))
    for entity in (shared, lone, far):
        write_entity(storage, entity)
    write_edge(storage, one.memory.id, shared, lone)
    write_edge(storage, two.memory.id, far, shared)
    storage.do(storage.stores.memories.delete, one.memory.id, at=at(1))
    assert not rows_naming(storage, lone)
    assert rows_naming(storage, shared) == {"entities": 1, "relations": 1}
    storage.do(storage.stores.memories.delete, two.memory.id, at=at(1))
    assert not rows_naming(storage, shared)
    assert not rows_naming(storage, far)


def test_two_deletions_at_once_remove_it_once(storage: Storage) -> None:
    ids = [keep(storage, a_memory(storage)).memory.id for _ in range(10)]
    delete = storage.stores.memories.delete
    twice = [partial(delete, memory_id=id_, at=at(1)) for id_ in ids for _ in range(2)]
    begun = [storage.begin(storage.engine.write(work)) for work in twice]
    assert sum(future.result(30) for future in begun) == len(ids)


def run(storage: Storage, sql: str, **params: Any) -> None:
    storage.do(lambda tx: tx.run(Query(text(sql)), params))


def write_entity(storage: Storage, id_: str) -> None:
    run(
        storage,
        "INSERT INTO entities VALUES (:id, 'thing', :id, :id, 'user', 'ann')",
        id=id_,
    )


def write_edge(storage: Storage, memory_id: str, from_id: str, to_id: str) -> None:
    run(
        storage,
        "INSERT INTO relations VALUES (:id, :a, :b, 'of', :memory_id, :at, NULL)",
        id=storage.new_id(),
        a=from_id,
        b=to_id,
        memory_id=memory_id,
        at=NOON.isoformat(),
    )


def hang_everything_on(storage: Storage, stored: StoredMemory) -> None:
    """Rows of other stores that name a memory."""
    id_ = stored.memory.id
    write_edge(storage, id_, "p-1", "p-2")
    run(
        storage,
        "INSERT INTO memory_index (doc, memory_id, terms, stems, pending)"
        " VALUES (:doc, :id, 'a', 'a', false)",
        doc=stored.doc,
        id=id_,
    )
    run(
        storage,
        "INSERT INTO approvals VALUES (:approval, :id, 'user', 'ann', NULL, 'pending', NULL,"
        " NULL, NULL, :at, :at)",
        approval=storage.new_id(),
        id=id_,
        at=NOON.isoformat(),
    )


def rows_naming(storage: Storage, id_: str) -> dict[str, int]:
    """How many rows of each table hold the id in any column."""
    counts = {
        name: sum(any(value is not None and id_ in str(value) for value in row) for row in rows)
        for name in metadata.tables
        if (rows := dump(storage, name))
    }
    return {name: count for name, count in counts.items() if count}
