"""Personal data in a text: where it is, how risky it is, and the text without it.

Risks and caps of the ten tags are in `retention.py`. `name`, `health` and `biometric` are not
found here: callers send them, or a configured detector does.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from recollect.domain.pii_addresses import addresses
from recollect.domain.pii_network import emails, ip_addresses
from recollect.domain.pii_numbers import cards, ibans, social_security_numbers
from recollect.domain.pii_phones import phones
from recollect.domain.pii_text import Finding, Span, folded
from recollect.domain.retention import PII_TAGS, TAG_RULES
from recollect.errors import ValidationFailed

__all__ = ["DETECTED", "Finding", "find_pii", "normalise_tags", "redact", "riskiest"]


def find_pii(text: str) -> list[Finding]:
    """What is found, in the order of the text and without overlaps.

    Where two kinds claim the same characters the stricter form wins: the digits of an IBAN are no
    phone number. Places count characters of `text` as it was given.
    """
    view, places = folded(text)
    findings: list[Finding] = []
    for tag, needs, spans in FINDERS:
        if not needs.search(view):
            continue
        taken = list(spans(view))
        findings += (Finding(tag, places[start], places[end - 1] + 1) for start, end in taken)
        view = _blanked(view, taken) if taken else view
    return sorted(findings, key=lambda finding: finding.start)


def redact(text: str, findings: Iterable[Finding]) -> str:
    """The text with `[email]` and so on in place of what was found.

    Findings may overlap, as those of two detectors do: such a stretch becomes one mark, of the
    riskiest tag.
    """
    parts, place = [], 0
    for finding in _stretches(findings):
        parts += [text[place : finding.start], f"[{finding.tag}]"]
        place = finding.end
    return "".join([*parts, text[place:]])


def riskiest(tags: Iterable[str]) -> str | None:
    """The tag of the highest risk, the first by name of several; None without tags."""
    return min(tags, key=lambda tag: (-TAG_RULES[tag].risk, tag), default=None)


def normalise_tags(tags: Iterable[str], field: str = "pii_tags") -> tuple[str, ...]:
    """The tags in lower case, sorted, each once.

    An unknown one is refused with the names of the ten. It is not repeated in the error: what is
    sent in a wrong member may be the data itself.
    """
    named = [tag.strip().lower() for tag in tags]
    for index, tag in enumerate(named):
        if tag not in TAG_RULES:
            raise ValidationFailed.of(
                f"{field}[{index}]", f"unknown tag; must be one of {', '.join(PII_TAGS)}"
            )
    return tuple(sorted(set(named)))


def _blanked(view: str, spans: list[Span]) -> str:
    """The view with what was found overwritten, so that nothing else claims a part of it."""
    parts, place = [], 0
    for start, end in spans:
        parts += [view[place:start], _BLANK * (end - start)]
        place = end
    return "".join([*parts, view[place:]])


def _stretches(findings: Iterable[Finding]) -> Iterator[Finding]:
    current: Finding | None = None
    for finding in sorted(findings, key=lambda found: (found.start, found.end)):
        if current is None or finding.start >= current.end:
            if current:
                yield current
            current = finding
        else:
            tag = riskiest([current.tag, finding.tag]) or current.tag
            current = Finding(tag, current.start, max(current.end, finding.end))
    if current:
        yield current


# No word, no space, no punctuation.
_BLANK = "\x00"


class Finder(NamedTuple):
    """How one kind is found. `needs` is quickly looked for, and in every text that has any."""

    tag: str
    needs: re.Pattern[str]
    spans: Callable[[str], Iterator[Span]]


# The strictest form first.
FINDERS: tuple[Finder, ...] = (
    Finder("financial", re.compile(r"[A-Za-z]{2}\d{2}"), ibans),
    Finder("credit_card", re.compile(r"\d(?:[ -]?\d){12}"), cards),
    Finder("email", re.compile("@"), emails),
    Finder("ip_address", re.compile(r"\d\.\d|:"), ip_addresses),
    Finder("ssn", re.compile(r"\d(?:[ -]?\d){8}"), social_security_numbers),
    Finder("phone", re.compile(r"\d(?:\D{0,4}\d){6}"), phones),
    Finder("address", re.compile(r"\d ?\w?,?\s"), addresses),
)
# The tags that are found in texts; the others are what somebody says of them.
DETECTED = frozenset(finder.tag for finder in FINDERS)
