"""What an import is asked to do, what it comes across, and what came of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.domain.memories import Memory
from recollect.domain.portable import LineType
from recollect.domain.portable_members import Values
from recollect.errors import RecollectError
from recollect.policy.requesters import Requester
from recollect.services.screening import Findings

_PLAIN_CODE = "bad_request"


class ImportMode(StrEnum):
    """What happens to a memory whose id is taken: its line is refused, or the later of the two
    stays, or the line takes its place."""

    FAIL = "fail"
    MERGE = "merge"
    REPLACE = "replace"


class Outcome(StrEnum):
    """What became of a line that was not refused."""

    CREATED = "created"
    UPDATED = "updated"
    SKIPPED = "skipped"


@dataclass(slots=True)
class Foreseen:
    """What a dry run would have stored so far: later lines rely on it."""

    ids: dict[LineType, set[Any]] = field(default_factory=dict)
    agents: dict[str, Values] = field(default_factory=dict)
    chats: dict[str, Values] = field(default_factory=dict)
    runs: dict[str, Values] = field(default_factory=dict)
    seats: set[tuple[str, str, str]] = field(default_factory=set)
    successors: dict[str, set[str]] = field(default_factory=dict)

    def add(self, type_: LineType, values: Values, key: Any) -> None:
        """One more row."""
        self.ids.setdefault(type_, set()).add(key)
        if type_ is LineType.AGENT:
            self.agents[values["id"]] = values
        if type_ is LineType.CHAT:
            self.chats[values["id"]] = values
        if type_ is LineType.RUN:
            self.runs[values["id"]] = values
        if type_ is LineType.PARTICIPANT and values["left_at"] is None:
            self.seats.add((values["chat_id"], values["kind"], values["member_id"]))

    def add_links(self, memory: Memory, gaps: Sequence[Values]) -> None:
        """What a memory replaces, and what replaces it; the same of removed ones below it."""
        for old in memory.supersedes:
            self.successors.setdefault(old, set()).add(memory.id)
        for gap in gaps:
            for old in gap["supersedes"] or ():
                self.successors.setdefault(old, set()).add(gap["memory_id"])
        if memory.superseded_by is not None:
            self.successors.setdefault(memory.id, set()).add(memory.superseded_by)

    def has(self, type_: LineType, key: Any) -> bool:
        """Would the row be there?"""
        return key in self.ids.get(type_, ())


@dataclass(frozen=True, slots=True)
class ImportOrder:
    """Who imports, how, and when. `id` marks every row of it."""

    id: str
    requester: Requester
    mode: ImportMode
    dry_run: bool
    at: datetime
    foreseen: Foreseen = field(default_factory=Foreseen)


@dataclass(frozen=True, slots=True)
class Line:
    """A line that could be read, by its number from 1 on; `findings` are what screening saw in a
    memory, or in an earlier version of one."""

    number: int
    type: LineType
    values: Values
    findings: Findings | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """A line with those that stand behind it."""

    head: Line
    behind: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """A line that is not stored, and why. No text of it: errors hold none."""

    line: int
    code: str
    error: RecollectError = field(compare=False, repr=False)

    @classmethod
    def of(cls, line: int, error: RecollectError) -> "Refused":
        """By the code that a single write would be refused with."""
        details = error.details or {}
        code = details.get("reason") or error.code
        return cls(line, "validation_error" if code == _PLAIN_CODE else str(code), error)


@dataclass(slots=True)
class Tally:
    """What became of all lines."""

    read: int = 0
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    refused: list[Refused] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """What one batch adds."""
        self.outcomes += other.outcomes
        self.refused += other.refused
