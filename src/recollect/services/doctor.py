"""The doctor: looks through everything that the memory family stores, and mends what it can.

Reads in pages beside live traffic, changes nothing unless told to. What it reports are ids.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from recollect.domain.doctor import Check, Diagnosis
from recollect.domain.events import EventKind
from recollect.errors import ValidationFailed
from recollect.policy.actions import Action
from recollect.policy.requesters import Requester
from recollect.ports.database import Database, Tx
from recollect.ports.doctor import Looking
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services.audit import AuditName, Auditor
from recollect.services.checks.order import Examiner, Order, by_check
from recollect.services.gate import GateService

_NAME = "doctor"


@dataclass(frozen=True, slots=True)
class Examination:
    """What to look at, all if nothing is said, and whether to mend it."""

    checks: Collection[Check] | None = None
    repair: bool = False
    justification: str | None = None
    with_model: bool = False


class DoctorService:
    """Checks and repairs. An auditor may look, an admin may mend too."""

    def __init__(
        self,
        database: Database,
        stores: Stores,
        runtime: Runtime,
        gate: GateService,
        *,
        examiners: Sequence[Examiner],
        model: str,
    ) -> None:
        self._database = database
        self._runtime = runtime
        self._gate = gate
        self._auditor = Auditor(stores, runtime)
        self._examiners = examiners
        self._model = model

    async def examine(self, requester: Requester | None, asked: Examination) -> Diagnosis:
        """Every check that was asked for, in the order of the report. Forbidden if somebody wants
        to mend who is no admin, ValidationFailed if a model is to be asked: there is none yet.
        Without a requester it is the operator at the machine."""
        if requester is not None:
            await self._admit(requester, asked)
        if asked.with_model:
            message = "no model is set up that checks could ask; leave it out"
            raise ValidationFailed.of("with_model", message)
        checks = frozenset(Check) if asked.checks is None else frozenset(asked.checks)
        looking = Looking(self._runtime.clock.now(), self._model)
        order = Order(checks, asked.repair, looking, requester)
        tallies = by_check([tally for one in self._examiners for tally in await one.examine(order)])
        diagnosis = Diagnosis(tuple(tallies[check].result for check in Check if check in tallies))
        if requester is not None and asked.repair:
            await self._database.write(lambda tx: self._record(tx, requester, asked, diagnosis))
        return diagnosis

    async def _admit(self, requester: Requester, asked: Examination) -> None:
        """A look is written down before it is answered, a mend with what was mended."""
        if asked.repair:
            await self._gate.admit(
                requester.principal,
                Action.ADMIN_WRITE,
                audit=AuditName(EventKind.ADMIN_WRITE, _NAME),
                conversation_id=None,
                justification=asked.justification,
            )
        else:
            await self._database.write(lambda tx: self._record(tx, requester, asked, None))

    def _record(
        self, tx: Tx, requester: Requester, asked: Examination, done: Diagnosis | None
    ) -> None:
        kind = EventKind.ADMIN_READ if done is None else EventKind.ADMIN_WRITE
        params: dict[str, int] = {"repair": asked.repair}
        if done is not None:
            params |= {str(one.check): one.repaired for one in done.results if one.repaired}
        self._auditor.record_admin(
            tx,
            requester.principal,
            AuditName(kind, _NAME),
            params=params,
            count=None if done is None else done.repaired,
            justification=asked.justification,
        )
