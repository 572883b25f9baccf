"""How much a text looks as if it were written to steer the assistant that will read it.

A score and the kinds of sign, never a part of the text. One strong sign is enough to reach the
threshold of quarantine; weak ones, each with an innocent reading, reach it only several together.
The signs are in `injection_orders.py` and `injection_markers.py`, what is made of a text before in
`injection_views.py`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from recollect.domain.injection_hidden import hidden_weight
from recollect.domain.injection_markers import (
    CALL_SIGNS,
    CLAIM_SIGNS,
    MARKER_SIGNS,
    SPEAKER_SIGNS,
    SPOKEN_SPEAKER_SIGNS,
)
from recollect.domain.injection_orders import ORDER_SIGNS
from recollect.domain.injection_signs import HIDDEN, Signs
from recollect.domain.injection_views import readings


@dataclass(frozen=True, slots=True)
class Suspicion:
    """The score from 0 to 1, and the kinds of sign found, in alphabetical order."""

    score: float
    reasons: tuple[str, ...]


def score(text: str, *, spoken: bool = False) -> Suspicion:
    """The suspicion against a text.

    `spoken` says that the text is a list of messages as it is stored, one line `role: content`
    each: then a user, assistant or tool at the start of a line is no sign, and a system a weak one.
    """
    weights: dict[str, float] = {}
    for reason, weight in _found(text, _OF_MESSAGES if spoken else _OF_TEXT):
        weights[reason] = max(weight, weights.get(reason, 0.0))
    # In a fixed order: floating point products differ by order.
    reasons = tuple(sorted(weights))
    return Suspicion(
        score=round(1.0 - math.prod((1.0 - weights[reason] for reason in reasons), start=1.0), 4),
        reasons=reasons,
    )


def _found(text: str, signs: Signs) -> Iterator[tuple[str, float]]:
    weight = hidden_weight(text)
    if weight:
        yield HIDDEN, weight
    for reading in readings(text):
        yield from ((sign.reason, sign.weight) for sign in signs.found_in(reading))


_ALWAYS = (*ORDER_SIGNS, *CLAIM_SIGNS, *MARKER_SIGNS, *CALL_SIGNS)
_OF_TEXT = Signs((*_ALWAYS, *SPEAKER_SIGNS))
_OF_MESSAGES = Signs((*_ALWAYS, *SPOKEN_SPEAKER_SIGNS))
