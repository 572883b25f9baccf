"""The doctor: consistency checks over all stored memories, people and jobs, and their repair.

Checks read in pages beside live traffic and change nothing unless `repair` is asked for. A report
holds ids, never content.
"""

from collections.abc import Sequence

from recollect.audit.event_recorder import AuditName, EventRecorder
from recollect.audit.gate import GateService
from recollect.audit.model import EventKind
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.doctor.checks.order import DoctorOrder, Examiner, merge_by_check
from recollect.doctor.commands import ExamineMemories
from recollect.doctor.model import Diagnosis, DoctorCheck
from recollect.doctor.rows import CheckContext
from recollect.doctor.store.bundle import DoctorStores
from recollect.identity.actions import Action
from recollect.identity.requester import Requester
from recollect.kernel.errors import ValidationFailed

_AUDIT_ACTION = "doctor"


class DoctorService:
    """Runs the examiners. An auditor may check, only an admin may repair."""

    def __init__(
        self,
        context: ServiceContext[DoctorStores],
        gate: GateService,
        *,
        examiners: Sequence[Examiner],
        model: str,
    ) -> None:
        self._database = context.database
        self._runtime = context.runtime
        self._gate = gate
        self._auditor = EventRecorder(context.stores, context.runtime)
        self._examiners = examiners
        self._model = model

    async def examine(self, requester: Requester | None, command: ExamineMemories) -> Diagnosis:
        """Run the checks and return their results in the order of `DoctorCheck`.

        Forbidden if somebody other than an admin asks for repair; ValidationFailed for
        `with_model`, because no check uses a model yet. `requester` None is the operator at the
        command line, who needs no role; then the examination itself is not audited, only the
        repairs are. The examiners run one after the other in the order they were built in (see
        `_build_examiners`), and each sees what the repairs of earlier ones changed.
        """
        if requester is not None:
            await self._admit(requester, command)
        if command.with_model:
            message = "no model is set up for checks; leave it out"
            raise ValidationFailed.for_field("with_model", message)
        checks = frozenset(DoctorCheck) if command.checks is None else frozenset(command.checks)
        context = CheckContext(self._runtime.clock.now(), self._model)
        order = DoctorOrder(checks, command.repair, context, requester)
        tallies = merge_by_check(
            [tally for one in self._examiners for tally in await one.examine(order)]
        )
        diagnosis = Diagnosis(
            tuple(tallies[check].result for check in DoctorCheck if check in tallies)
        )
        if requester is not None and command.repair:
            await self._database.write(
                lambda tx: self._record_event(tx, requester, command, diagnosis)
            )
        return diagnosis

    async def _admit(self, requester: Requester, command: ExamineMemories) -> None:
        """A check without repair is audited here, before it runs. A repair is only admitted here
        and audited at its end, with the counts of what it repaired."""
        if command.repair:
            await self._gate.admit(
                requester.principal,
                Action.ADMIN_WRITE,
                audit=AuditName(EventKind.ADMIN_WRITE, _AUDIT_ACTION),
                conversation_id=None,
                justification=command.justification,
            )
        else:
            await self._database.write(lambda tx: self._record_event(tx, requester, command, None))

    def _record_event(
        self, tx: Tx, requester: Requester, command: ExamineMemories, done: Diagnosis | None
    ) -> None:
        kind = EventKind.ADMIN_READ if done is None else EventKind.ADMIN_WRITE
        params: dict[str, int] = {"repair": command.repair}
        if done is not None:
            params |= {str(one.check): one.repaired for one in done.results if one.repaired}
        self._auditor.record_admin(
            tx,
            requester.principal,
            AuditName(kind, _AUDIT_ACTION),
            params=params,
            count=None if done is None else done.repaired,
            justification=command.justification,
        )
