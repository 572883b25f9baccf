"""A quick word on most texts: that they hold no secret. Only what it does not clear is looked at
by the rules themselves, which takes ten times as long."""

import re

from recollect.domain.secret_labels import LABEL_HINTS
from recollect.domain.secret_patterns import FORM_HINTS


def is_harmless(text: str) -> bool:
    """True of one line of plain characters without a disguise and without any sign of a secret.
    False says nothing."""
    if not _PLAIN_LINE.fullmatch(text) or _SPELLED_OUT.search(text):
        return False
    lower = text.lower()
    return not any(hint in lower for hint in _HINTS) and not _TWO_DOTS.search(text)


_HINTS = (*LABEL_HINTS, *FORM_HINTS)
# Neither `%` nor a backslash: nothing to decode.
_PLAIN_LINE = re.compile(r"[ -$&-\[\]-~]*")
_SPELLED_OUT = re.compile(r"(?:^| )\S \S \S(?: |$)")
# Of a token of three parts.
_TWO_DOTS = re.compile(r"[\w-]\.[\w-]+\.[\w-]")
