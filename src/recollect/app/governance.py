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
from recollect.services.import_memories import MemoryImporter
from recollect.services.import_others import OtherImporter
from recollect.services.import_places import ImportTargets
from recollect.services.import_reading import LineReader
from recollect.services.imports import ImportParts, ImportService
from recollect.services.memory_access import MemoryWriteAccess
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_lists import MemoryLister
from recollect.services.memory_terms import ExpiryCalculator
from recollect.services.memory_writing import WriteHooks
from recollect.services.names import PersonNameScreen
from recollect.services.past import VersionHistory
from recollect.services.quarantine import QuarantineService
from recollect.services.rollback import RollbackService
from recollect.services.rollback_plans import RollbackPlanner
from recollect.services.rollback_steps import RollbackSteps
from recollect.services.screening import ScreeningService
from recollect.services.sights import ViewerFactory
from recollect.services.views import VisibilityFacts
from recollect.settings import Settings


@dataclass(frozen=True, slots=True)
class ModerationDeps:
    """What these services share."""

    audit: MemoryAudit
    access: MemoryWriteAccess
    sights: ViewerFactory
    views: VisibilityFacts
    hooks: WriteHooks
    screening: ScreeningService
    rules: RetentionRules
    names: PersonNameScreen


def build_quarantine(
    settings: Settings, database: Database, stores: Stores, runtime: Runtime, parts: ModerationDeps
) -> QuarantineService:
    return QuarantineService(
        database,
        stores,
        runtime,
        parts.audit,
        access=parts.access,
        sights=parts.sights,
        hooks=parts.hooks,
        gate=build_admin_gate(settings, database, stores, runtime),
    )


def build_rollbacks(
    settings: Settings, database: Database, stores: Stores, runtime: Runtime, parts: ModerationDeps
) -> RollbackService:
    return RollbackService(
        database,
        stores,
        runtime,
        parts.audit,
        plans=RollbackPlanner(
            database, stores, access=parts.access, sights=parts.sights, views=parts.views
        ),
        steps=RollbackSteps(stores, parts.hooks, parts.access),
        gate=build_admin_gate(settings, database, stores, runtime),
    )


def build_export(
    settings: Settings, database: Database, stores: Stores, runtime: Runtime, parts: ModerationDeps
) -> ExportService:
    return ExportService(
        database,
        stores,
        runtime,
        parts.audit,
        sights=parts.sights,
        lists=MemoryLister(stores, VersionHistory(stores, parts.views)),
        gate=build_admin_gate(settings, database, stores, runtime),
    )


def build_imports(
    settings: Settings, database: Database, stores: Stores, runtime: Runtime, parts: ModerationDeps
) -> ImportService:
    places = ImportTargets(stores, parts.views, settings.spaces.mode)
    access = MemoryWriteAccess(stores, parts.sights, parts.views)
    memories = MemoryImporter(
        stores,
        runtime,
        places=places,
        links=ImportLinks(stores, access, parts.sights),
        access=access,
        screening=parts.screening,
        terms=ExpiryCalculator(parts.rules, settings.retention.profile),
        hooks=parts.hooks,
    )
    return ImportService(
        database,
        runtime,
        parts.audit,
        parts=ImportParts(
            LineReader(parts.screening, parts.names), OtherImporter(stores, places), memories
        ),
        gate=build_admin_gate(settings, database, stores, runtime),
    )


def build_admin_gate(
    settings: Settings, database: Database, stores: Stores, runtime: Runtime
) -> AdminGate:
    """The gate that requires a justification from admins, if `admin.require_justification`."""
    strict = settings.admin.require_justification
    return AdminGate(GateService(database, stores, runtime, require_justification=strict))
