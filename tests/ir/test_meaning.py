"""A search in the process finds entries by what they mean, with the words in none of them."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from recollect.ir import AbstractMemoryStore, MemoryEntry
from tests.ir.library import Library, a_store, an_entry, new_name

pytestmark = pytest.mark.amendment(18)

CAT = {"text": "Our cat naps on the windowsill all afternoon"}
INVOICE = {"text": "The invoice for the roof was paid"}
PET = "a pet asleep in the sun"
# More than one search embeds while it waits.
MANY = 80
TRIES_MAX = 400


async def finds(store: AbstractMemoryStore, query: str, **wanted: Any) -> list[MemoryEntry]:
    """The hits, as soon as there are any: a busy machine may need several searches."""
    for _ in range(TRIES_MAX):
        found = await store.search_memories(query, **wanted)
        if found:
            return found
    return []


def test_an_entry_is_found_by_its_meaning_right_after_it_was_stored(library: Library) -> None:
    slug = new_name()
    library.adds(slug, key="bill", value=INVOICE)
    cat = library.adds(slug, key="note", value=CAT)
    for store in (library.store, library.store.as_principal(slug)):
        found = asyncio.run(finds(store, PET, agent_slug=slug))
        assert [entry.memory_id for entry in found[:1]] == [cat.memory_id]
    stranger = library.store.as_principal(new_name())
    assert asyncio.run(stranger.search_memories(PET, agent_slug=slug)) == []


def test_a_change_of_an_entry_changes_what_it_is_found_by(library: Library) -> None:
    slug = new_name()
    entry = library.adds(slug, key="note", value=INVOICE)
    view = library.store.as_principal(slug)
    assert asyncio.run(finds(view, "the bill of the craftsmen"))
    changed = entry.model_copy(update={"value": CAT})
    asyncio.run(view.update_memory(changed))
    assert [one.value for one in asyncio.run(finds(view, PET))] == [CAT]


def test_what_a_search_has_no_time_for_is_embedded_behind_it(library: Library) -> None:
    slug = new_name()

    async def work() -> None:
        store = library.store
        for number in range(MANY):
            text = {"text": f"Note {number}: {CAT['text']}. " + "It does not care. " * 8}
            await store.create_memory(an_entry(slug, key=f"note-{number}", value=text))
        found = 0
        while found < MANY:
            hits = await store.search_memories(PET, agent_slug=slug, limit=1_000)
            assert len(hits) >= found
            found = len(hits)

    asyncio.run(asyncio.wait_for(work(), 120))


def test_entries_from_before_there_were_vectors_are_found_too(
    new_database: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    database, slug = new_database(), new_name()

    async def write() -> None:
        async with a_store(database) as store:
            await store.create_memory(an_entry(slug, key="note", value=CAT))
            assert await store.search_memories(PET) == []
            assert len(await store.search_memories("windowsill")) == 1

    async def read() -> None:
        async with a_store(database) as store:
            assert [entry.key for entry in await finds(store, PET)] == ["note"]

    with monkeypatch.context() as patched:
        patched.setenv("RECOLLECT_EMBEDDING__PROVIDER", "none")
        asyncio.run(write())
    asyncio.run(read())


def test_a_store_closes_while_vectors_are_made(new_database: Callable[[], Any]) -> None:
    database = new_database()

    async def work() -> None:
        async with a_store(database) as store:
            for number in range(MANY):
                text = {"text": f"Note {number}: {CAT['text']}. " + "It does not care. " * 8}
                await store.create_memory(an_entry(key=f"note-{number}", value=text))
            await store.search_memories(PET)
        async with a_store(database) as store:
            assert await finds(store, PET)

    asyncio.run(asyncio.wait_for(work(), 120))
