"""The format of a backup: one line of JSON for each memory that is about to be deleted."""

from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from recollect.domain.clock import to_text
from recollect.domain.expiry import is_due
from recollect.domain.jsontext import dump
from recollect.domain.memories import Memory, Message
from recollect.domain.spaces import Space
from recollect.ports.memories import Stored
from recollect.ports.runtime import Cipher

SCHEMA = 1


def backup_line(stored: Stored, cipher: Cipher, now: datetime) -> str:
    """The memory with all its fields, encrypted if the database is.

    Of an expired memory with personal data only id and expiry are written: backups are kept for
    longer than the cap allows to keep the data.
    """
    memory = stored.memory
    if memory.pii_tags and is_due(now, memory.expires_at):
        return _line("removed", {"id": memory.id, "expires_at": _plain(memory.expires_at)})
    members = {field.name: _plain(getattr(memory, field.name)) for field in fields(Memory)}
    line = _line("memory", {"memory": members, "written_by": stored.written_by.spelling})
    if not cipher.enabled:
        return line
    sealed = cipher.seal(line, table="backups", column="line", row_id=memory.id)
    return _line("sealed", {"id": memory.id, "line": sealed})


def _line(type_: str, members: dict[str, Any]) -> str:
    return dump({"schema": SCHEMA, "type": type_} | members)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return to_text(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Message | Space):
        return {name: _plain(member) for name, member in asdict(value).items()}
    return value
