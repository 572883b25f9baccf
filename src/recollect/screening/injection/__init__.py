"""Prompt injection: scores how much a text looks written to steer the assistant that reads it.

The result is a score and the kinds of sign found, never a part of the text. One strong sign reaches
the default threshold of quarantine. A weak one also has innocent readings, so it takes several.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from recollect.screening.injection.hidden import hidden_weight
from recollect.screening.injection.signs import (
    HIDDEN,
    STRONG,
    message_signs,
    reason_and_weight,
    text_signs,
)
from recollect.screening.injection.views import encoded_readings, readings

# How a text is screened, in three steps:
# 1. `readings` gives the text in several forms: as it is, with escapes and entities decoded, with
#    letter-by-letter spelling closed up, with digits read as letters. A sign in any of them counts,
#    so a disguise does not help. `encoded_readings` gives what is hidden in base64 and hex.
# 2. Every reading is reduced to a skeleton (lower case, no accents, Latin look-alikes, single
#    spaces), and the signs are written for that skeleton. So a sign needs no variants.
# 3. Signs are looked for at literal anchors first (`str.find`), and only there by a pattern whose
#    gaps are bounded. So the time is linear in the text, and few patterns are ever compiled.

ENCODED = "encoded_order"

# Kinds of sign by which a text speaks as the system, or forges what surrounds it.
_AUTHORITY = frozenset({"system_claim", "role_marker", "context_end"})


@dataclass(frozen=True, slots=True)
class InjectionScore:
    """A score from 0 to 1, and the kinds of sign found, in alphabetical order."""

    score: float
    reasons: tuple[str, ...]

    @property
    def claims_authority(self) -> bool:
        """Does the text pass itself off as the system?"""
        return not _AUTHORITY.isdisjoint(self.reasons)


def score_injection(text: str, *, spoken: bool = False) -> InjectionScore:
    """Score a text.

    `spoken` means that the text is a rendered list of messages, one line `role: content` each.
    Then `user:`, `assistant:` or `tool:` at the start of a line is no sign, and `system:` a weak
    one.
    """
    # Of each kind only the strongest sign counts: ten orders are no more suspicious than one. The
    # kinds are combined as if they were independent probabilities: 1 - (1-a)(1-b)….
    weights: dict[str, float] = {}
    for reason, weight in _find_signs(text, spoken=spoken):
        weights[reason] = max(weight, weights.get(reason, 0.0))
    # Sorted, because a floating-point product depends on the order of its factors.
    reasons = tuple(sorted(weights))
    return InjectionScore(
        score=round(1.0 - math.prod((1.0 - weights[reason] for reason in reasons), start=1.0), 4),
        reasons=reasons,
    )


def _find_signs(text: str, *, spoken: bool) -> Iterator[tuple[str, float]]:
    weight = hidden_weight(text)
    if weight:
        yield HIDDEN, weight
    signs = message_signs() if spoken else text_signs()
    for reading in readings(text):
        yield from (reason_and_weight(found.phrase) for found in signs.find_in(reading))
    # Nobody encodes an order for a good reason, so that even a weak sign in there is a strong one.
    for reading in encoded_readings(text):
        for found in text_signs().find_in(reading):
            yield ENCODED, STRONG
            yield reason_and_weight(found.phrase)
