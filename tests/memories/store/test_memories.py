"""Memories as they are stored: every member comes back, earlier versions too, and with a key no
text of theirs is in the database."""

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

import pytest

from recollect.db.transaction import Tx
from recollect.kernel.ids import MemoryId
from recollect.kernel.owner import Owner
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import (
    Memory,
    MemoryFilter,
    MemoryMessage,
    MemoryStatus,
    MessageRole,
    StoredMemory,
    VersionChange,
)
from recollect.visibility.viewer import Viewer
from tests.support.engines import TestDatabase
from tests.support.memory.builders import (
    ANN,
    BESIDE,
    FULL,
    a_memory,
    at,
    change,
    dump,
    fetched,
    keep,
)
from tests.support.storage import Storage, a_storage


def test_every_member_of_a_memory_comes_back(storage: Storage) -> None:
    assert FULL.keys() | {"id"} == {field.name for field in fields(Memory)}
    told = {field.name for field in fields(StoredMemory) if field.compare}
    assert BESIDE.keys() | {"memory", "written_by", "doc"} == told
    kept = keep(storage, a_memory(storage, **FULL), **BESIDE)
    assert fetched(storage, kept) == kept
    assert kept.doc > 0


def test_a_memory_with_defaults_comes_back(storage: Storage) -> None:
    kept = keep(storage, a_memory(storage))
    assert fetched(storage, kept) == kept
    assert kept.status_at == kept.memory.created_at


@pytest.mark.parametrize(
    "content", ["\u0001rc1:like a sealed one", "\u0001", '"', "a\r\nb\t\u2028"]
)
def test_any_text_comes_back_as_it_was_sent(storage: Storage, content: str) -> None:
    kept = keep(storage, a_memory(storage, content=content))
    assert fetched(storage, kept).memory.content == content


def test_a_taken_id_stores_nothing(storage: Storage) -> None:
    kept = keep(storage, a_memory(storage, tags=("one",), subjects=("p",)))
    again = replace(kept.memory, content="another", tags=("two",), subjects=("q",))
    assert storage.do(storage.stores.memories.insert, StoredMemory(again, ANN)) is None
    assert fetched(storage, kept) == kept
    assert len(storage.ask(storage.stores.memories.versions, [kept.memory.id])) == 1


def test_an_unknown_id_is_none(storage: Storage) -> None:
    assert storage.ask(storage.stores.memories.fetch, MemoryId("unknown")) is None


def test_a_change_moves_every_part_that_it_names(storage: Storage) -> None:
    before = keep(
        storage,
        a_memory(
            storage,
            subjects=("p", "q"),
            tags=("a", "b"),
            source_entries=("e",),
            conflicts_with=(MemoryId("c-1"),),
        ),
    )
    after = change(
        storage,
        before,
        content="new",
        subjects=("q", "r"),
        tags=("b", "c"),
        source_entries=("e", "f"),
        source_memories=(MemoryId("m"),),
        conflicts_with=(MemoryId("c-2"),),
        pii_tags=("phone",),
    )
    assert fetched(storage, before) == after
    assert after.memory.content == "new"
    assert after.status_at == before.status_at


def test_a_change_stores_what_stands_beside_the_memory(storage: Storage) -> None:
    before = keep(storage, a_memory(storage), bare_names=("Sam",))
    after = change(storage, replace(before, bare_names=(), suspicion=0.75))
    assert fetched(storage, before) == after
    assert (after.bare_names, after.suspicion) == ((), 0.75)


def test_a_change_of_status_is_dated(storage: Storage) -> None:
    before = keep(storage, a_memory(storage))
    after = change(storage, before, hours=2, status=MemoryStatus.SUPERSEDED)
    assert fetched(storage, before).status_at == after.memory.updated_at == at(2)


def test_versions_keep_what_each_was_and_when(storage: Storage) -> None:
    first = keep(storage, a_memory(storage, key="k", value={"n": 1}, tags=("a",)))
    second = change(storage, first, value={"n": 2}, tags=("b",), valid_until=at(9))
    change(storage, second, status=MemoryStatus.SUPERSEDED, superseded_by=MemoryId("s"))
    one, two, three = storage.ask(storage.stores.memories.versions, [first.memory.id])
    assert [one.change, two.change, three.change] == list(VersionChange)[:3]
    assert (one.at, one.until, two.at, two.until) == (at(0), at(1), at(1), at(2))
    assert (three.at, three.until, three.snapshot) == (at(2), None, None)
    assert (one.by, two.by) == (ANN, Owner.agent("a"))
    assert [v.status for v in (one, two, three)] == ["active", "active", "superseded"]
    assert one.snapshot is not None
    assert two.snapshot is not None
    assert replace(first.memory, **two.snapshot) == second.memory
    assert replace(second.memory, **one.snapshot) == first.memory


def test_versions_of_several_memories_come_oldest_first(storage: Storage) -> None:
    one, two = keep(storage, a_memory(storage)), keep(storage, a_memory(storage))
    change(storage, one, hours=1)
    change(storage, two, hours=2)
    found = storage.ask(storage.stores.memories.versions, [two.memory.id, one.memory.id])
    assert [v.at for v in found] == [at(0), at(0), at(1), at(2)]


def test_as_of_shows_the_version_of_that_time(storage: Storage) -> None:
    first = keep(storage, a_memory(storage, content="Porto", tags=("a",), subjects=("p",)))
    second = change(storage, first, content="Lisbon", tags=("b",), subjects=("q",))
    for instant, expected in ((at(0), first), (at(1), second), (at(5), second)):
        shown = seen(storage, first, as_of=instant)
        assert shown is not None
        assert shown.memory == expected.memory
    assert seen(storage, first, as_of=at(-1)) is None


def test_a_viewer_of_everything_pages_newest_first(storage: Storage) -> None:
    space = Space(SpaceKind.ORG, storage.new_id())
    kept = [
        keep(storage, a_memory(storage, space=space, created_at=at(hour), subjects=(f"p{hour}",)))
        for hour in (1, 3, 2, 2)
    ]
    expected = sorted(kept, key=lambda one: (one.memory.created_at, one.memory.id), reverse=True)
    pages = list(walk(storage, MemoryFilter(spaces=((space.kind, space.id),)), limit=3))
    assert [len(page) for page in pages] == [3, 1]
    assert [one for page in pages for one in page] == expected


def test_only_known_ids_are_seen(storage: Storage) -> None:
    one, two = keep(storage, a_memory(storage)), keep(storage, a_memory(storage))
    viewer = Viewer.for_system("test", at(20))
    ids = [one.memory.id, MemoryId("unknown"), two.memory.id]
    found = storage.ask(storage.stores.memories.fetch_many_visible, viewer, ids, MemoryFilter())
    assert found == {one.memory.id: one, two.memory.id: two}


def test_links_of_supersession_are_read_from_the_successor(storage: Storage) -> None:
    kept = keep(storage, a_memory(storage)).memory
    beside = keep(storage, a_memory(storage, space=kept.space)).memory
    new, older, old = kept.id, beside.id, keep(storage, a_memory(storage)).memory.id
    memories = storage.stores.memories
    storage.do(memories.link_superseded, new, old, at=at(1), reason="correction")
    storage.do(memories.link_superseded, new, older, at=at(1), reason="")
    storage.do(memories.link_superseded, new, old, at=at(2), reason="repeated")
    assert storage.ask(memories.predecessors, [new, old]) == {new: sorted([old, older])}
    found = storage.ask(memories.fetch, new)
    assert found is not None
    assert found.memory.supersedes == tuple(sorted([old, older]))


def test_a_link_without_a_reason_leads_to_no_row_of_another_space(storage: Storage) -> None:
    new, old = (keep(storage, a_memory(storage)).memory.id for _ in range(2))
    memories = storage.stores.memories
    storage.do(memories.link_superseded, new, old, at=at(1), reason="")
    assert storage.ask(memories.predecessors, [new]) == {}
    found = storage.ask(memories.fetch, new)
    assert found is not None
    assert found.memory.supersedes == (old,)


def test_a_conflict_is_seen_from_both_sides_until_one_side_ends_it(storage: Storage) -> None:
    one, other = keep(storage, a_memory(storage)), keep(storage, a_memory(storage))
    a, b = one.memory.id, other.memory.id
    storage.do(storage.stores.memories.link_conflict, a, b, at=at(1))
    assert fetched(storage, one).memory.conflicts_with == (b,)
    assert fetched(storage, other).memory.conflicts_with == (a,)
    change(storage, fetched(storage, one), conflicts_with=())
    assert fetched(storage, other).memory.conflicts_with == ()


def test_a_lock_holds_the_row_until_the_end(storage: Storage) -> None:
    kept = keep(storage, a_memory(storage))
    memories = storage.stores.memories

    def repeat(tx: Tx) -> None:
        found = memories.fetch(tx, kept.memory.id, lock=True)
        assert found is not None
        memory = found.memory
        after = replace(memory, repeats=memory.repeats + 1, version=memory.version + 1)
        memories.update(tx, found, after, change=VersionChange.UPDATED, by=ANN, at=at(1))

    begun = [storage.begin(storage.engine.write(repeat)) for _ in range(10)]
    for future in begun:
        future.result(30)
    assert fetched(storage, kept).memory.repeats == 10


class TestEncryption:
    """With a key no text of a memory is in the database."""

    WORDS = ("aardvark", "bandicoot", "capybara", "dormouse", "echidna")

    def test_texts_are_not_in_the_database(self, new_database: Callable[[], TestDatabase]) -> None:
        content, value, message, note, changed = self.WORDS
        with a_storage(new_database(), keys=[("k1", b"1" * 32)]) as storage:
            kept = keep(
                storage,
                a_memory(
                    storage,
                    content=content,
                    key="k",
                    value={value: value},
                    messages=(MemoryMessage(MessageRole.USER, message),),
                    metadata={"note": note},
                ),
            )
            after = change(storage, kept, content=changed)
            assert fetched(storage, kept) == after
            stored = "".join(
                str(row) for name in ("memories", "memory_versions") for row in dump(storage, name)
            )
            assert [word for word in self.WORDS if word in stored] == []

    def test_rotation_seals_every_text_anew(self, new_database: Callable[[], TestDatabase]) -> None:
        database = new_database()
        with a_storage(database, keys=[("k1", b"1" * 32)]) as storage:
            kept = keep(storage, a_memory(storage, **FULL))
            after = change(storage, kept, content="changed")
        with a_storage(database, keys=[("k2", b"2" * 32), ("k1", b"1" * 32)]) as storage:
            maintenance = storage.stores.maintenance
            for column in maintenance.encrypted_columns():
                step = storage.do(maintenance.rotate, column, after=None, limit=10)
                assert step.unreadable == 0
        with a_storage(database, keys=[("k2", b"2" * 32)]) as storage:
            counts = storage.ask(storage.stores.maintenance.count_by_key)
            assert fetched(storage, kept) == after
            first = storage.ask(storage.stores.memories.versions, [kept.memory.id])[0]
        assert first.snapshot is not None
        assert first.snapshot["content"] == kept.memory.content
        assert {name: of for name, of in counts.items() if of and name.startswith("memor")} == {
            "memories.content": {"k2": 1},
            "memories.value": {"k2": 1},
            "memories.messages": {"k2": 1},
            "memories.metadata": {"k2": 1},
            "memory_versions.snapshot": {"k2": 1},
        }


def seen(storage: Storage, stored: StoredMemory, **chosen: Any) -> StoredMemory | None:
    viewer = Viewer.for_system("test", at(20))
    see = storage.stores.memories.fetch_visible
    return storage.ask(see, viewer, stored.memory.id, MemoryFilter(**chosen))


def walk(storage: Storage, chosen: MemoryFilter, *, limit: int) -> Iterator[list[StoredMemory]]:
    after = None
    while True:
        page = storage.ask(
            storage.stores.memories.page,
            Viewer.for_system("test", at(20)),
            chosen,
            after=after,
            limit=limit,
        )
        if page:
            yield page
        if len(page) < limit:
            return
        after = (page[-1].memory.created_at, page[-1].memory.id)
