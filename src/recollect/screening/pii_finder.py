"""Redacts personal data in the texts, messages, tags and JSON values of a memory."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from recollect.memories.model import MemoryMessage
from recollect.screening.pii import find_pii, redact

# No card, account or phone number has more digits.
_NUMBER_MAX = 10**40


class PiiRedactor:
    """Redacts the parts of one memory, one after the other. `fields` maps each tag found to the
    field where it was found first."""

    def __init__(self) -> None:
        self.fields: dict[str, str] = {}

    def redact_text(self, text: str, field: str) -> str:
        """The text with a mark, such as `[email]`, in place of each match."""
        findings = find_pii(text)
        for finding in findings:
            self.fields.setdefault(finding.tag, field)
        return redact(text, findings) if findings else text

    def redact_message(self, index: int, message: MemoryMessage) -> MemoryMessage:
        """The message with content and name redacted; its `user_id` stays."""
        content = self.redact_text(message.content, f"messages[{index}].content")
        name = message.name and self.redact_text(message.name, f"messages[{index}].name")
        return replace(message, content=content, name=name)

    def redact_tags(self, tags: Iterable[str]) -> tuple[str, ...]:
        """The redacted tags, each once: two may have become the same."""
        clean = (self.redact_text(tag, f"tags[{index}]") for index, tag in enumerate(tags))
        return tuple(dict.fromkeys(clean))

    def redact_json(self, value: Any, field: str) -> Any:
        """The redacted JSON value; a number that is a card number becomes a text."""
        if isinstance(value, dict):
            return self._redact_object(value, field)
        if isinstance(value, list):
            return [self.redact_json(item, field) for item in value]
        if isinstance(value, str):
            return self.redact_text(value, field)
        return self._redact_number(value, field)

    def _redact_object(self, members: dict[str, Any], field: str) -> dict[str, Any]:
        """Redact names and values of an object. Where two names became the same, the later ones
        get a number, so that no field is lost."""
        clean: dict[str, Any] = {}
        times: Counter[str] = Counter()
        for name, value in members.items():
            # A redacted name may also equal a name that comes later and is left as it is.
            unique = mark = self.redact_text(name, field)
            while unique in clean or (unique != name and unique in members):
                times[mark] += 1
                unique = f"{mark} {times[mark] + 1}"
            clean[unique] = self.redact_json(value, field)
        return clean

    def _redact_number(self, value: Any, field: str) -> Any:
        if not _is_whole_number(value):
            return value
        text = str(int(value))
        clean = self.redact_text(text, field)
        return value if clean == text else clean


def _is_whole_number(value: Any) -> bool:
    """Is it a whole number of a plausible size? `4.0` is one too."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < _NUMBER_MAX and value == int(value)
