"""Earlier versions of an imported memory. Histories are readable, so a version has to pass the same
checks as the memory itself."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from recollect.domain.memories import Status, Trust
from recollect.domain.portable import LineType
from recollect.domain.portable_members import Values
from recollect.domain.spaces import Space
from recollect.domain.trust import lowest, trust_of
from recollect.errors import RecollectError
from recollect.policy.requesters import Requester
from recollect.ports.memories import Stored
from recollect.services.import_orders import Group, ImportOrder, Line, Refused
from recollect.services.screening import Findings, Screening


def admitted(
    screening: Screening, lines: Sequence[Line], space: Space
) -> tuple[list[Line], list[Refused]]:
    """Split the parts of a memory into those that its space may hold, and refusals."""
    kept: list[Line] = []
    refused: list[Refused] = []
    for line in lines:
        try:
            _admit(screening, line, space)
            kept.append(line)
        except RecollectError as error:
            refused.append(Refused.of(line.number, error))
    return kept, refused


def tagged(group: Group, lines: Iterable[Line]) -> Group:
    """The group whose memory also has the PII tags of its versions: what is in the history is
    stored as long as the memory is, so the same caps must apply."""
    values = group.head.values
    found = {tag for line in lines if line.findings is not None for tag in line.findings.pii}
    tags = tuple(sorted({*values["pii_tags"], *found}))
    return replace(group, head=replace(group.head, values=values | {"pii_tags": tags}))


def strongest(order: ImportOrder, group: Group, findings: Findings) -> Findings:
    """The findings with the highest injection score of the memory and its versions. Versions in an
    admin's import don't count: they were judged on the server that they come from."""
    if order.requester.admin:
        return findings
    behind = (line.findings.suspicion for line in group.behind if line.findings is not None)
    worst = max((findings.suspicion, *behind), key=lambda one: one.score)
    return replace(findings, suspicion=worst)


def brought(order: ImportOrder, lines: Sequence[Line], stored: Stored) -> list[Line]:
    """The parts as the importer may store them. For an admin, all of them unchanged.

    For others: no approvals, and versions name the importer as author, can't quote anybody else
    and get no more trust than the importer's own statement. If the memory is quarantined its
    versions are too, or its history would show the text that was set aside.
    """
    requester = order.requester
    if requester.admin:
        return list(lines)
    mine = (line for line in lines if line.type is not LineType.APPROVAL)
    aside = stored.memory.status is Status.QUARANTINED
    return [replace(line, values=_own(line, requester, aside=aside)) for line in mine]


def _admit(screening: Screening, line: Line, space: Space) -> None:
    if line.findings is not None:
        then = line.values["snapshot"]
        tags = tuple(then["pii_tags"])
        screening.admit(line.findings, space.kind, sensitivity=then["sensitivity"], pii_tags=tags)


def _own(line: Line, requester: Requester, *, aside: bool) -> Values:
    values = line.values | {"by": requester.who}
    if line.type is not LineType.VERSION:
        return values
    status = {"status": Status.QUARANTINED} if aside else {}
    then = values["snapshot"]
    if then is not None:
        said = then["stated_by"] if then["stated_by"] == requester.person_id else None
        then = then | status | {"stated_by": said, "trust": _trust(then, said)}
    return values | status | {"snapshot": then}


def _trust(then: Values, said: str | None) -> Trust:
    return lowest((then["trust"], trust_of(said, then["subjects"])))
