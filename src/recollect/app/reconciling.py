"""Builds the reconciliation jobs."""

from recollect.app.stores import Stores
from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.transaction import Database
from recollect.kernel.retention_rules import RetentionRules
from recollect.kernel.runtime import Runtime
from recollect.memories.duplicates.count import RepeatCounter
from recollect.memories.reconcile.jobs import ReconcileJobs
from recollect.memories.reconcile.rules import ReconcileThresholds
from recollect.memories.reconcile.service import Reconciler
from recollect.memories.write.expiry_calculator import ExpiryCalculator
from recollect.settings import Settings


def build_reconcile_jobs(
    settings: Settings,
    database: Database,
    stores: Stores,
    runtime: Runtime,
    *,
    rules: RetentionRules,
    model: str,
) -> ReconcileJobs:
    """The jobs for a server that embeds with `model`; an empty name means that it does not
    embed."""
    audit = MemoryAudit(database, stores, runtime, rules)
    reconciler = Reconciler(
        stores,
        audit,
        repeating=RepeatCounter(stores, audit, ExpiryCalculator(rules, settings.retention.profile)),
        settings=reconcile_thresholds(settings),
    )
    neighbours = settings.reconcile.neighbours
    return ReconcileJobs(database, stores, runtime, reconciler, model=model, neighbours=neighbours)


def reconcile_thresholds(settings: Settings) -> ReconcileThresholds:
    """The similarity thresholds of the settings."""
    chosen = settings.reconcile
    return ReconcileThresholds(
        duplicate_min=chosen.duplicate_min,
        supersede_min=chosen.supersede_min,
        unsure_min=chosen.unsure_min,
        hearsay_min=chosen.hearsay_min,
        neighbours=chosen.neighbours,
    )
