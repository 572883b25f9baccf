"""Builds the services of quarantine, rollback, export and import."""

from dataclasses import dataclass

from recollect.domain.retention import RetentionRules
from recollect.ports.database import Database
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services.admin_gate import AdminGate
from recollect.services.export import ExportService
from recollect.services.gate import GateService
from recollect.services.import_links import ImportLinks
from recollect.services.import_memories import MemoryImports
from recollect.services.import_others import OtherImports
from recollect.services.import_places import ImportPlaces
from recollect.services.import_reading import LineReader
from recollect.services.imports import ImportParts, ImportService
from recollect.services.memory_access import MemoryAccess
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_lists import MemoryLists
from recollect.services.memory_terms import Terms
from recollect.services.memory_writing import Hooks
from recollect.services.names import Names
from recollect.services.past import Past
from recollect.services.quarantine import QuarantineService
from recollect.services.rollback import RollbackService
from recollect.services.rollback_plans import RollbackPlans
from recollect.services.rollback_steps import RollbackSteps
from recollect.services.screening import Screening
from recollect.services.sights import Sights
from recollect.services.views import Views
from recollect.settings import Settings


@dataclass(frozen=True, slots=True)
class Governed:
    """What these services share."""

    audit: MemoryAudit
    access: MemoryAccess
    sights: Sights
    views: Views
    hooks: Hooks
    screening: Screening
    rules: RetentionRules
    names: Names


def quarantine(
    settings: Settings, database: Database, stores: Stores, runtime: Runtime, parts: Governed
) -> QuarantineService:
    return QuarantineService(
        database,
        stores,
        runtime,
        parts.audit,
        access=parts.access,
        sights=parts.sights,
        hooks=parts.hooks,
        gate=admin_gate(settings, database, stores, runtime),
    )


def rollbacks(
    settings: Settings, database: Database, stores: Stores, runtime: Runtime, parts: Governed
) -> RollbackService:
    return RollbackService(
        database,
        stores,
        runtime,
        parts.audit,
        plans=RollbackPlans(
            database, stores, access=parts.access, sights=parts.sights, views=parts.views
        ),
        steps=RollbackSteps(stores, parts.hooks, parts.access),
        gate=admin_gate(settings, database, stores, runtime),
    )


def export(
    settings: Settings, database: Database, stores: Stores, runtime: Runtime, parts: Governed
) -> ExportService:
    return ExportService(
        database,
        stores,
        runtime,
        parts.audit,
        sights=parts.sights,
        lists=MemoryLists(stores, Past(stores, parts.views)),
        gate=admin_gate(settings, database, stores, runtime),
    )


def imports(
    settings: Settings, database: Database, stores: Stores, runtime: Runtime, parts: Governed
) -> ImportService:
    places = ImportPlaces(stores, parts.views, settings.spaces.mode)
    access = MemoryAccess(stores, parts.sights, parts.views)
    memories = MemoryImports(
        stores,
        runtime,
        places=places,
        links=ImportLinks(stores, access, parts.sights),
        access=access,
        screening=parts.screening,
        terms=Terms(parts.rules, settings.retention.profile),
        hooks=parts.hooks,
    )
    return ImportService(
        database,
        runtime,
        parts.audit,
        parts=ImportParts(
            LineReader(parts.screening, parts.names), OtherImports(stores, places), memories
        ),
        gate=admin_gate(settings, database, stores, runtime),
    )


def admin_gate(
    settings: Settings, database: Database, stores: Stores, runtime: Runtime
) -> AdminGate:
    """The gate that requires a justification from admins, if `admin.require_justification`."""
    strict = settings.admin.require_justification
    return AdminGate(GateService(database, stores, runtime, require_justification=strict))
