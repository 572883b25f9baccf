"""A run: one piece of an agent's work, with the runs that it started."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.domain.agents import AgentId
from recollect.domain.spaces import RunId

ERROR_CHARS_MAX = 10_000


class RunStatus(StrEnum):
    """A run is `running` until it ends in one of three ways."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of one agent. `root_run_id` is its own id where it has no parent."""

    id: RunId
    agent_id: AgentId
    parent_run_id: RunId | None
    root_run_id: RunId
    status: RunStatus
    started_at: datetime
    completed_at: datetime | None = None
    error: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def completed(self) -> bool:
        """Nothing is written to it any more."""
        return self.status is not RunStatus.RUNNING
