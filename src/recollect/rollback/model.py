"""The changes of a rollback, row by row, for its undo: ids, versions and states, no text."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.kernel.clock import from_text, to_text
from recollect.kernel.ids import MemoryId
from recollect.kernel.owner import Owner
from recollect.memories.model import ArchiveReason, MemoryStatus


@dataclass(frozen=True, slots=True)
class ArchivedRow:
    """An archived row: the version that archiving made, and the status and reason before."""

    id: MemoryId
    version: int
    status: MemoryStatus
    reason: ArchiveReason | None


@dataclass(frozen=True, slots=True)
class RestoredRow:
    """A restored row: the version that restoring made, and how it had been superseded."""

    id: MemoryId
    version: int
    superseded_by: MemoryId | None
    valid_until: datetime | None
    retracted_at: datetime | None


@dataclass(frozen=True, slots=True)
class RollbackChanges:
    """All changes of a rollback, or a batch of them."""

    archived: tuple[ArchivedRow, ...] = ()
    restored: tuple[RestoredRow, ...] = ()

    def __add__(self, other: "RollbackChanges") -> "RollbackChanges":
        return RollbackChanges(self.archived + other.archived, self.restored + other.restored)

    @property
    def ids(self) -> tuple[MemoryId, ...]:
        """Ids of the archived rows, then of the restored ones."""
        away, back = (one.id for one in self.archived), (one.id for one in self.restored)
        return (*away, *back)

    @property
    def record(self) -> dict[str, Any]:
        """The JSON value that is stored."""
        return {
            "archived": [[one.id, one.version, one.status, one.reason] for one in self.archived],
            "restored": [
                [
                    one.id,
                    one.version,
                    one.superseded_by,
                    _format_time(one.valid_until),
                    _format_time(one.retracted_at),
                ]
                for one in self.restored
            ],
        }

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "RollbackChanges":
        """The inverse of `record`."""
        return cls(
            tuple(
                ArchivedRow(
                    id_, version, MemoryStatus(status), ArchiveReason(reason) if reason else None
                )
                for id_, version, status, reason in record["archived"]
            ),
            tuple(
                RestoredRow(id_, version, by, _parse_time(until), _parse_time(retracted))
                for id_, version, by, until, retracted in record["restored"]
            ),
        )

    def batches(self, size: int) -> Iterator["RollbackChanges"]:
        """The changes in batches; at least one, possibly empty."""
        longest = max(len(self.archived), len(self.restored), 1)
        for at in range(0, longest, size):
            yield RollbackChanges(self.archived[at : at + size], self.restored[at : at + size])


def _format_time(at: datetime | None) -> str | None:
    return None if at is None else to_text(at)


def _parse_time(text: str | None) -> datetime | None:
    return None if text is None else from_text(text)


class SourceKind(StrEnum):
    """What a rollback selects memories by; the values are the field names of the API."""

    ENTRY = "entry_id"
    CONVERSATION = "conversation_id"
    CHAT = "chat_id"
    AGENT = "agent_id"
    STATER = "stated_by"
    RUN = "run_id"
    IMPORT = "import_id"
    MEMORY = "memory_id"


@dataclass(frozen=True, slots=True)
class RollbackSource:
    """The source to roll back, limited to memories created from `since` on and before `until`."""

    kind: SourceKind
    id: str
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Rollback:
    """An executed rollback. `changes` is the record of `RollbackChanges`."""

    id: str
    at: datetime
    by: Owner
    source: dict[str, Any]
    changes: dict[str, Any]
    undone_at: datetime | None = None
