"""Handlers of agents: from parsed requests to services, and results to JSON. REST and gRPC share
them."""

from recollect.api.calls import Call, Handler
from recollect.api.handlers.shapes import instant_text
from recollect.api.memory.agents import AgentPatch, NewAgent, NewOwner
from recollect.domain.agents import AgentId, parse_agent_id, parse_owner
from recollect.domain.jsontext import dump
from recollect.domain.registry import Agent
from recollect.domain.spaces import OrgId
from recollect.services.agents import AgentChange, AgentRegistration


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
    return agent_to_json(await call.services.agents.register(call.required_requester, registration))


async def list_agents(call: Call) -> bytes:
    owner = call.query["owner_id"]
    page = await call.services.agents.list(
        call.required_requester,
        query=call.query["query"],
        owner=parse_owner(owner) if owner is not None else None,
        after=call.page.after,
        limit=call.page.size,
    )
    return call.render_page(map(agent_to_json, page.items), page.next_cursor)


async def get_agent(call: Call) -> str:
    return agent_to_json(await call.services.agents.get(call.required_requester, _agent_id(call)))


async def update_agent(call: Call) -> str:
    body: AgentPatch = call.body
    change = AgentChange({name: getattr(body, name) for name in body.model_fields_set})
    return agent_to_json(
        await call.services.agents.update(call.required_requester, _agent_id(call), change)
    )


async def set_agent_owner(call: Call) -> str:
    body: NewOwner = call.body
    owner = parse_owner(body.owner_id)
    return agent_to_json(
        await call.services.agents.hand_over(call.required_requester, _agent_id(call), owner)
    )


async def delete_agent(call: Call) -> None:
    await call.services.agents.remove(
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
