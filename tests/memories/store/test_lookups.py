"""Memories that a write has to know of: equal texts, and records of a key."""

from typing import Any

import pytest

from recollect.db.transaction import Tx
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import Memory, MemoryStatus, StoredMemory
from tests.support.memory.builders import ANN, a_memory, at, change, keep
from tests.support.storage import Storage

EQUAL_SPACE = Space(SpaceKind.CHAT, "equals")


@pytest.mark.parametrize(
    ("members", "found"),
    [
        ({}, True),
        ({"content": "i  LIKE pizza!"}, True),
        ({"subjects": ("q", "p")}, True),
        ({"content": "I like pasta"}, False),
        ({"subjects": ("p",)}, True),
        ({"stated_by": None}, True),
        ({"stated_by": "q"}, True),
        ({"space": Space(SpaceKind.USER, "equals")}, False),
        ({"space": Space(SpaceKind.CHAT, "other")}, False),
        ({"key": "I like pizza", "value": {}}, False),
    ],
)
def test_an_equal_text_of_the_space_is_found_whoever_said_it_of_whom(
    storage: Storage, members: dict[str, Any], found: bool
) -> None:
    said = {"content": "I like pizza.", "subjects": ("p", "q"), "stated_by": "p"}
    kept = keep(storage, a_memory(storage, space=EQUAL_SPACE, **said))
    asked = a_memory(storage, **{"space": EQUAL_SPACE} | said | members)
    equal = same_text(storage, asked)
    storage.do(storage.stores.memories.delete, kept.memory.id, at=at(1))
    assert equal == ([kept] if found else [])


@pytest.mark.parametrize(
    "gone",
    [
        {"status": MemoryStatus.SUPERSEDED},
        {"status": MemoryStatus.QUARANTINED},
        {"expires_at": at(20)},
    ],
)
def test_what_no_reader_sees_is_no_equal(storage: Storage, gone: dict[str, Any]) -> None:
    space = Space(SpaceKind.CHAT, storage.new_id())
    keep(storage, a_memory(storage, space=space, content="same", **gone))
    assert same_text(storage, a_memory(storage, space=space, content="same")) == []


def test_a_statement_without_stater_and_subjects_has_equals_too(storage: Storage) -> None:
    space = Space(SpaceKind.CHAT, storage.new_id())
    kept = keep(storage, a_memory(storage, space=space, content="same"))
    assert same_text(storage, a_memory(storage, space=space, content="Same.")) == [kept]


def test_a_statement_is_not_its_own_equal(storage: Storage) -> None:
    kept = keep(storage, a_memory(storage))
    assert same_text(storage, kept.memory) == []


def test_a_changed_text_is_found_as_it_now_is(storage: Storage) -> None:
    space = Space(SpaceKind.CHAT, storage.new_id())
    kept = change(storage, keep(storage, a_memory(storage, space=space)), content="now this")
    assert same_text(storage, a_memory(storage, space=space, content="now this")) == [kept]


def test_equal_statements_at_once_become_one(storage: Storage) -> None:
    space = Space(SpaceKind.CHAT, storage.new_id())
    memories = storage.stores.memories

    def remember(tx: Tx) -> bool:
        new = StoredMemory(a_memory(storage, space=space, content="same"), ANN)
        if memories.find_same_text(tx, new, now=at(20)):
            return False
        return memories.insert(tx, new) is not None

    begun = [storage.begin(storage.engine.write(remember)) for _ in range(20)]
    assert sum(future.result(30) for future in begun) == 1
    assert len(same_text(storage, a_memory(storage, space=space, content="same"))) == 1


def test_live_records_of_a_key_come_newest_first(storage: Storage) -> None:
    space = Space(SpaceKind.ORG, storage.new_id())

    def record(hour: int, **members: Any) -> StoredMemory:
        chosen = {"key": "k", "value": {}, "space": space, "created_at": at(hour)} | members
        return keep(storage, a_memory(storage, **chosen))

    older, newer = record(1), record(2)
    record(3, key="K")
    record(3, space=Space(SpaceKind.ORG, "other"))
    record(3, status=MemoryStatus.ARCHIVED)
    record(3, expires_at=at(20))
    found = storage.ask(storage.stores.memories.find_by_key, space, "k", now=at(20))
    assert found == [newer, older]


def same_text(storage: Storage, memory: Memory) -> list[StoredMemory]:
    return storage.do(storage.stores.memories.find_same_text, StoredMemory(memory, ANN), now=at(20))
