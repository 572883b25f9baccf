"""The store of jobs, as the worker and those who start jobs use it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from recollect.db.key_rotation import MaintenanceStore
from recollect.db.transaction import Tx
from recollect.jobs.model import Job, NewJob, QueueState


class JobStore(Protocol):
    """The durable job queue."""

    def insert(self, tx: Tx, job: NewJob) -> None:
        """Queue the job in the transaction that caused it, unless its name is queued already."""

    def insert_and_lock(self, tx: Tx, job: NewJob) -> None:
        """Like `insert`, and lock the job that has the name until the transaction ends.

        So a worker can't clear the name in between and miss this cause: for work that is not
        protected by a lock of its own.
        """

    def claim(
        self, tx: Tx, *, types: Sequence[str], claim_id: str, lease_seconds: int, limit: int
    ) -> list[Job]:
        """Take due jobs; no other worker gets them before the lease ends."""

    def renew(self, tx: Tx, job_id: str, *, claim_id: str, lease_seconds: int) -> bool:
        """Extend the lease. False if another worker has the job now."""

    def finish(self, tx: Tx, job_id: str, *, claim_id: str) -> None:
        """Delete a job that is done, if this claim still holds it."""

    def fail(
        self, tx: Tx, job_id: str, *, claim_id: str, error: str, retry_at: datetime, stuck: bool
    ) -> None:
        """Store the error and when to try again; a `stuck` job is not tried again."""

    def clear_name(self, tx: Tx, job_id: str) -> None:
        """Clear the job's name, so that the next cause queues a new job."""

    def rename(self, tx: Tx, job_id: str, *, type_: str, name: str) -> bool:
        """Set the job's type and name. False, with nothing changed, if another job has the name."""

    def release(self, tx: Tx, job_id: str, *, claim_id: str, retry_at: datetime) -> None:
        """Return an untried job to the queue; the claim does not count as an attempt."""

    def revive_stuck(self, tx: Tx) -> int:
        """Make every stuck job due with new attempts; returns how many there were."""

    def fetch_queue_state(self, tx: Tx, *, types: Sequence[str] | None = None) -> QueueState:
        """How many jobs wait and are stuck, of all types or of some."""

    def fetch_bodies(self, tx: Tx, type_: str) -> list[dict[str, Any]]:
        """The bodies of all jobs of a type, running and stuck ones included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStores:
    """The stores that this package may use. Each higher package adds its own, so that code can only
    reach stores of its own package and of those below."""

    jobs: JobStore
    maintenance: MaintenanceStore
