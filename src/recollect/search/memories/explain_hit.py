"""What a memory search reports about each hit: the stages that found it, and one sentence that says
why.

The sentence contains words of the query and names that the caller may see, and no other stored
text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

_WORDS_SHOWN_MAX = 5


class FindingStage(StrEnum):
    """What found a hit."""

    FULLTEXT = "fulltext"
    VECTOR = "vector"
    PERSON = "person"
    GRAPH = "graph"
    TIME = "time"
    RECENCY = "recency"


class MemorySearchComponent(StrEnum):
    """A component of a search that may fail while the others still answer. `vectors_pending`: some
    memories have no vector yet and were searched by their words alone."""

    EMBEDDING = "embedding"
    VECTORS = "vectors"
    VECTORS_PENDING = "vectors_pending"
    FULLTEXT = "fulltext"
    GRAPH = "graph"
    RERANK = "rerank"


@dataclass(frozen=True, slots=True)
class HitReasons:
    """Why a memory was found: the query's words that it contains, the people in the query that it
    is about, and when it was observed."""

    stages: Sequence[FindingStage]
    words: Sequence[str]
    people: Sequence[str]
    said_on: date


def explain_hit(reasons: HitReasons) -> str:
    """The reasons as one sentence; empty without stages."""
    clauses = [_stage_clause(stage, reasons) for stage in reasons.stages]
    sentence = "; ".join(clauses)
    return f"{sentence[:1].upper()}{sentence[1:]}." if sentence else ""


def _stage_clause(stage: FindingStage, reasons: HitReasons) -> str:
    match stage:
        case FindingStage.FULLTEXT:
            words = list(dict.fromkeys(reasons.words))[:_WORDS_SHOWN_MAX]
            return f"matches the {'word' if len(words) == 1 else 'words'} {', '.join(words)}"
        case FindingStage.VECTOR:
            return "is close in meaning"
        case FindingStage.PERSON:
            return f"is about {', '.join(dict.fromkeys(reasons.people))}"
        case FindingStage.GRAPH:
            return "is tied to what is asked about"
        case FindingStage.TIME:
            return f"belongs to the time asked about (said in {reasons.said_on:%B %Y})"
        case FindingStage.RECENCY:
            return "is among the latest"
