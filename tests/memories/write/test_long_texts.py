"""Texts are read while no transaction is open: whoever else writes would wait for the end of it."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import pytest

from recollect.db.engines.postgres import PostgresEngine
from recollect.db.engines.sqlite import SqliteEngine
from recollect.memories.reconcile import service as reconciling
from recollect.memories.write import screen
from recollect.search.memories import indexing
from recollect.text import normal_form
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.statements import LONG, MINE, memories_by_content, state_in_turn
from tests.support.memory.store import open_stored_memories
from tests.support.world import World

# Longer than what is looked at on the spot, and than what is compared word by word.
TALE = f"{LONG}. " * 40


class Readings:
    """How often each way to read a text was gone, and which of them inside a transaction."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        self._open: ContextVar[bool] = ContextVar("open", default=False)
        self.all: list[str] = []
        self.inside: list[str] = []

    def watch_writes(self, engine: Any) -> None:
        """Know when a function of a transaction runs."""
        write = engine.write

        async def watched(running: Any, work: Callable[[Any], Any]) -> Any:
            return await write(running, lambda tx: self._within(work, tx))

        self._patch.setattr(engine, "write", watched)

    def watch(self, module: Any, name: str) -> None:
        """Count the calls of a function that reads texts."""
        function = getattr(module, name)

        def counted(*args: Any, **named: Any) -> Any:
            self.all.append(name)
            if self._open.get():
                self.inside.append(name)
            return function(*args, **named)

        self._patch.setattr(module, name, counted)

    def _within(self, work: Callable[[Any], Any], tx: Any) -> Any:
        token = self._open.set(True)
        try:
            return work(tx)
        finally:
            self._open.reset(token)


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> Readings:
    """All that takes long with a long text."""
    found = Readings(monkeypatch)
    found.watch_writes(SqliteEngine)
    found.watch_writes(PostgresEngine)
    found.watch(reconciling, "reconcile")
    found.watch(reconciling, "reconcile_hearsay")
    found.watch(indexing, "index_words")
    found.watch(screen, "index_words")
    found.watch(screen, "score_injection")
    found.watch(normal_form, "fold")
    return found


@pytest.fixture
def ann(vector_world: World) -> Caller:
    """Somebody who tells things on a server that compares them."""
    return Callers(vector_world).person("ann")


def test_statements_are_compared_while_no_transaction_is_open(
    ann: Caller, readings: Readings
) -> None:
    state_in_turn(
        ann, "I live in Porto", "I live in Lisbon", f"{LONG} is a copy", f"{LONG} is just a copy"
    )
    assert set(memories_by_content(ann)) == {"I live in Lisbon", f"{LONG} is a copy"}
    assert {"reconcile", "reconcile_hearsay"} <= set(readings.all)
    assert readings.inside == []


def test_a_long_text_is_read_before_it_is_written(ann: Caller, readings: Readings) -> None:
    memory = ann.adds(TALE, **MINE)
    again = ann.post("/memories", body={"content": TALE} | MINE).expect(201)
    assert again["status"] == "duplicate"
    ann.patch("/memories/{}", memory["id"], body={"content": f"{TALE} The end."}).expect(200)
    assert {"index_words", "score_injection", "fold"} <= set(readings.all)
    assert readings.inside == []


def test_who_changes_marks_of_a_long_text_has_nobody_wait_for_the_text(
    ann: Caller, readings: Readings
) -> None:
    memory = ann.adds(TALE, **MINE)
    items = [{"op": "update", "id": memory["id"], "tags": [tag]} for tag in ("one", "two", "three")]
    ann.post("/memories/batch", body={"items": items}).expect(200)
    (row,) = memories_by_content(ann, tags="three").values()
    assert row["version"] == 4
    assert readings.inside == []
    (hit,) = ann.finds("painting", user_id=ann.name)
    assert hit["id"] == memory["id"]


@pytest.mark.parametrize("by_server", [False, True])
def test_repeats_are_found_by_the_text_of_now(ann: Caller, by_server: bool) -> None:
    memory = ann.adds("Tea is served at four", **MINE)
    now = "Tea is served at five"
    if by_server:
        with open_stored_memories(ann.world) as stored_memories:
            before = stored_memories.stored(memory["id"])
            stored_memories.replaces(before, replace(before.memory, content=now))
    else:
        ann.patch("/memories/{}", memory["id"], body={"content": now}).expect(200)
    ann.patch("/memories/{}", memory["id"], body={"type": "preference"}).expect(200)
    same = ann.post("/memories", body={"content": "tea is served at FIVE"} | MINE).expect(201)
    assert (same["id"], same["status"]) == (memory["id"], "duplicate")
    other = ann.post("/memories", body={"content": "Tea is served at four"} | MINE).expect(201)
    assert other["status"] == "created"


def test_of_long_texts_that_are_nearly_the_same_both_stay(ann: Caller) -> None:
    state_in_turn(
        ann, f"{TALE} It is a copy", f"{TALE} It is not a copy", f"{TALE} It is just a copy"
    )
    rows = memories_by_content(ann)
    assert len(rows) == 3
    assert all(not row["conflicts_with"] for row in rows.values())
