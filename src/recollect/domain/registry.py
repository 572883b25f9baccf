"""A registered agent: who owns it, where it belongs, and how its spaces are laid out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.domain.agents import AgentId, Owner
from recollect.domain.memory_checks import check_metadata, check_name
from recollect.domain.spaces import OrgId, SpaceMode
from recollect.domain.words import tokens
from recollect.errors import Conflict

DESCRIPTION_CHARS_MAX = 10_000
_PER_WORD = 1_000
_WEIGHTS = (6, 4, 2)


class MemoriesOfRemoved(StrEnum):
    """What becomes of the memories of an agent that is removed."""

    REFUSE = "refuse"
    ARCHIVE = "archive"
    DELETE = "delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """A registered agent. `space_mode` None follows the server's.

    `removed_at` marks one that is gone but whose id stays taken by archived memories.
    """

    id: AgentId
    name: str | None
    description: str | None
    owner: Owner
    org_id: OrgId
    space_mode: SpaceMode | None
    created_by: Owner
    created_at: datetime
    updated_at: datetime
    metadata: dict[str, Any] = field(default_factory=dict)
    removed_at: datetime | None = None

    @property
    def owns_itself(self) -> bool:
        """Nobody else is its owner."""
        return self.owner == Owner.agent(self.id)


def check_agent(name: str | None, description: str | None, metadata: dict[str, Any]) -> None:
    """The free texts of a registration."""
    if name is not None:
        check_name(name, "name")
    if description is not None:
        check_name(description, "description", chars_max=DESCRIPTION_CHARS_MAX)
    check_metadata(metadata)


def match_rank(agent: Agent, words: Sequence[str]) -> int:
    """How well the words of a query fit an agent: 0 is not at all.

    One more word found outweighs the place where words are found; among the places the id counts
    most, then the name, then the description. A whole word beats a beginning.
    """
    places = [set(tokens(text or "")) for text in (agent.id, agent.name, agent.description)]
    worths = [_worth(word, places) for word in set(words)]
    return sum(_PER_WORD + worth for worth in worths if worth)


def _worth(word: str, places: Sequence[set[str]]) -> int:
    for weight, place in zip(_WEIGHTS, places, strict=True):
        if word in place:
            return weight
        if any(token.startswith(word) for token in place):
            return weight - 1
    return 0


def id_taken() -> Conflict:
    """Somebody else has the id, now or in archived memories."""
    return Conflict("the id is taken", details={"reason": "id_taken"})
