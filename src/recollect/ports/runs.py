"""What services ask of storage about runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.domain.agents import AgentId, Owner
from recollect.domain.runs import Run, RunStatus
from recollect.domain.spaces import RunId
from recollect.ports.database import Tx


@dataclass(frozen=True, slots=True)
class Lineage:
    """The runs above one, the nearest first, and those below it, by depth. Siblings are neither."""

    ancestors: Sequence[Run]
    descendants: Sequence[Run]


class RunStore(Protocol):
    """Runs and their lineage. `who` sees what the run's space shows: the owner of its agent, the
    agent itself, and agents of ancestor and descendant runs."""

    def insert(self, tx: Tx, run: Run) -> bool:
        """With its place in the lineage. False if the id is taken, and nothing is written."""
        ...

    def fetch(self, tx: Tx, run_id: RunId, *, lock: bool = False) -> Run | None:
        """The run, whoever asks. With `lock` it is held until the transaction ends."""
        ...

    def see(self, tx: Tx, who: Owner, run_id: RunId) -> Run | None:
        """The run, if `who` may see it."""
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

    def lineage(self, tx: Tx, who: Owner, run_id: RunId) -> Lineage:
        """Those of the lineage that `who` may see."""
        ...

    def tree(self, tx: Tx, root_run_id: RunId) -> list[RunId]:
        """Ids of all runs under a root, its own among them."""
        ...

    def complete(self, tx: Tx, run: Run) -> None:
        """Store status, error and time of the end."""
        ...
