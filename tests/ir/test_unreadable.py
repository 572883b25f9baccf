"""An entry that can't be decrypted: it fails no list of the embedded store, and is marked."""

import asyncio

import pytest

from tests.ir.library import Library, new_name

pytestmark = pytest.mark.amendment(15)


def test_an_unreadable_entry_is_marked_and_fails_no_list(library: Library) -> None:
    slug = new_name()
    lost = library.adds(slug, key="lost", value={"name": "ochre"})
    kept = library.adds(slug, key="kept", value={"name": "umber"})
    library.database.rows(
        "UPDATE memories SET value = :value WHERE id = :id",
        id=lost.memory_id,
        # Sealed in a format that nobody knows.
        value="\x01damaged",
    )
    listed = {entry.memory_id: entry for entry in library.lists(agent_slug=slug)}
    assert (listed[lost.memory_id].unreadable, listed[lost.memory_id].value) == (True, {})
    assert listed[kept.memory_id] == kept
    found = library.gets(lost)
    assert found is not None
    assert found.unreadable
    assert asyncio.run(library.store.delete_memory(lost.memory_id))
