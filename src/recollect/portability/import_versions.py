"""Earlier versions of an imported memory. Histories are readable, so a version has to pass the same
checks as the memory itself."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from recollect.identity.requester import Requester
from recollect.kernel.errors import RecollectError
from recollect.kernel.space import Space
from recollect.memories.model import MemoryStatus, StoredMemory, TrustLevel
from recollect.memories.trust import derive_trust, lowest_trust
from recollect.memories.write.screen import ScreeningReport, ScreeningService
from recollect.portability.fields import LineValues
from recollect.portability.import_expiry import imported_sensitivity
from recollect.portability.import_model import (
    ImportLine,
    ImportOrder,
    LineGroup,
    RefusedLine,
)
from recollect.portability.lines import LineType


def admit_lines(
    screening: ScreeningService, order: ImportOrder, group: LineGroup, space: Space
) -> tuple[list[ImportLine], list[RefusedLine]]:
    """Split the parts of a memory into those that its space may hold, and refusals."""
    kept: list[ImportLine] = []
    refused: list[RefusedLine] = []
    of_head = {name: group.head.values[name] for name in ("privacy_said", "bare_names")}
    for line in group.behind:
        try:
            _admit_version(screening, line, space, order.requester, of_head)
            kept.append(line)
        except RecollectError as error:
            refused.append(RefusedLine.from_error(line.number, error))
    return kept, refused


def add_pii_tags(group: LineGroup, lines: Iterable[ImportLine]) -> LineGroup:
    """The group whose memory also has the PII tags of its versions: what is in the history is
    stored as long as the memory is, so the same caps must apply."""
    values = group.head.values
    found = {tag for line in lines if line.findings is not None for tag in line.findings.pii}
    tags = tuple(sorted({*values["pii_tags"], *found}))
    return replace(group, head=replace(group.head, values=values | {"pii_tags": tags}))


def strongest_findings(
    order: ImportOrder, group: LineGroup, findings: ScreeningReport
) -> ScreeningReport:
    """The findings with the highest injection score of the memory and its versions. Versions in an
    admin's import don't count: they were judged on the server that they come from."""
    if order.requester.is_admin:
        return findings
    behind = (line.findings.suspicion for line in group.behind if line.findings is not None)
    worst = max((findings.suspicion, *behind), key=lambda one: one.score)
    return replace(findings, suspicion=worst)


def restrict_lines(
    order: ImportOrder, lines: Sequence[ImportLine], stored: StoredMemory
) -> list[ImportLine]:
    """The parts as the importer may store them. For an admin, all of them unchanged.

    For others: no approvals, and versions name the importer as author, can't quote anybody else
    and get no more trust than the importer's own statement. If the memory is quarantined its
    versions are too, or its history would show the text that was set aside.
    """
    requester = order.requester
    if requester.is_admin:
        return list(lines)
    kept = (line for line in lines if line.type is not LineType.APPROVAL)
    aside = stored.memory.status is MemoryStatus.QUARANTINED
    return [replace(line, values=_restrict_values(line, requester, aside=aside)) for line in kept]


def _admit_version(
    screening: ScreeningService,
    line: ImportLine,
    space: Space,
    requester: Requester,
    of_head: LineValues,
) -> None:
    """Raise what a memory of this text would be refused with. `of_head` says of the memory whether
    a subject chose its privacy, and which names are unknown here."""
    if line.findings is None:
        return
    then = line.values["snapshot"]
    tags = tuple(then["pii_tags"])
    floors = line.findings.floors
    sensitivity = imported_sensitivity({**then, **of_head}, floors, space, requester)
    screening.check_allowed(line.findings, space.kind, sensitivity=sensitivity, pii_tags=tags)


def _restrict_values(line: ImportLine, requester: Requester, *, aside: bool) -> LineValues:
    values = line.values | {"by": requester.identity}
    if line.type is not LineType.VERSION:
        return values
    status = {"status": MemoryStatus.QUARANTINED} if aside else {}
    then = values["snapshot"]
    if then is not None:
        stated_by = then["stated_by"] if then["stated_by"] == requester.person_id else None
        then = then | status | {"stated_by": stated_by, "trust": _lowest_trust(then, stated_by)}
    return values | status | {"snapshot": then}


def _lowest_trust(then: LineValues, stated_by: str | None) -> TrustLevel:
    return lowest_trust((then["trust"], derive_trust(stated_by, then["subjects"])))
