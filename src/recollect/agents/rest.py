"""Operations, request bodies and resources of agents."""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from recollect.agents.model import DESCRIPTION_CHARS_MAX, Agent, MemoriesOfRemoved
from recollect.agents.service import AgentChange, AgentRegistration, AgentService
from recollect.http.bodies import StrictBody, exact_word
from recollect.http.call import Call, Handler
from recollect.http.operation import (
    ID,
    LIST,
    OWNER,
    Id,
    Operation,
    id_param,
    memory_operation,
    nullable_field,
    resource,
)
from recollect.http.params import Schema, enum_param, query_param
from recollect.http.render import instant_text
from recollect.http.schemas import INSTANT, OBJECT, TEXT
from recollect.kernel.ids import AgentId, OrgId
from recollect.kernel.owner import parse_agent_id, parse_owner
from recollect.kernel.space import SpaceMode
from recollect.kernel.strict_json import dump
from recollect.kernel.validation import NAME_CHARS_MAX

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


def agent_to_json(agent: Agent) -> str:
    return dump(
        {
            "id": agent.id,
            "name": agent.name,
            "description": agent.description,
            "owner_id": agent.owner.spelling,
            "org_id": agent.org_id,
            "space_mode": agent.space_mode,
            "created_by": agent.created_by.spelling,
            "created_at": instant_text(agent.created_at),
            "updated_at": instant_text(agent.updated_at),
            "metadata": agent.metadata,
        }
    )


async def register_agent(call: Call) -> str:
    body: NewAgent = call.body
    registration = AgentRegistration(
        id=parse_agent_id(body.id) if body.id is not None else None,
        name=body.name,
        description=body.description,
        owner=parse_owner(body.owner_id) if body.owner_id is not None else None,
        org_id=OrgId(body.org_id) if body.org_id is not None else None,
        space_mode=body.space_mode,
        metadata=body.metadata or {},
        reserved_id=call.reserved_id,
    )
    return agent_to_json(
        await call.services[AgentService].register(call.required_requester, registration)
    )


async def list_agents(call: Call) -> bytes:
    owner = call.query["owner_id"]
    page = await call.services[AgentService].list(
        call.required_requester,
        query=call.query["query"],
        owner=parse_owner(owner) if owner is not None else None,
        after=call.page.after,
        limit=call.page.size,
    )
    return call.render_page(map(agent_to_json, page.items), page.next_cursor)


async def get_agent(call: Call) -> str:
    return agent_to_json(
        await call.services[AgentService].get(call.required_requester, _agent_id(call))
    )


async def update_agent(call: Call) -> str:
    body: AgentPatch = call.body
    change = AgentChange({name: getattr(body, name) for name in body.model_fields_set})
    return agent_to_json(
        await call.services[AgentService].update(call.required_requester, _agent_id(call), change)
    )


async def set_agent_owner(call: Call) -> str:
    body: NewOwner = call.body
    owner = parse_owner(body.owner_id)
    return agent_to_json(
        await call.services[AgentService].hand_over(call.required_requester, _agent_id(call), owner)
    )


async def delete_agent(call: Call) -> None:
    await call.services[AgentService].remove(
        call.required_requester, _agent_id(call), memories=call.query["memories"]
    )


def _agent_id(call: Call) -> AgentId:
    return AgentId(call.path["agent_id"])


HANDLERS: dict[str, Handler] = {
    "registerAgent": register_agent,
    "listAgents": list_agents,
    "getAgent": get_agent,
    "updateAgent": update_agent,
    "setAgentOwner": set_agent_owner,
    "deleteAgent": delete_agent,
}
