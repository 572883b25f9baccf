"""Builds the reconciliation jobs."""

from recollect.domain.reconcile import ReconcileThresholds
from recollect.domain.retention import RetentionRules
from recollect.ports.database import Database
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_terms import ExpiryCalculator
from recollect.services.reconcile_jobs import ReconcileJobs
from recollect.services.reconciling import Reconciler
from recollect.services.repeating import RepeatCounter
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
