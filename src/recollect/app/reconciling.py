"""Builds the reconciliation jobs."""

from recollect.domain.reconcile import ReconcileSettings
from recollect.domain.retention import RetentionRules
from recollect.ports.database import Database
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_terms import Terms
from recollect.services.reconcile_jobs import ReconcileJobs
from recollect.services.reconciling import Reconciler
from recollect.services.repeating import Repeating
from recollect.settings import Settings


def reconcile_jobs(
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
        repeating=Repeating(stores, audit, Terms(rules, settings.retention.profile)),
        settings=reconcile_settings(settings),
    )
    neighbours = settings.reconcile.neighbours
    return ReconcileJobs(database, stores, runtime, reconciler, model=model, neighbours=neighbours)


def reconcile_settings(settings: Settings) -> ReconcileSettings:
    """The similarity thresholds of the settings."""
    chosen = settings.reconcile
    return ReconcileSettings(
        duplicate_min=chosen.duplicate_min,
        supersede_min=chosen.supersede_min,
        unsure_min=chosen.unsure_min,
        hearsay_min=chosen.hearsay_min,
        neighbours=chosen.neighbours,
    )
