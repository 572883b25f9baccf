"""Operations, request bodies and resources of agents."""

from dataclasses import replace

from pydantic import Field

from recollect.agents.commands import RegisterAgent, SetAgentOwner, UpdateAgent
from recollect.agents.model import MemoriesOfRemoved
from recollect.agents.service import AgentService
from recollect.http.call import Call, Handler
from recollect.http.examples import AGENT_ID, OTHER_USER_ID, USER_ID
from recollect.http.operation import (
    LIST,
    Operation,
    id_param,
    memory_operation,
)
from recollect.http.params import enum_param, query_param
from recollect.http.resource import (
    InstantText,
    JsonObject,
    OwnerText,
    Resource,
    attribute,
    resource_schemas,
)
from recollect.kernel.ids import AgentId
from recollect.kernel.owner import parse_owner
from recollect.kernel.space import SpaceMode


class AgentResource(Resource):
    """A registered agent."""

    id: str = Field(description="The id of the agent.", examples=[AGENT_ID])
    name: str | None = Field(description="Its name for people.", examples=["Helper"])
    description: str | None = Field(description="What it is for.")
    owner_id: OwnerText = attribute("owner", description="Who owns it.", examples=[USER_ID])
    org_id: str = Field(description="The org that it belongs to.", examples=["default"])
    space_mode: SpaceMode | None = Field(
        description="Whether it has one space or two; null for the server's default."
    )
    created_by: OwnerText = Field(description="Who registered it.", examples=[USER_ID])
    created_at: InstantText = Field(description="When it was registered.")
    updated_at: InstantText = Field(description="When it was last changed.")
    metadata: JsonObject = Field(description="Your own data.", examples=[{}])


RESOURCES = resource_schemas(AgentResource)

_AGENT_PATH = "/v1/agents/{agent_id}"

OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "registerAgent",
        "POST /v1/agents",
        201,
        "Register an agent. Without `owner_id` it owns itself.",
        response="Agent",
        body=RegisterAgent,
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
        body=UpdateAgent,
        answered={"description": "Answers questions about orders."},
    ),
    memory_operation(
        "setAgentOwner",
        f"PUT {_AGENT_PATH}/owner",
        200,
        "Hand an agent to another owner, and with it the agent's private memories.",
        response="Agent",
        body=SetAgentOwner,
        answered={"owner_id": OTHER_USER_ID},
    ),
    memory_operation(
        "deleteAgent",
        f"DELETE {_AGENT_PATH}",
        204,
        "Remove an agent; what becomes of its memories must be said if it has any.",
        query=(
            replace(
                enum_param(
                    "memories",
                    MemoriesOfRemoved,
                    "What becomes of them.",
                    MemoriesOfRemoved.REFUSE,
                ),
                example="archive",
            ),
        ),
        refusals=(409,),
    ),
)


async def register_agent(call: Call) -> str:
    agent = await call.services[AgentService].register(
        call.required_requester, call.body, reserved_id=call.reserved_id
    )
    return AgentResource.render(agent)


async def list_agents(call: Call) -> bytes:
    owner = call.query["owner_id"]
    page = await call.services[AgentService].list(
        call.required_requester,
        query=call.query["query"],
        owner=parse_owner(owner) if owner is not None else None,
        after=call.page.after,
        limit=call.page.size,
    )
    return call.render_page(map(AgentResource.render, page.items), page.next_cursor)


async def get_agent(call: Call) -> str:
    return AgentResource.render(
        await call.services[AgentService].get(call.required_requester, _agent_id(call))
    )


async def update_agent(call: Call) -> str:
    agent = await call.services[AgentService].update(
        call.required_requester, _agent_id(call), call.body
    )
    return AgentResource.render(agent)


async def set_agent_owner(call: Call) -> str:
    agent = await call.services[AgentService].hand_over(
        call.required_requester, _agent_id(call), call.body
    )
    return AgentResource.render(agent)


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
