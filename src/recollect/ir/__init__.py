"""The embedded store for agents' memory: entries, stores, views bound to one agent, and support for
runners. No server is involved."""

from recollect.agents.run import Run, RunStatus
from recollect.ir.abstract import AbstractMemoryStore
from recollect.ir.capturing import Capture
from recollect.ir.entries import MemoryEntry, apply_default_ttl, create_memory
from recollect.ir.refusals import SecretRefused
from recollect.ir.runner import RunnerMemory
from recollect.ir.stores import PostgresMemoryStore, SQLiteMemoryStore
from recollect.kernel.retention_rules import MemoryScope

__all__ = [
    "AbstractMemoryStore",
    "Capture",
    "MemoryEntry",
    "MemoryScope",
    "PostgresMemoryStore",
    "Run",
    "RunStatus",
    "RunnerMemory",
    "SQLiteMemoryStore",
    "SecretRefused",
    "apply_default_ttl",
    "create_memory",
]
