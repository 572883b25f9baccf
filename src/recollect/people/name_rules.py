"""Refuses personal data in names of people: a whole org can read names. Data of critical risk is
always refused, other personal data if the PII mode rejects or redacts it in texts."""

from collections.abc import Iterable

from recollect.kernel.errors import InvalidInput
from recollect.kernel.ids import parse_uuid
from recollect.kernel.retention_rules import PiiRisk
from recollect.screening.pii import find_pii
from recollect.screening.rules import ScreeningRules

NAME_HINT = "a name or the id of a person"
RELATIONSHIP_HINT = "a word such as sister"


class PersonNameScreen:
    """Checks names before they are stored. Handles are identifiers and are not checked."""

    def __init__(self, rules: ScreeningRules) -> None:
        self._rules = rules

    def refuse_pii(self, name: str, field: str, *, wanted: str = NAME_HINT) -> None:
        """InvalidInput with code `pii_not_allowed` for personal data of critical risk,
        `pii_refused` for what the mode keeps out. `redact` refuses too: a redacted name would be no
        name."""
        tags = sorted({finding.tag for finding in find_pii(name)})
        # Critical first: that refusal holds in every mode, and its code says so.
        critical = [tag for tag in tags if self._risk(tag) is PiiRisk.CRITICAL]
        if critical:
            raise _pii_error(field, critical, "pii_not_allowed", wanted)
        refused = [tag for tag in tags if self._is_refused(tag)]
        if refused:
            raise _pii_error(field, refused, "pii_refused", wanted)

    def refuse_pii_in_list(self, sent: Iterable[str], field: str) -> None:
        """Check those items that are names; ids of people pass."""
        for place, name in enumerate(sent):
            if parse_uuid(name) is None:
                self.refuse_pii(name, f"{field}[{place}]")

    def _is_refused(self, tag: str) -> bool:
        if self._rules.pii_mode == "reject":
            return self._risk(tag) >= self._rules.reject_min
        return self._rules.pii_mode == "redact"

    def _risk(self, tag: str) -> PiiRisk:
        return self._rules.rules.tags[tag].risk


def _pii_error(field: str, tags: list[str], code: str, wanted: str) -> InvalidInput:
    message = f"{field}: holds personal data; send {wanted} instead"
    error = InvalidInput(message, field=field, code=code)
    error.details = {"message": message, "field": field, "pii_tags": tags}
    return error
