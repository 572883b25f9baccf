"""Builds the doctor with all of its checks."""

from dataclasses import dataclass

from recollect.app.reconciling import reconcile_thresholds
from recollect.app.stores import Stores
from recollect.audit.gate import GateService
from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.engines.base import Engine
from recollect.doctor.checks.contents import (
    CriticalPiiCheck,
    IndexRowsCheck,
    SecretsCheck,
    UntaggedPiiCheck,
)
from recollect.doctor.checks.cycles import CycleExaminer
from recollect.doctor.checks.duplicates import DuplicateFolding, EqualTextCheck
from recollect.doctor.checks.expiry import (
    ExpiryCapCheck,
    PolicyMismatchCheck,
    UnknownPolicyCheck,
)
from recollect.doctor.checks.ids import IdExaminer
from recollect.doctor.checks.near_duplicates import NearDuplicateExaminer
from recollect.doctor.checks.order import Examiner
from recollect.doctor.checks.orphans import OrphanChecks
from recollect.doctor.checks.people import PeopleChecks
from recollect.doctor.checks.rows import RowCheck, RowExaminer
from recollect.doctor.checks.secrets import SecretExaminer
from recollect.doctor.repair import MemoryRepairer
from recollect.doctor.service import DoctorService
from recollect.kernel.retention_rules import RetentionRules
from recollect.kernel.runtime import Runtime
from recollect.memories.duplicates.count import RepeatCounter
from recollect.memories.supersede.apply import Superseder
from recollect.memories.write.expiry_calculator import ExpiryCalculator
from recollect.memories.write.screen import ScreeningService
from recollect.memories.write.writer import WriteHooks
from recollect.search.memories.indexing import MemoryIndexer
from recollect.settings import Settings


@dataclass(frozen=True, slots=True)
class DoctorDeps:
    """Collaborators of the checks. `model` is the embedding model, empty for none."""

    audit: MemoryAudit
    hooks: WriteHooks
    rules: RetentionRules
    screening: ScreeningService
    model: str


def build_doctor(
    settings: Settings, engine: Engine, stores: Stores, runtime: Runtime, parts: DoctorDeps
) -> DoctorService:
    """The doctor service. The order of its checks is fixed in `_build_examiners`."""
    strict = settings.admin.require_justification
    return DoctorService(
        engine,
        stores,
        runtime,
        GateService(engine, stores, runtime, require_justification=strict),
        examiners=_build_examiners(settings, engine, stores, runtime, parts),
        model=parts.model,
    )


def _build_examiners(
    settings: Settings, engine: Engine, stores: Stores, runtime: Runtime, parts: DoctorDeps
) -> list[Examiner]:
    """The examiners in the order in which they run and repair. No repair undoes an earlier one:

    1. People: merge chains first, so that all later checks see canonical ids.
    2. Cycles: cutting one makes memories active again, which every later check must see.
    3. Orphaned index rows and edges, memories of unknown agents, duplicates with equal texts.
    4. Near duplicates by vectors, which leave out what 3 has reported.
    5. Secrets outside of memories.
    6. The pass over all memories. Policies come before caps, because removing a policy changes the
       expiry. Personal data is tagged or redacted before the check of open spaces, which
       quarantines what is left. Index words come last, when the texts are final.
    7. Missing vectors and stuck jobs, after everything that writes the index or queues jobs.
    """
    mender = MemoryRepairer(stores, parts.audit, parts.hooks)
    indexer = MemoryIndexer(stores, runtime, vectors=bool(parts.model))
    hanging = OrphanChecks(stores, mender, indexer)
    people = PeopleChecks(stores, runtime, parts.audit, settings.people.auto_merge)
    terms = ExpiryCalculator(parts.rules, settings.retention.profile)
    rows: list[RowCheck] = [
        PolicyMismatchCheck(mender, terms),
        UnknownPolicyCheck(parts.rules),
        ExpiryCapCheck(mender, terms),
        UntaggedPiiCheck(mender, terms),
        CriticalPiiCheck(mender, parts.rules),
        SecretsCheck(),
        IndexRowsCheck(mender),
    ]
    repeating = RepeatCounter(stores, parts.audit, terms)
    superseding = Superseder(stores, parts.audit)
    folding = DuplicateFolding(stores, superseding, repeating, reconcile_thresholds(settings))
    equal = EqualTextCheck(folding)
    return [
        IdExaminer(engine, stores, people.id_checks()),
        CycleExaminer(engine, stores, mender),
        IdExaminer(engine, stores, [*hanging.checks_before_rows(), *equal.id_checks()]),
        NearDuplicateExaminer(engine, folding, equal),
        SecretExaminer(engine, stores),
        RowExaminer(engine, stores, parts.screening, mender, rows),
        IdExaminer(engine, stores, hanging.checks_after_rows()),
    ]
