"""The services of those who look after spaces: quarantine, rollbacks, export and import."""

from dataclasses import dataclass

from recollect.ports.database import Database
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services.admin_gate import AdminGate
from recollect.services.gate import GateService
from recollect.services.memory_access import MemoryAccess
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_writing import Hooks
from recollect.services.quarantine import QuarantineService
from recollect.services.rollback import RollbackService
from recollect.services.rollback_plans import RollbackPlans
from recollect.services.rollback_steps import RollbackSteps
from recollect.services.sights import Sights
from recollect.services.views import Views
from recollect.settings import Settings


@dataclass(frozen=True, slots=True)
class Governed:
    """What these services lean on."""

    audit: MemoryAudit
    access: MemoryAccess
    sights: Sights
    views: Views
    hooks: Hooks


def quarantine(
    settings: Settings, database: Database, stores: Stores, runtime: Runtime, parts: Governed
) -> QuarantineService:
    """Lists, releases, rejects."""
    return QuarantineService(
        database,
        stores,
        runtime,
        parts.audit,
        access=parts.access,
        sights=parts.sights,
        hooks=parts.hooks,
        gate=_gate(settings, database, stores, runtime),
    )


def rollbacks(
    settings: Settings, database: Database, stores: Stores, runtime: Runtime, parts: Governed
) -> RollbackService:
    """Rolls back, and undoes it."""
    return RollbackService(
        database,
        stores,
        runtime,
        parts.audit,
        plans=RollbackPlans(database, stores, sights=parts.sights, views=parts.views),
        steps=RollbackSteps(stores, parts.hooks, parts.views),
        gate=_gate(settings, database, stores, runtime),
    )


def _gate(settings: Settings, database: Database, stores: Stores, runtime: Runtime) -> AdminGate:
    strict = settings.admin.require_justification
    return AdminGate(GateService(database, stores, runtime, require_justification=strict))
