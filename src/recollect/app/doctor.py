"""Builds the doctor with all of its checks."""

from dataclasses import dataclass

from recollect.app.reconciling import reconcile_thresholds
from recollect.domain.retention import RetentionRules
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services.checks.contents import (
    CriticalPiiCheck,
    IndexRowsCheck,
    SecretsCheck,
    UntaggedPiiCheck,
)
from recollect.services.checks.cycles import CycleExaminer
from recollect.services.checks.hanging import OrphanChecks
from recollect.services.checks.ids import IdExaminer
from recollect.services.checks.keeping import (
    ExpiryCapCheck,
    PolicyMismatchCheck,
    UnknownPolicyCheck,
)
from recollect.services.checks.mending import MemoryRepairer
from recollect.services.checks.near_copies import NearDuplicateExaminer
from recollect.services.checks.order import Examiner
from recollect.services.checks.people import PeopleChecks
from recollect.services.checks.repeats import DuplicateFolding, EqualTextCheck
from recollect.services.checks.rows import RowCheck, RowExaminer
from recollect.services.checks.words import SecretExaminer
from recollect.services.doctor import DoctorService
from recollect.services.gate import GateService
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_indexing import MemoryIndexer
from recollect.services.memory_terms import ExpiryCalculator
from recollect.services.memory_writing import WriteHooks
from recollect.services.repeating import RepeatCounter
from recollect.services.screening import ScreeningService
from recollect.services.superseding import Superseder
from recollect.settings import Settings
from recollect.stores.engines.base import Engine


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
