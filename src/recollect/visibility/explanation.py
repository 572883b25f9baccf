"""Why a memory is or is not visible to a caller."""

from dataclasses import dataclass

from recollect.memories.model import Memory
from recollect.visibility.disclosure import AskerRelation


@dataclass(frozen=True, slots=True)
class VisibilityExplanation:
    """The decision about one memory. Of `memory` only expiry and sources may be shown, never the
    text. `score` is the memory's score for a query."""

    memory: Memory
    allowed: bool
    rule: str
    context: str
    relations: tuple[AskerRelation, ...]
    score: float | None = None
