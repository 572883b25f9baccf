"""What the doctor says of keys: values that do not open, and what lies plain beside keys."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from recollect.app.application import build
from recollect.doctor.health import DoctorReport
from recollect.settings.load import load
from tests.conftest import Host
from tests.support.encryption import KEY_A, KEY_B
from tests.support.engines import TestDatabase
from tests.support.hosting import DEFAULT_FLAGS
from tests.support.memory.callers import Callers

pytestmark = pytest.mark.amendment(15)

NewDatabase = Callable[[], TestDatabase]


def examined(database: TestDatabase, **flags: Any) -> DoctorReport:
    """The report of a doctor with these settings."""
    named = {name.replace("__", "."): value for name, value in flags.items()}
    chosen = DEFAULT_FLAGS | {"database.url": database.url} | named
    app = build(load(flags=chosen, environ={}).settings)

    async def run() -> DoctorReport:
        try:
            return await app.doctor()
        finally:
            await app.close()

    return asyncio.run(run())


def furnish(host: Host, database: TestDatabase, **flags: Any) -> None:
    with host(database, **flags) as world:
        ann = Callers(world).person("ann")
        ann.user.says(ann.user.starts("a title")["id"], "purple text")
        ann.adds("The purple shop is shut.", space={"kind": "user"}, tags=["shop"])
        space = {"kind": "user"}
        record = {"key": "shop", "value": {"open": False}, "space": space}
        ann.post("/memories", body=record).expect(201)
        person = {"name": "Quinn Doe", "aliases": [{"value": "Q"}]}
        ann.post("/people", body=person).expect(201)
        ann.put("/chats/{}", "c-1", body={"kind": "group", "title": "Trip"}).expect(201)


def test_a_sample_of_each_key_is_opened_and_what_does_not_open_is_reported(
    host: Host, new_database: NewDatabase
) -> None:
    database = new_database()
    furnish(host, database, encryption__keys=[KEY_A])
    sound = examined(database, encryption__keys=[KEY_A])
    assert (sound.problems, sound.samples.unreadable.total()) == (0, 0)
    assert sound.samples.opened["a"] > 5
    [(entry,)] = database.rows("SELECT id FROM entries")
    database.rows("UPDATE entries SET content = (SELECT title FROM conversations)")
    report = examined(database, encryption__keys=[KEY_A])
    assert report.problems == 1
    assert report.samples.unreadable == {"a": 1}
    assert report.samples.places == [f"entries.content {entry}"]
    assert "purple" not in str(report.to_dict())
    # Another key under the same id opens nothing. The start is refused, the doctor tells.
    wrong = examined(database, encryption__keys=[{"id": "a", "key": KEY_B["key"]}])
    assert wrong.samples.opened.total() == 0
    assert wrong.problems >= sound.samples.opened["a"]


def test_a_value_whose_key_cannot_be_told_is_counted(host: Host, new_database: NewDatabase) -> None:
    database = new_database()
    furnish(host, database, encryption__keys=[KEY_A])
    database.rows("UPDATE entries SET content = substr(content, 1, 9)")
    report = examined(database, encryption__keys=[KEY_A])
    assert report.rows_by_key["entries.content"] == {"damaged!": 1}
    assert report.problems == 1


def test_with_keys_it_counts_what_lies_plain(host: Host, new_database: NewDatabase) -> None:
    database = new_database()
    furnish(host, database)
    assert examined(database).plain == {}
    plain = examined(database, encryption__keys=[KEY_A]).plain
    assert plain == {
        # One of the entry, two of memories.
        "index_words": 3,
        "indexed_texts": 1,
        "tags": 1,
        "record_keys": 1,
        "names": plain["names"],
        "aliases": 1,
        "chat_titles": 1,
        "vectors": 0,
    }
    assert plain["names"] >= 1


def test_a_sealed_index_has_no_plain_words(host: Host, new_database: NewDatabase) -> None:
    database = new_database()
    flags: dict[str, Any] = {"encryption__keys": [KEY_A], "encryption__index": "sealed"}
    furnish(host, database, **flags)
    plain = examined(database, **flags).plain
    assert (plain["index_words"], plain["indexed_texts"]) == (0, 0)
