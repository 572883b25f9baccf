"""A run: one piece of an agent's work, with the runs that it started."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.domain.agents import AgentId
from recollect.domain.spaces import RunId
from recollect.errors import Conflict

ERROR_CHARS_MAX = 10_000


class RunStatus(StrEnum):
    """A run is `running` until it ends in one of three ways."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDS = tuple(status for status in RunStatus if status is not RunStatus.RUNNING)


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


def root_run(
    run_id: RunId, agent_id: AgentId, *, at: datetime, metadata: dict[str, Any] | None = None
) -> Run:
    """A run that begins, and that no other started."""
    return Run(
        id=run_id,
        agent_id=agent_id,
        parent_run_id=None,
        root_run_id=run_id,
        status=RunStatus.RUNNING,
        started_at=at,
        metadata=metadata or {},
    )


def check_open(run: Run) -> None:
    """A Conflict once it has ended."""
    if run.completed:
        raise Conflict("the run is completed", details={"reason": "run_completed"})
