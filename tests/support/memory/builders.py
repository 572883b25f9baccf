"""Memories with defaults, put straight through the store."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select, table, text

from recollect.db.statements import Query
from recollect.kernel.ids import AgentId, ChatId, ConversationId, MemoryId, OrgId, RunId
from recollect.kernel.owner import Owner
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import (
    ArchiveReason,
    Memory,
    MemoryKind,
    MemoryMessage,
    MemoryOrigin,
    MemorySource,
    MemoryStatus,
    MemoryType,
    MessageRole,
    Sensitivity,
    StoredMemory,
    TrustLevel,
    VersionChange,
)
from tests.support.builders import NOON
from tests.support.storage import Storage

ANN = Owner.user("ann")


def at(hours: int) -> datetime:
    """So long after the noon at which memories are made."""
    return NOON + timedelta(hours=hours)


# Every member of a memory, none as it is by default.
FULL: dict[str, Any] = {
    "kind": MemoryKind.RECORD,
    "content": "theme colour dark",
    "space": Space(SpaceKind.AGENT_PRIVATE, "a-1"),
    "created_at": at(1),
    "updated_at": at(2),
    "observed_at": at(3),
    "key": "theme",
    "value": {"colour": "dark", "n": [1, 2.5, None, True], "ü": {}},
    "messages": (
        MemoryMessage(MessageRole.USER, "hello\nyou", "Ann", "u-1", at(4)),
        MemoryMessage(MessageRole.ASSISTANT, "hi"),
    ),
    "agent_id": AgentId("a-1"),
    "org_id": OrgId("acme"),
    "type": MemoryType.PREFERENCE,
    "sensitivity": Sensitivity.SENSITIVE,
    "portable": False,
    "subjects": ("p-2", "p-1"),
    "stated_by": "p-1",
    "learned_in": ChatId("c-1"),
    "learned_in_conversation": ConversationId("01a1f434-4d9d-7000-af0c-a1e2fac4833b"),
    "origin": MemoryOrigin.CHAT,
    "confidence": 0.25,
    "verified": False,
    "trust": TrustLevel.HEARSAY,
    "tags": ("z", "%", "A"),
    "metadata": {"b": 1, "a": "ß"},
    "pii_tags": ("email", "ssn"),
    "retention_policy": "compliance",
    "expires_at": at(5),
    "expiry_rule": "pii:critical",
    "requested_expires_at": at(6),
    "explicit_expires_at": at(7),
    "approved_expires_at": at(8),
    "valid_from": at(9),
    "valid_until": at(10),
    "retracted_at": at(11),
    "supersedes": (MemoryId("old-1"), MemoryId("old-2")),
    "superseded_by": MemoryId("next"),
    "conflicts_with": (MemoryId("other"),),
    "repeats": 3,
    "version": 1,
    "source": MemorySource.EXTRACTION,
    "source_entries": ("e-2", "e-1"),
    "source_memories": (MemoryId("m-2"), MemoryId("m-1")),
    "source_agent": AgentId("a-2"),
    "run_id": RunId("r-2"),
    "parent_run_id": RunId("r-1"),
    "status": MemoryStatus.ARCHIVED,
    "archive_reason": ArchiveReason.ROLLED_BACK,
}
# The same of what stands beside it.
BESIDE: dict[str, Any] = {
    "bare_names": ("Sam", "Kim"),
    "status_at": at(12),
    "import_id": "i-1",
    "privacy_said": True,
    "suspicion": 0.5,
    "suspicion_reasons": ("role_marker",),
    "used_at": at(13),
    "compacted_at": at(14),
    "erasure_id": "x-1",
}


def a_memory(storage: Storage, **fields: Any) -> Memory:
    """A statement in the space of a user of its own; with `key` a record. Not stored yet."""
    id_ = fields.pop("id", None) or storage.new_id()
    chosen: dict[str, Any] = {
        "kind": MemoryKind.RECORD if "key" in fields else MemoryKind.STATEMENT,
        "content": f"content of {id_}",
        "space": Space(SpaceKind.USER, f"user of {id_}"),
        "created_at": NOON,
        "updated_at": NOON,
        "observed_at": NOON,
    }
    return Memory(id=MemoryId(id_), **(chosen | fields))


def keep(storage: Storage, memory: Memory, **beside: Any) -> StoredMemory:
    """Store a memory."""
    stored = storage.do(storage.stores.memories.insert, StoredMemory(memory, ANN, **beside))
    assert stored is not None
    return stored


def change(
    storage: Storage, before: StoredMemory, *, hours: int = 1, **fields: Any
) -> StoredMemory:
    """Store the next version, `hours` after the one before."""
    at = before.memory.updated_at + timedelta(hours=hours)
    version = before.memory.version + 1
    after = replace(before.memory, updated_at=at, version=version, **fields)
    superseded = after.status is MemoryStatus.SUPERSEDED
    what = VersionChange.SUPERSEDED if superseded else VersionChange.UPDATED
    return storage.do(
        storage.stores.memories.update, before, after, change=what, by=Owner.agent("a"), at=at
    )


def fetched(storage: Storage, stored: StoredMemory) -> StoredMemory:
    """The same memory as it is stored now."""
    found = storage.ask(storage.stores.memories.fetch, stored.memory.id)
    assert found is not None
    return found


def dump(storage: Storage, name: str) -> list[tuple[Any, ...]]:
    """All rows of a table, as they are stored."""
    query = Query(select(text("*")).select_from(table(name)))
    return list(storage.read(lambda tx: tx.fetch(query, {})))
