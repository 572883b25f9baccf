"""Builds the doctor with all of its checks."""

from dataclasses import dataclass

from recollect.app.reconciling import reconcile_settings
from recollect.domain.retention import RetentionRules
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services.checks.contents import (
    CriticalInPublic,
    IndexRows,
    Secrets,
    UntaggedPii,
)
from recollect.services.checks.cycles import SupersessionCycles
from recollect.services.checks.hanging import HangingChecks
from recollect.services.checks.ids import IdChecks
from recollect.services.checks.keeping import ExpiryOverCap, PolicyMismatch, VanishedPolicy
from recollect.services.checks.mending import Mender
from recollect.services.checks.near_copies import NearCopies
from recollect.services.checks.order import Examiner
from recollect.services.checks.people import PeopleChecks
from recollect.services.checks.repeats import EqualTexts, Folding
from recollect.services.checks.rows import RowCheck, RowChecks
from recollect.services.checks.words import SecretWords
from recollect.services.doctor import DoctorService
from recollect.services.gate import GateService
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_indexing import MemoryIndexer
from recollect.services.memory_terms import Terms
from recollect.services.memory_writing import Hooks
from recollect.services.repeating import Repeating
from recollect.services.screening import Screening
from recollect.services.superseding import Superseding
from recollect.settings import Settings
from recollect.stores.engines.base import Engine


@dataclass(frozen=True, slots=True)
class Examined:
    """Collaborators of the checks. `model` is the embedding model, empty for none."""

    audit: MemoryAudit
    hooks: Hooks
    rules: RetentionRules
    screening: Screening
    model: str


def doctor(
    settings: Settings, engine: Engine, stores: Stores, runtime: Runtime, parts: Examined
) -> DoctorService:
    """The doctor service. The order of its checks is fixed in `_build_examiners`."""
    strict = settings.admin.require_justification
    return DoctorService(
        engine,
        stores,
        runtime,
        GateService(engine, stores, runtime, require_justification=strict),
        examiners=_examiners(settings, engine, stores, runtime, parts),
        model=parts.model,
    )


def _examiners(
    settings: Settings, engine: Engine, stores: Stores, runtime: Runtime, parts: Examined
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
    mender = Mender(stores, parts.audit, parts.hooks)
    indexer = MemoryIndexer(stores, runtime, vectors=bool(parts.model))
    hanging = HangingChecks(stores, mender, indexer)
    people = PeopleChecks(stores, runtime, parts.audit, settings.people.auto_merge)
    terms = Terms(parts.rules, settings.retention.profile)
    rows: list[RowCheck] = [
        PolicyMismatch(mender, terms),
        VanishedPolicy(parts.rules),
        ExpiryOverCap(mender, terms),
        UntaggedPii(mender, terms),
        CriticalInPublic(mender, parts.rules),
        Secrets(),
        IndexRows(mender),
    ]
    repeating = Repeating(stores, parts.audit, terms)
    superseding = Superseding(stores, parts.audit)
    folding = Folding(stores, superseding, repeating, reconcile_settings(settings))
    equal = EqualTexts(folding)
    return [
        IdChecks(engine, stores, people.all()),
        SupersessionCycles(engine, stores, mender),
        IdChecks(engine, stores, [*hanging.before_rows(), *equal.all()]),
        NearCopies(engine, folding, equal),
        SecretWords(engine, stores),
        RowChecks(engine, stores, parts.screening, mender, rows),
        IdChecks(engine, stores, hanging.behind_rows()),
    ]
