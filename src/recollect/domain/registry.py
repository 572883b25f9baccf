"""A registered agent: who owns it, where it belongs, and how its spaces are laid out."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.domain.agents import AgentId, Owner
from recollect.domain.memory_checks import check_metadata, check_name
from recollect.domain.spaces import OrgId, SpaceMode
from recollect.errors import Conflict

DESCRIPTION_CHARS_MAX = 10_000


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


def check_agent(name: str | None, description: str | None, metadata: dict[str, Any]) -> None:
    """The free texts of a registration."""
    if name is not None:
        check_name(name, "name")
    if description is not None:
        check_name(description, "description", chars_max=DESCRIPTION_CHARS_MAX)
    check_metadata(metadata)


def id_taken() -> Conflict:
    """Somebody else has the id, now or in archived memories."""
    return Conflict("the id is taken", details={"reason": "id_taken"})
