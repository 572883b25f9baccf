"""What a write holds while it looks whether it says something new."""

from recollect.db.transaction import Tx
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import MemoryStatus, StoredMemory
from tests.support.memory.builders import ANN, a_memory, at, keep
from tests.support.storage import Storage


def test_the_same_text_is_found_whoever_said_it_of_whom(storage: Storage) -> None:
    space = Space(SpaceKind.CHAT, storage.new_id())
    first = keep(storage, a_memory(storage, space=space, content="Same.", created_at=at(1)))
    said = {"content": "same", "stated_by": "p", "subjects": ("q",), "created_at": at(2)}
    second = keep(storage, a_memory(storage, space=space, **said))
    keep(storage, a_memory(storage, space=space, content="Other"))
    keep(storage, a_memory(storage, space=space, content="same", status=MemoryStatus.SUPERSEDED))
    keep(storage, a_memory(storage, space=space, content="same", expires_at=at(20)))
    keep(storage, a_memory(storage, space=Space(SpaceKind.USER, space.id), content="same"))
    asked = StoredMemory(a_memory(storage, space=space, content="SAME!"), ANN)
    found = storage.do(storage.stores.memories.find_same_text, asked, now=at(20))
    assert found == [first, second]


def test_a_statement_is_not_the_same_text_as_itself(storage: Storage) -> None:
    kept = keep(storage, a_memory(storage, space=Space(SpaceKind.CHAT, storage.new_id())))
    assert storage.do(storage.stores.memories.find_same_text, kept, now=at(20)) == []


def test_writers_that_hold_one_key_come_one_after_the_other(storage: Storage) -> None:
    space = Space(SpaceKind.USER, storage.new_id())
    memories = storage.stores.memories

    def first_of_key(tx: Tx) -> bool:
        memories.lock_key(tx, space, "k")
        if memories.find_by_key(tx, space, "k", now=at(20)):
            return False
        record = a_memory(storage, space=space, key="k", value={})
        return memories.insert(tx, StoredMemory(record, ANN)) is not None

    begun = [storage.begin(storage.engine.write(first_of_key)) for _ in range(20)]
    assert sum(future.result(30) for future in begun) == 1
