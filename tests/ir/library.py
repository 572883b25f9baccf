"""An embedded store as tests use it: each call from an event loop of its own."""

import asyncio
import itertools
import json
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from recollect.ir import (
    AbstractMemoryStore,
    MemoryEntry,
    MemoryScope,
    PostgresMemoryStore,
    SQLiteMemoryStore,
    create_memory,
)
from tests.support.engines import TestDatabase

T = TypeVar("T")

DAY = timedelta(days=1)
_NUMBERS = itertools.count(1)


def a_store(database: TestDatabase, **options: Any) -> AbstractMemoryStore:
    """A store on the database, not open yet."""
    if database.engine == "sqlite":
        return SQLiteMemoryStore(str(database.path), **options)
    return PostgresMemoryStore(database.url)


def new_name(stem: str = "agent") -> str:
    """A name that no other test uses."""
    return f"{stem}-{next(_NUMBERS)}"


def done(work: Coroutine[Any, Any, T]) -> T:
    """The result, on a loop that ends with it."""
    return asyncio.run(work)


def an_entry(slug: str | None = None, **members: Any) -> MemoryEntry:
    """An entry of the agent's own; `age` is how long ago it was made."""
    age = members.pop("age", timedelta())
    scope = members.pop("scope", MemoryScope.LONG_TERM)
    key, value = members.pop("key", "colour"), members.pop("value", {"name": "ochre"})
    entry = create_memory(scope, slug or new_name(), key, value, **members)
    if age:
        ends = entry.expires_at and entry.expires_at - age
        made = datetime.now(UTC) - age
        return MemoryEntry(
            **entry.model_dump() | {"created_at": made, "updated_at": made, "expires_at": ends}
        )
    return entry


@dataclass(frozen=True, slots=True)
class Library:
    """A store and the database behind it."""

    store: AbstractMemoryStore
    database: TestDatabase

    def adds(self, slug: str | None = None, **members: Any) -> MemoryEntry:
        """Store an entry."""
        return done(self.store.create_memory(an_entry(slug, **members)))

    def gets(self, entry: MemoryEntry) -> MemoryEntry | None:
        """Read it again."""
        return done(self.store.get_memory(entry.memory_id))

    def lists(self, **wanted: Any) -> list[MemoryEntry]:
        """A list."""
        return done(self.store.list_memories(**wanted))

    def finds(self, query: str, **wanted: Any) -> list[str]:
        """The keys that a search finds."""
        found = done(self.store.search_memories(query, **wanted))
        return [entry.key for entry in found]

    def events(self, kind: str, action: str) -> list[dict[str, Any]]:
        """What the audit log tells: actor, outcome, ids, count and payload, oldest first."""
        rows = self.database.rows(
            "SELECT actor_user_id, outcome, memory_id, count, params FROM audit_events"
            " WHERE kind = :kind AND action = :action ORDER BY id",
            kind=kind,
            action=action,
        )
        names = ("actor", "outcome", "memory_id", "count", "params")
        return [dict(zip(names, row, strict=True)) | {"params": _read(row[4])} for row in rows]


def ids(entries: list[MemoryEntry]) -> list[str]:
    """Their ids, in order."""
    return [entry.memory_id for entry in entries]


def _read(params: Any) -> Any:
    return json.loads(params) if isinstance(params, str) else params
