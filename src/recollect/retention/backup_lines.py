"""The format of a backup: one line of JSON for each memory that is about to be deleted."""

from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from recollect.kernel.clock import to_text
from recollect.kernel.runtime import Cipher
from recollect.kernel.space import Space
from recollect.kernel.strict_json import dump
from recollect.memories.model import (
    Memory,
    MemoryMessage,
    StoredMemory,
    is_expired,
)
from recollect.memories.store.rows import require_readable

BACKUP_SCHEMA = 1


def backup_line(stored: StoredMemory, cipher: Cipher, now: datetime) -> str:
    """The memory with all its fields, encrypted if the database is.

    Of an expired memory with personal data only id and expiry are written: backups are kept for
    longer than the cap allows to keep the data. Raises Unreadable for a text that can't be
    decrypted: it must not be deleted without a line that has it.
    """
    memory = stored.memory
    if memory.pii_tags and is_expired(now, memory.expires_at):
        return _dump_line(
            "removed", {"id": memory.id, "expires_at": _to_json_value(memory.expires_at)}
        )
    require_readable(stored)
    members = {field.name: _to_json_value(getattr(memory, field.name)) for field in fields(Memory)}
    line = _dump_line("memory", {"memory": members, "written_by": stored.written_by.spelling})
    if not cipher.is_enabled:
        return line
    sealed = cipher.seal(line, table="backups", column="line", row_id=memory.id)
    return _dump_line("sealed", {"id": memory.id, "line": sealed})


def _dump_line(type_: str, members: dict[str, Any]) -> str:
    return dump({"schema": BACKUP_SCHEMA, "type": type_} | members)


def _to_json_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return to_text(value)
    if isinstance(value, tuple):
        return [_to_json_value(item) for item in value]
    if isinstance(value, MemoryMessage | Space):
        return {name: _to_json_value(member) for name, member in asdict(value).items()}
    return value
