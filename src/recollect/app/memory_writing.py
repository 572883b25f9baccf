"""Builds the services that write memories."""

from dataclasses import dataclass

from recollect.app.stores import Stores
from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.engines.base import Engine
from recollect.kernel.retention_rules import PiiRisk, RetentionRules
from recollect.kernel.runtime import Runtime
from recollect.memories.service import MemoryService, MemoryServiceDeps
from recollect.memories.supersede.explicit import ExplicitSupersession
from recollect.memories.write.batch import BatchService
from recollect.memories.write.changes import MemoryChanges
from recollect.memories.write.expiry_calculator import ExpiryCalculator
from recollect.memories.write.hooks import RunEntering
from recollect.memories.write.move import MemoryMoves
from recollect.memories.write.screen import ScreeningService
from recollect.memories.write.target_space import (
    TargetSpaceResolver,
    TargetSpaceSettings,
)
from recollect.memories.write.writer import MemoryWriter, WriteHooks
from recollect.memories.write_access import MemoryWriteAccess
from recollect.screening.rules import ScreeningRules
from recollect.settings import Settings


@dataclass(frozen=True, slots=True)
class MemoryWriteServices:
    """The services that write, and their parts, with which others write in a transaction."""

    memories: MemoryService
    batches: BatchService
    parts: MemoryServiceDeps


@dataclass(frozen=True, slots=True)
class WriteDeps:
    """What the writing services depend on."""

    audit: MemoryAudit
    access: MemoryWriteAccess
    rules: RetentionRules
    runs: RunEntering
    hooks: WriteHooks


def build_write_services(
    settings: Settings, engine: Engine, stores: Stores, runtime: Runtime, around: WriteDeps
) -> MemoryWriteServices:
    parts = build_service_deps(settings, stores, runtime, around)
    memories = MemoryService(engine, stores, runtime, around.audit, parts=parts)
    batches = BatchService(engine, runtime, around.audit, memories=memories, parts=parts)
    return MemoryWriteServices(memories, batches, parts)


def build_service_deps(
    settings: Settings, stores: Stores, runtime: Runtime, around: WriteDeps
) -> MemoryServiceDeps:
    """The parts that run inside a transaction."""
    audit, access, rules, hooks = around.audit, around.access, around.rules, around.hooks
    terms = ExpiryCalculator(rules, settings.retention.profile)
    screening = ScreeningService(screening_rules(settings, rules))
    writer = MemoryWriter(
        stores,
        runtime,
        audit,
        places=TargetSpaceResolver(
            stores,
            audit,
            runs=around.runs,
            people=hooks.people,
            settings=TargetSpaceSettings(settings.spaces.mode, settings.agents.auto_register),
        ),
        screening=screening,
        succession=ExplicitSupersession(stores, audit, access),
        terms=terms,
        hooks=hooks,
    )
    changes = MemoryChanges(
        stores, audit, access=access, screening=screening, terms=terms, hooks=hooks
    )
    moves = MemoryMoves(audit, changes, writer=writer, screening=screening, rules=rules)
    return MemoryServiceDeps(rules, screening, writer, changes, moves)


def screening_rules(settings: Settings, rules: RetentionRules) -> ScreeningRules:
    """The rules of screening, from the settings and the PII tags of the retention file."""
    return ScreeningRules(
        rules,
        pii_mode=settings.pii.mode,
        reject_min=PiiRisk[settings.pii.reject_min_risk.upper()],
        quarantine_min=settings.quarantine.threshold,
    )
