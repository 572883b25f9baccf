"""Personal data (PII) in a text: finds it, ranks it by risk, and redacts it.

The risks and caps of the ten tags are in `kernel/retention_rules.py`. `name`, `health` and
`biometric` are not detected here: callers send these tags.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from recollect.kernel.errors import ValidationFailed
from recollect.kernel.retention_rules import DEFAULT_TAG_RULES, PII_TAGS
from recollect.screening.pii.network import find_emails, find_ip_addresses
from recollect.screening.pii.numbers import find_cards, find_ibans, find_ssns
from recollect.screening.pii.phones import find_phones
from recollect.screening.pii.postal import find_addresses
from recollect.screening.pii.text import PiiMatch, Span, fold_text

__all__ = ["DETECTED_TAGS", "PiiMatch", "find_pii", "normalise_tags", "redact", "riskiest_tag"]


def find_pii(text: str) -> list[PiiMatch]:
    """All matches, in the order of the text and without overlaps.

    Where two kinds match the same characters the stricter form wins: the digits of an IBAN are no
    phone number. Positions count characters of `text` as it was given.
    """
    # Detectors see a folded copy of the text; `places` maps its characters back to the original.
    # They run from the strictest form to the loosest, and each match is blanked out in the copy
    # before the next detector runs. That is how the stricter one wins.
    view, places = fold_text(text)
    findings: list[PiiMatch] = []
    for tag, needs, spans in DETECTORS:
        if not needs.search(view):
            continue
        taken = list(spans(view))
        findings += (PiiMatch(tag, places[start], places[end - 1] + 1) for start, end in taken)
        view = _blank_out(view, taken) if taken else view
    return sorted(findings, key=lambda finding: finding.start)


def redact(text: str, findings: Iterable[PiiMatch]) -> str:
    """The text with each match replaced by its tag, such as `[email]`.

    Overlapping matches, as from two detectors, become one mark with the riskiest tag.
    """
    parts, place = [], 0
    for finding in _merge_overlaps(findings):
        parts += [text[place : finding.start], f"[{finding.tag}]"]
        place = finding.end
    return "".join([*parts, text[place:]])


def riskiest_tag(tags: Iterable[str]) -> str | None:
    """The tag of the highest risk; of several the first by name; None without tags."""
    return min(tags, key=lambda tag: (-DEFAULT_TAG_RULES[tag].risk, tag), default=None)


def normalise_tags(tags: Iterable[str], field: str = "pii_tags") -> tuple[str, ...]:
    """The tags in lower case, sorted, each once.

    Raises ValidationFailed for an unknown one. The error does not repeat it: a value sent in the
    wrong field may be the personal data itself.
    """
    named = [tag.strip().lower() for tag in tags]
    for index, tag in enumerate(named):
        if tag not in DEFAULT_TAG_RULES:
            raise ValidationFailed.for_field(
                f"{field}[{index}]", f"unknown tag; must be one of {', '.join(PII_TAGS)}"
            )
    return tuple(sorted(set(named)))


def _blank_out(view: str, spans: list[Span]) -> str:
    """The view with the spans overwritten, at the same length, so that nothing else matches."""
    parts, place = [], 0
    for start, end in spans:
        parts += [view[place:start], _BLANK * (end - start)]
        place = end
    return "".join([*parts, view[place:]])


def _merge_overlaps(findings: Iterable[PiiMatch]) -> Iterator[PiiMatch]:
    current: PiiMatch | None = None
    for finding in sorted(findings, key=lambda found: (found.start, found.end)):
        if current is None or finding.start >= current.end:
            if current:
                yield current
            current = finding
        else:
            tag = riskiest_tag([current.tag, finding.tag]) or current.tag
            current = PiiMatch(tag, current.start, max(current.end, finding.end))
    if current:
        yield current


# A character that is neither word, space nor punctuation to any pattern.
_BLANK = "\x00"


class PiiDetector(NamedTuple):
    """Finds one kind of personal data. `needs` is a cheap pattern that every text with such data
    matches; without it `spans` is not run."""

    tag: str
    needs: re.Pattern[str]
    spans: Callable[[str], Iterator[Span]]


# The strictest form first.
DETECTORS: tuple[PiiDetector, ...] = (
    PiiDetector("financial", re.compile(r"[A-Za-z]{2}\d{2}"), find_ibans),
    PiiDetector("credit_card", re.compile(r"\d(?:[ -]?\d){12}"), find_cards),
    PiiDetector("email", re.compile("@"), find_emails),
    PiiDetector("ip_address", re.compile(r"\d\.\d|:"), find_ip_addresses),
    PiiDetector("ssn", re.compile(r"\d(?:[ -]?\d){8}"), find_ssns),
    PiiDetector("phone", re.compile(r"\d(?:\D{0,4}\d){6}"), find_phones),
    PiiDetector("address", re.compile(r"\d"), find_addresses),
)
# The tags that are detected in texts; the others come from callers only.
DETECTED_TAGS = frozenset(finder.tag for finder in DETECTORS)
