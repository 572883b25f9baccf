"""Memories put straight into the store of a running server: what no caller could write today."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from recollect.kernel import strict_json
from recollect.kernel.ids import AgentId, MemoryId, RunId
from recollect.kernel.owner import Owner
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import Memory, StoredMemory, VersionChange
from tests.support.memory.builders import a_memory
from tests.support.storage import Storage, a_storage
from tests.support.world import World


class StoredMemories:
    """The store behind a server. Its clock is the server's."""

    def __init__(self, storage: Storage, world: World) -> None:
        self.storage = storage
        self.world = world

    @property
    def now(self) -> datetime:
        """The server's time."""
        return self.world.clock.now()

    def puts(self, space: Space, *, at: datetime | None = None, **fields: Any) -> str:
        """A memory, made at that time; its id. A member `used_at` or `status_at` stands beside."""
        (id_,) = self.insert_all([(space, at or self.now)], **fields)
        return id_

    def insert_all(self, places: Sequence[tuple[Space, datetime]], **fields: Any) -> list[str]:
        """One such memory for each space and time, in one transaction."""
        beside = {name: fields.pop(name) for name in ("used_at", "status_at") if name in fields}
        made = [
            StoredMemory(self._memory(space, at, fields), Owner.user("ann"), **beside)
            for space, at in places
        ]
        insert = self.storage.stores.memories.insert
        self.storage.write(lambda tx: [insert(tx, stored) for stored in made])
        return [stored.memory.id for stored in made]

    def _memory(self, space: Space, at: datetime, fields: dict[str, Any]) -> Memory:
        times = dict.fromkeys(("created_at", "updated_at", "observed_at"), at)
        return a_memory(self.storage, **({"space": space} | times | fields))

    def insert_in_run(self, run: dict[str, Any], **fields: Any) -> str:
        """A memory of a run's space."""
        members = {"agent_id": AgentId(run["agent_id"]), "run_id": RunId(run["id"])}
        return self.puts(Space(SpaceKind.RUN, run["id"]), **(members | fields))

    def has(self, memory_ids: Sequence[str]) -> list[bool]:
        """Which of these are still there."""
        fetch = self.storage.stores.memories.fetch
        return [self.storage.ask(fetch, MemoryId(id_)) is not None for id_ in memory_ids]

    def stored(self, memory_id: str) -> StoredMemory:
        """A memory that is there, whatever its state."""
        found = self.storage.ask(self.storage.stores.memories.fetch, MemoryId(memory_id))
        assert found is not None
        return found

    def replaces(self, before: StoredMemory, after: Memory) -> None:
        """The next version of a memory, as a change would write it."""
        after = replace(after, version=before.memory.version + 1)
        update = self.storage.stores.memories.update
        by = before.written_by
        self.storage.do(update, before, after, change=VersionChange.UPDATED, by=by, at=self.now)

    def events(self, kind: str, action: str) -> list[dict[str, Any]]:
        """What the audit log tells of something, the newest last."""
        rows = self.world.database.rows(
            "SELECT params FROM audit_events WHERE kind = :kind AND action = :action ORDER BY id",
            kind=kind,
            action=action,
        )
        return [_loaded(row[0]) for row in rows]


def _loaded(params: Any) -> dict[str, Any]:
    loaded: dict[str, Any] = strict_json.load(params) if isinstance(params, str) else params
    return loaded


@contextmanager
def open_stored_memories(world: World) -> Iterator[StoredMemories]:
    """The store of a running server."""
    with a_storage(world.database, clock=world.clock) as storage:
        yield StoredMemories(storage, world)
