"""Health of the server: for probes, for operators, and for `recollect doctor`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recollect.db.context import ServiceContext
from recollect.db.engines.base import Engine
from recollect.db.transaction import Tx
from recollect.doctor.store.bundle import DoctorStores
from recollect.doctor.store.encryption import KeySamples
from recollect.embedding.model_files import ADVICE, ModelFault, ModelFiles
from recollect.jobs.model import QueueState
from recollect.kernel import strict_json
from recollect.kernel.clock import to_text
from recollect.observability.metrics import Metrics
from recollect.search.index_form_jobs import INDEX_FORM_REPORT

SECOND_SERVER = "second_server_on_database_file"
SECOND_SERVER_ADVICE = (
    "another server works on this database file: stop one of them, or use PostgreSQL"
)


@dataclass(frozen=True, slots=True)
class Condition:
    """What is wrong although requests are answered: what to do, by the code of each warning."""

    model_fault: ModelFault | None
    second_server: bool

    @property
    def status(self) -> str:
        """`degraded` if searches can't find all that they should."""
        return "degraded" if self.model_fault else "ok"

    @property
    def advice(self) -> dict[str, str]:
        """Two servers on one SQLite file wait for each other's writes, and don't find each other's
        recordings. Without its model a server searches by words only."""
        known = {SECOND_SERVER: SECOND_SERVER_ADVICE} if self.second_server else {}
        return known | ({self.model_fault: ADVICE[self.model_fault]} if self.model_fault else {})

    def to_dict(self) -> dict[str, Any]:
        """For a probe: without warnings only the status."""
        lists = {"warnings": list(self.advice), "advice": list(self.advice.values())}
        return {"status": self.status} | (lists if self.advice else {})


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """Rows by encryption key, a sample of each key's values, what lies plain beside keys, orphaned
    rows, and the state of the job queue. `index_form` is what the job that rewrites the search
    index reported last."""

    rows_by_key: dict[str, dict[str, int]]
    orphans: dict[str, int]
    unknown_keys: list[str]
    queue: QueueState
    samples: KeySamples = field(default_factory=KeySamples)
    plain: Mapping[str, int] = field(default_factory=dict)
    index_form: Mapping[str, Any] | None = None
    model_fault: ModelFault | None = None

    @property
    def problems(self) -> int:
        """How many problems there are; 0 is healthy."""
        unreadable = self.samples.unreadable.total()
        return (
            sum(self.orphans.values())
            + len(self.unknown_keys)
            + self.queue.stuck
            + unreadable
            + bool(self.model_fault)
        )

    def to_dict(self) -> dict[str, Any]:
        """For printing and for JSON."""
        return {
            "problems": self.problems,
            "rows_by_encryption_key": self.rows_by_key,
            "unknown_encryption_keys": self.unknown_keys,
            "encryption_sample": {
                "opened": dict(self.samples.opened),
                "unreadable": dict(self.samples.unreadable),
                "unreadable_values": self.samples.places,
            },
            "plain": dict(self.plain),
            "search_index": self.index_form,
            "orphans": self.orphans,
            "queue": {"depth": self.queue.depth, "stuck": self.queue.stuck},
            "embedding_model": ADVICE[self.model_fault] if self.model_fault else "ok",
        }


class StatusService:
    """Answers health checks. Never writes."""

    def __init__(
        self,
        context: ServiceContext[DoctorStores],
        metrics: Metrics,
        *,
        version: str,
        engine: Engine,
        model_files: ModelFiles | None = None,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._metrics = metrics
        self._version = version
        self._engine = engine
        self._model_files = model_files

    async def ping(self) -> None:
        """Raises Unavailable if the database does not answer."""
        await self._database.read(lambda tx: self._stores.maintenance.fetch_state(tx, "ping"))

    async def condition(self) -> Condition:
        """What is wrong although requests are answered."""
        return Condition(await self._find_model_fault(), self._engine.has_unexpected_servers())

    async def measure_queue(self) -> QueueState:
        """The present state of the queue, which is also written to the metrics."""
        state, progress = await self._database.read(
            lambda tx: (self._stores.jobs.fetch_queue_state(tx), self._stores.search.progress(tx))
        )
        self._metrics.record_pending(progress.pending)
        age = 0.0
        if state.oldest_due_at is not None:
            waited = self._runtime.clock.now() - state.oldest_due_at
            age = max(0.0, waited.total_seconds())
        self._metrics.record_queue(state.depth, age, state.stuck)
        return state

    async def report(self) -> dict[str, Any]:
        """Detailed health, for those with a role."""
        state = await self.measure_queue()
        condition = await self.condition()
        oldest = to_text(state.oldest_due_at) if state.oldest_due_at else None
        return {
            "status": condition.status,
            "version": self._version,
            "database": self._engine.name,
            "encryption": self._runtime.cipher.is_enabled,
            "queue": {"depth": state.depth, "stuck": state.stuck, "oldestDueAt": oldest},
            "warnings": list(condition.advice),
            "advice": list(condition.advice.values()),
        }

    async def examine(self) -> DoctorReport:
        """Count rows per key and rows that break a rule, and open a sample of each key's values.
        Reads every table."""

        def work(tx: Tx) -> DoctorReport:
            maintenance = self._stores.maintenance
            by_key = {name: dict(counts) for name, counts in maintenance.count_by_key(tx).items()}
            form = maintenance.fetch_state(tx, INDEX_FORM_REPORT)
            known = {"plain", *self._runtime.cipher.key_ids()}
            return DoctorReport(
                rows_by_key=by_key,
                orphans=dict(maintenance.count_orphans(tx)),
                unknown_keys=sorted({key for counts in by_key.values() for key in counts} - known),
                queue=self._stores.jobs.fetch_queue_state(tx),
                samples=self._stores.encryption.sample(tx),
                plain=self._stores.encryption.count_plain(tx),
                index_form=None if form is None else strict_json.load(form),
                model_fault=model_fault,
            )

        model_fault = await self._find_model_fault()
        return await self._database.scan(work)

    async def _find_model_fault(self) -> ModelFault | None:
        return await self._model_files.find_fault() if self._model_files else None
