"""Values of an import: its order, parsed lines and groups of them, outcomes and counts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.identity.requester import Requester
from recollect.kernel.errors import RecollectError
from recollect.memories.model import Memory
from recollect.memories.write.screen import ScreeningReport
from recollect.portability.fields import LineValues
from recollect.portability.lines import LineType

_GENERIC_CODE = "bad_request"


class ImportMode(StrEnum):
    """What happens to a memory whose id is taken. `fail` refuses the line, `merge` keeps the row
    with the later `updated_at`, `replace` overwrites the stored row."""

    FAIL = "fail"
    MERGE = "merge"
    REPLACE = "replace"


class ImportOutcome(StrEnum):
    """What happened to a line that was not refused."""

    CREATED = "created"
    UPDATED = "updated"
    SKIPPED = "skipped"


@dataclass(slots=True)
class DryRunRows:
    """Rows that a dry run would have stored so far.

    Later lines may refer to them: a memory to its agent, a participant to its chat. Without this a
    dry run would refuse lines that the real import stores. Empty in a real import, where the
    transaction itself shows the rows.
    """

    ids: dict[LineType, set[Any]] = dataclass_field(default_factory=dict)
    agents: dict[str, LineValues] = dataclass_field(default_factory=dict)
    chats: dict[str, LineValues] = dataclass_field(default_factory=dict)
    runs: dict[str, LineValues] = dataclass_field(default_factory=dict)
    participants: set[tuple[str, str, str]] = dataclass_field(default_factory=set)
    successors: dict[str, set[str]] = dataclass_field(default_factory=dict)

    def add_row(self, type_: LineType, values: LineValues, key: Any) -> None:
        """Remember a row by its key, and its values where later checks need them."""
        self.ids.setdefault(type_, set()).add(key)
        if type_ is LineType.AGENT:
            self.agents[values["id"]] = values
        if type_ is LineType.CHAT:
            self.chats[values["id"]] = values
        if type_ is LineType.RUN:
            self.runs[values["id"]] = values
        if type_ is LineType.PARTICIPANT and values["left_at"] is None:
            self.participants.add((values["chat_id"], values["kind"], values["member_id"]))

    def add_links(self, memory: Memory, gaps: Sequence[LineValues]) -> None:
        """Remember who supersedes whom, for `check_no_cycle`: the links of the memory itself and
        those of the removed memories that its line tells of."""
        for old in memory.supersedes:
            self.successors.setdefault(old, set()).add(memory.id)
        for gap in gaps:
            for old in gap["supersedes"] or ():
                self.successors.setdefault(old, set()).add(gap["memory_id"])
        if memory.superseded_by is not None:
            self.successors.setdefault(memory.id, set()).add(memory.superseded_by)

    def has_row(self, type_: LineType, key: Any) -> bool:
        """Whether the dry run would have stored a row with this key."""
        return key in self.ids.get(type_, ())


@dataclass(frozen=True, slots=True)
class ImportOrder:
    """Who imports, in which mode, and when. `id` is the `import_id` of every memory it stores."""

    id: str
    requester: Requester
    mode: ImportMode
    dry_run: bool
    at: datetime
    foreseen: DryRunRows = dataclass_field(default_factory=DryRunRows)


@dataclass(frozen=True, slots=True)
class ImportLine:
    """A parsed line and its number, counted from 1. Memories, and versions with a snapshot, have
    the `findings` of screening; other lines have none."""

    number: int
    type: LineType
    values: LineValues
    findings: ScreeningReport | None = None


@dataclass(frozen=True, slots=True)
class LineGroup:
    """A line, and if it is a memory its versions, relations and approvals in `behind`."""

    head: ImportLine
    behind: tuple[ImportLine, ...] = ()


@dataclass(frozen=True, slots=True)
class RefusedLine:
    """A line that is not stored, and why. Errors hold no content, so neither does this."""

    line: int
    code: str
    field: str | None
    error: RecollectError = dataclass_field(compare=False, repr=False)

    @property
    def message(self) -> str:
        """What was wrong, and what would be right."""
        return self.error.message

    @classmethod
    def from_error(cls, line: int, error: RecollectError) -> "RefusedLine":
        """With the code that a single write of the same row would be refused with."""
        details = error.details or {}
        code = details.get("reason") or error.code
        violations = details.get("violations") or [details]
        return cls(
            line,
            "validation_error" if code == _GENERIC_CODE else str(code),
            violations[0].get("field"),
            error,
        )


@dataclass(slots=True)
class ImportTally:
    """Counts of an import, or of one batch of it."""

    read: int = 0
    outcomes: Counter[ImportOutcome] = dataclass_field(default_factory=Counter)
    refused: list[RefusedLine] = dataclass_field(default_factory=list)

    def add(self, other: "ImportTally") -> None:
        """Add the counts of a batch. `read` is counted by the reader alone."""
        self.outcomes += other.outcomes
        self.refused += other.refused
