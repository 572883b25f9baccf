"""Runs: one execution of an agent, which may start further runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.kernel.errors import Conflict
from recollect.kernel.ids import AgentId, RunId

ERROR_CHARS_MAX = 10_000


class RunStatus(StrEnum):
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


END_STATUSES = tuple(status for status in RunStatus if status is not RunStatus.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of one agent. Without a parent, `root_run_id` is the run's own id."""

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
    def is_completed(self) -> bool:
        """Has it ended? Nothing may be written to it any more."""
        return self.status is not RunStatus.RUNNING


def new_root_run(
    run_id: RunId, agent_id: AgentId, *, at: datetime, metadata: dict[str, Any] | None = None
) -> Run:
    """A run that starts now and has no parent."""
    return Run(
        id=run_id,
        agent_id=agent_id,
        parent_run_id=None,
        root_run_id=run_id,
        status=RunStatus.RUNNING,
        started_at=at,
        metadata=metadata or {},
    )


def check_not_completed(run: Run) -> None:
    """Conflict if the run has ended."""
    if run.is_completed:
        raise Conflict("the run is completed", details={"reason": "run_completed"})


@dataclass(frozen=True, slots=True)
class RunLineage:
    """The ancestors of a run, the nearest first, and its descendants, by depth. Siblings are
    neither."""

    ancestors: Sequence[Run]
    descendants: Sequence[Run]
