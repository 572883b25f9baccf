"""Registered agents: owner, org and the layout of their spaces; and the ranking of agents for a
query."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.kernel.errors import Conflict
from recollect.kernel.ids import AgentId, OrgId
from recollect.kernel.owner import Owner
from recollect.kernel.space import SpaceMode
from recollect.kernel.validation import check_metadata, check_name
from recollect.text.tokens import tokens

DESCRIPTION_CHARS_MAX = 10_000
# One matching word is worth more than all places of a query of usual length together.
_PER_WORD = 1_000
# Id, name, description. A prefix counts one less than a whole word.
_WEIGHTS = (6, 4, 2)


class MemoriesOfRemoved(StrEnum):
    """What happens to the memories of an agent that is removed."""

    REFUSE = "refuse"
    ARCHIVE = "archive"
    DELETE = "delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """A registered agent. `space_mode` None means the server's default.

    `removed_at` marks an agent that was removed but whose id stays taken, because archived memories
    or other agents still refer to it.
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
        return self.owner == Owner.agent(self.id)


def check_agent(name: str | None, description: str | None, metadata: dict[str, Any]) -> None:
    """Check the free texts of a registration."""
    if name is not None:
        check_name(name, "name")
    if description is not None:
        check_name(description, "description", chars_max=DESCRIPTION_CHARS_MAX)
    check_metadata(metadata)


def match_rank(agent: Agent, words: Sequence[str]) -> int:
    """How well an agent matches the words of a query; 0 is no match.

    The number of matching words counts first. Among agents with equally many, a match in the id
    counts more than one in the name, and that more than one in the description; a whole word counts
    more than a prefix.
    """
    places = [set(tokens(text or "")) for text in (agent.id, agent.name, agent.description)]
    worths = [_word_weight(word, places) for word in set(words)]
    return sum(_PER_WORD + worth for worth in worths if worth)


def _word_weight(word: str, places: Sequence[set[str]]) -> int:
    for weight, place in zip(_WEIGHTS, places, strict=True):
        if word in place:
            return weight
        if any(token.startswith(word) for token in place):
            return weight - 1
    return 0


def id_taken_error() -> Conflict:
    """The error for an id that another agent has, also a removed one."""
    return Conflict("the id is taken", details={"reason": "id_taken"})
