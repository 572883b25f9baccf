"""A quick check that clears most texts of secrets. Only the others go through the full rules,
which take ten times as long."""

import re

from recollect.screening.secrets.labelled import LABEL_HINTS
from recollect.screening.secrets.patterns import FORM_HINTS


def is_harmless(text: str) -> bool:
    """True for one line of plain ASCII without disguises and without any hint of a secret.

    False means nothing: the full rules must decide. A secret must never pass here, so every rule
    has a hint that each of its matches contains.
    """
    if not _PLAIN_LINE.fullmatch(text) or _SPELLED_OUT.search(text):
        return False
    lower = text.lower()
    return not any(hint in lower for hint in _HINTS) and not _TWO_DOTS.search(text)


_HINTS = (*LABEL_HINTS, *FORM_HINTS)
# Printable ASCII without `%` and backslash: there is nothing to decode.
_PLAIN_LINE = re.compile(r"[ -$&-\[\]-~]*")
_SPELLED_OUT = re.compile(r"(?:^| )\S \S \S(?: |$)")
# The two dots of a JWT.
_TWO_DOTS = re.compile(r"[\w-]\.[\w-]+\.[\w-]")
