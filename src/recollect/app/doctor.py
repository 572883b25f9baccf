"""The doctor, with the checks that this server can make."""

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
    """What the checks lean on. `model` is that of the vectors, empty for none."""

    audit: MemoryAudit
    hooks: Hooks
    rules: RetentionRules
    screening: Screening
    model: str


def doctor(
    settings: Settings, engine: Engine, stores: Stores, runtime: Runtime, parts: Examined
) -> DoctorService:
    """All checks, in the order in which one's repairs don't undo another's."""
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
