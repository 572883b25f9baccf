"""Interface of the store of runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.agents.run import Run, RunStatus
from recollect.db.transaction import Tx
from recollect.kernel.ids import AgentId, RunId
from recollect.kernel.owner import Owner


@dataclass(frozen=True, slots=True)
class RunLineage:
    """The ancestors of a run, the nearest first, and its descendants, by depth. Siblings are
    neither."""

    ancestors: Sequence[Run]
    descendants: Sequence[Run]


class RunStore(Protocol):
    """Runs and their lineage. A run is visible to the readers of its space: the owner of its agent,
    the agent itself, and agents of ancestor and descendant runs."""

    def insert(self, tx: Tx, run: Run) -> bool:
        """Insert a run and its ancestors. False if the id is taken; nothing is written then."""
        ...

    def fetch(self, tx: Tx, run_id: RunId, *, lock: bool = False) -> Run | None:
        """The run, without a visibility check. With `lock` its row is locked until the transaction
        ends."""
        ...

    def fetch_visible(self, tx: Tx, who: Owner, run_id: RunId) -> Run | None:
        """The run if `who` may see it."""
        ...

    def page(
        self,
        tx: Tx,
        who: Owner,
        *,
        agent_id: AgentId | None,
        status: RunStatus | None,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[Run]:
        """Runs that `who` may see, the latest start first."""
        ...

    def fetch_lineage(self, tx: Tx, who: Owner, run_id: RunId) -> RunLineage:
        """The part of the lineage that `who` may see."""
        ...

    def fetch_tree_ids(self, tx: Tx, root_run_id: RunId) -> list[RunId]:
        """Ids of all runs of a tree, the root included."""
        ...

    def complete(self, tx: Tx, run: Run) -> None:
        """Store status, error and `completed_at`."""
        ...
