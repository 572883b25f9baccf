"""Builds the services that write memories."""

from dataclasses import dataclass

from recollect.domain.retention import RetentionRules, Risk
from recollect.ports.memory_hooks import RunEntering
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services.memories import MemoryParts, MemoryService
from recollect.services.memory_access import MemoryAccess
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_batches import BatchService
from recollect.services.memory_changes import MemoryChanges
from recollect.services.memory_moves import MemoryMoves
from recollect.services.memory_places import MemoryPlaces, PlaceSettings
from recollect.services.memory_succession import Succession
from recollect.services.memory_terms import Terms
from recollect.services.memory_writing import Hooks, MemoryWriter
from recollect.services.screening import Screening, ScreeningRules
from recollect.settings import Settings
from recollect.stores.engines.base import Engine


@dataclass(frozen=True, slots=True)
class Writing:
    """The services that write, and their parts, with which others write in a transaction."""

    memories: MemoryService
    batches: BatchService
    parts: MemoryParts


@dataclass(frozen=True, slots=True)
class Around:
    """What the writing services depend on."""

    audit: MemoryAudit
    access: MemoryAccess
    rules: RetentionRules
    runs: RunEntering
    hooks: Hooks


def memory_writing(
    settings: Settings, engine: Engine, stores: Stores, runtime: Runtime, around: Around
) -> Writing:
    parts = memory_parts(settings, stores, runtime, around)
    memories = MemoryService(engine, stores, runtime, around.audit, parts=parts)
    batches = BatchService(engine, runtime, around.audit, memories=memories, parts=parts)
    return Writing(memories, batches, parts)


def memory_parts(
    settings: Settings, stores: Stores, runtime: Runtime, around: Around
) -> MemoryParts:
    """The parts that run inside a transaction."""
    audit, access, rules, hooks = around.audit, around.access, around.rules, around.hooks
    terms = Terms(rules, settings.retention.profile)
    screening = Screening(screening_rules(settings, rules))
    writer = MemoryWriter(
        stores,
        runtime,
        audit,
        places=MemoryPlaces(
            stores,
            audit,
            runs=around.runs,
            people=hooks.people,
            settings=PlaceSettings(settings.spaces.mode, settings.agents.auto_register),
        ),
        screening=screening,
        succession=Succession(stores, audit, access),
        terms=terms,
        hooks=hooks,
    )
    changes = MemoryChanges(
        stores, audit, access=access, screening=screening, terms=terms, hooks=hooks
    )
    moves = MemoryMoves(audit, changes, writer=writer, screening=screening, rules=rules)
    return MemoryParts(rules, screening, writer, changes, moves)


def screening_rules(settings: Settings, rules: RetentionRules) -> ScreeningRules:
    """The rules of screening, from the settings and the PII tags of the retention file."""
    return ScreeningRules(
        rules,
        pii_mode=settings.pii.mode,
        reject_min=Risk[settings.pii.reject_min_risk.upper()],
        quarantine_min=settings.quarantine.threshold,
    )
