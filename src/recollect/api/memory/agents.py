"""Operations, request bodies and resources of agents."""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from recollect.api.bodies import StrictBody, exact_word
from recollect.api.memory.rows import (
    ID,
    LIST,
    OWNER,
    Id,
    id_param,
    memory_operation,
    nullable_field,
    resource,
)
from recollect.api.operation import Operation
from recollect.api.params import Schema, enum_param, query_param
from recollect.api.resources import INSTANT, OBJECT, TEXT
from recollect.domain.memories import NAME_CHARS_MAX
from recollect.domain.registry import DESCRIPTION_CHARS_MAX, MemoriesOfRemoved
from recollect.domain.spaces import SpaceMode

Name = Annotated[str, Field(min_length=1, max_length=NAME_CHARS_MAX)]
Description = Annotated[str, Field(min_length=1, max_length=DESCRIPTION_CHARS_MAX)]
Mode = Annotated[SpaceMode, exact_word(SpaceMode)]


class NewAgent(StrictBody):
    """An agent to register; without an id one is made from its name."""

    id: Id | None = None
    name: Name | None = None
    description: Description | None = None
    owner_id: Id | None = None
    org_id: Id | None = None
    space_mode: Mode | None = None
    metadata: dict[str, Any] | None = None


class AgentPatch(StrictBody):
    """What changes of an agent; null clears."""

    nullable: ClassVar[frozenset[str]] = frozenset({"name", "description", "space_mode"})
    name: Name | None = None
    description: Description | None = None
    space_mode: Mode | None = None
    metadata: dict[str, Any] | None = None


class NewOwner(StrictBody):
    """Who shall own the agent."""

    owner_id: Id


RESOURCES: dict[str, Schema] = {
    "Agent": resource(
        {
            "id": ID,
            "name": nullable_field(TEXT),
            "description": nullable_field(TEXT),
            "owner_id": OWNER,
            "org_id": TEXT,
            "space_mode": nullable_field(
                {"type": "string", "enum": [str(mode) for mode in SpaceMode]}
            ),
            "created_by": OWNER,
            "created_at": INSTANT,
            "updated_at": INSTANT,
            "metadata": OBJECT,
        }
    )
}

_AGENT_PATH = "/v1/agents/{agent_id}"

OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "registerAgent",
        "POST /v1/agents",
        201,
        "Register an agent. Without `owner_id` it owns itself.",
        response="Agent",
        body=NewAgent,
        refusals=(409,),
    ),
    memory_operation(
        "listAgents",
        "GET /v1/agents",
        200,
        "List the agents of the caller's orgs and those that the caller owns: the newest first, or "
        "by match with `query`.",
        response="Agent",
        query=(
            query_param("Words of the id, name or description."),
            id_param("owner_id", "Only agents of this owner."),
        ),
        paging=LIST,
    ),
    memory_operation("getAgent", f"GET {_AGENT_PATH}", 200, "Get an agent.", response="Agent"),
    memory_operation(
        "updateAgent",
        f"PATCH {_AGENT_PATH}",
        200,
        "Change an agent. Needs its owner or an admin; its creator may too while it owns itself. "
        "A change of the mode moves no memory.",
        response="Agent",
        body=AgentPatch,
    ),
    memory_operation(
        "setAgentOwner",
        f"PUT {_AGENT_PATH}/owner",
        200,
        "Hand an agent to another owner, and with it the agent's private memories.",
        response="Agent",
        body=NewOwner,
    ),
    memory_operation(
        "deleteAgent",
        f"DELETE {_AGENT_PATH}",
        204,
        "Remove an agent; what becomes of its memories must be said if it has any.",
        query=(
            enum_param(
                "memories",
                MemoriesOfRemoved,
                "What becomes of them.",
                MemoriesOfRemoved.REFUSE,
            ),
        ),
        refusals=(409,),
    ),
)
