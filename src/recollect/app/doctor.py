"""Builds the doctor with all of its checks."""

from recollect.app.context import AppContext
from recollect.app.memories import reconcile_thresholds
from recollect.doctor.checks.contents import (
    CriticalPiiCheck,
    IndexRowsCheck,
    OpenSpaceContentCheck,
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
from recollect.memories.duplicates.count import RepeatCounter
from recollect.memories.supersede.apply import Superseder


def build_doctor(context: AppContext) -> DoctorService:
    """The doctor service. The order of its checks is fixed in `_build_examiners`."""
    return DoctorService(
        context,
        context.gate,
        examiners=_build_examiners(context),
        model=context.embedding.memory_model,
    )


def _build_examiners(context: AppContext) -> list[Examiner]:
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
    stores, audit, rules, expiry = context.stores, context.audit, context.rules, context.expiry
    repairer = MemoryRepairer(stores, audit, context.hooks)
    orphans = OrphanChecks(stores, repairer, context.memory_indexer)
    people = PeopleChecks(stores, context.runtime, audit, context.settings.people.auto_merge)
    rows: list[RowCheck] = [
        PolicyMismatchCheck(repairer, expiry),
        UnknownPolicyCheck(rules),
        ExpiryCapCheck(repairer, expiry),
        UntaggedPiiCheck(repairer, expiry),
        CriticalPiiCheck(repairer, rules),
        OpenSpaceContentCheck(rules),
        SecretsCheck(),
        IndexRowsCheck(repairer),
    ]
    folding = DuplicateFolding(
        stores,
        Superseder(stores, audit),
        RepeatCounter(stores, audit, expiry),
        reconcile_thresholds(context.settings),
    )
    equal = EqualTextCheck(folding)
    return [
        IdExaminer(context, people.id_checks()),
        CycleExaminer(context, repairer),
        IdExaminer(context, [*orphans.checks_before_rows(), *equal.id_checks()]),
        NearDuplicateExaminer(context.database, folding, equal),
        SecretExaminer(context),
        RowExaminer(context, context.screening, repairer, rows),
        IdExaminer(context, orphans.checks_after_rows()),
    ]
