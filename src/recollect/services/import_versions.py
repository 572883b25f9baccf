"""Earlier versions of an imported memory: held to what the memory itself is held to."""

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
    """The lines that the memory's space takes, and those that it doesn't."""
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
    """With the tags of the personal data in earlier versions: it lives as long as the memory."""
    values = group.head.values
    found = {tag for line in lines if line.findings is not None for tag in line.findings.pii}
    tags = tuple(sorted({*values["pii_tags"], *found}))
    return replace(group, head=replace(group.head, values=values | {"pii_tags": tags}))


def strongest(order: ImportOrder, group: Group, findings: Findings) -> Findings:
    """With the strongest suspicion against any text of the memory. Earlier versions that an admin
    brings were judged where they come from."""
    if order.requester.admin:
        return findings
    behind = (line.findings.suspicion for line in group.behind if line.findings is not None)
    worst = max((findings.suspicion, *behind), key=lambda one: one.score)
    return replace(findings, suspicion=worst)


def brought(order: ImportOrder, lines: Sequence[Line], stored: Stored) -> list[Line]:
    """The lines as the importer may bring them behind this row. Others than admins bring no
    approvals, changed what they bring themselves, and know no more than they could say. Of a row
    that is set aside no version was ever read."""
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
