"""Builds the services of quarantine, rollback, export and import."""

from dataclasses import dataclass

from recollect.app.stores import Stores
from recollect.audit.gate import AdminGate, GateService
from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.transaction import Database
from recollect.kernel.retention_rules import RetentionRules
from recollect.kernel.runtime import Runtime
from recollect.memories.read.history import VersionHistory
from recollect.memories.read.listing import MemoryLister
from recollect.memories.write.expiry_calculator import ExpiryCalculator
from recollect.memories.write.screen import ScreeningService
from recollect.memories.write.writer import WriteHooks
from recollect.memories.write_access import MemoryWriteAccess
from recollect.people.name_rules import PersonNameScreen
from recollect.portability.export_service import ExportService
from recollect.portability.import_links import ImportLinks
from recollect.portability.import_memories import MemoryImporter
from recollect.portability.import_others import OtherImporter
from recollect.portability.import_reader import LineReader
from recollect.portability.import_service import ImportParts, ImportService
from recollect.portability.import_targets import ImportTargets
from recollect.retention.quarantine import QuarantineService
from recollect.rollback.plan import RollbackPlanner
from recollect.rollback.service import RollbackService
from recollect.rollback.steps import RollbackSteps
from recollect.settings import Settings
from recollect.visibility.facts import VisibilityFacts
from recollect.visibility.viewers import ViewerFactory


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
