"""Handlers of agents: from parsed requests to services, and results to JSON. REST and gRPC share
them."""

from recollect.api.calls import Call, Handler
from recollect.api.handlers.shapes import instant
from recollect.api.memory.agents import AgentPatch, NewAgent, NewOwner
from recollect.domain.agents import AgentId, parse_agent_id, parse_owner
from recollect.domain.jsontext import dump
from recollect.domain.registry import Agent
from recollect.domain.spaces import OrgId
from recollect.services.agents import AgentChange, Registration


def to_agent(agent: Agent) -> str:
    return dump(
        {
            "id": agent.id,
            "name": agent.name,
            "description": agent.description,
            "owner_id": agent.owner.spelling,
            "org_id": agent.org_id,
            "space_mode": agent.space_mode,
            "created_by": agent.created_by.spelling,
            "created_at": instant(agent.created_at),
            "updated_at": instant(agent.updated_at),
            "metadata": agent.metadata,
        }
    )


async def register_agent(call: Call) -> str:
    body: NewAgent = call.body
    registration = Registration(
        id=parse_agent_id(body.id) if body.id is not None else None,
        name=body.name,
        description=body.description,
        owner=parse_owner(body.owner_id) if body.owner_id is not None else None,
        org_id=OrgId(body.org_id) if body.org_id is not None else None,
        space_mode=body.space_mode,
        metadata=body.metadata or {},
        reserved_id=call.reserved_id,
    )
    return to_agent(await call.services.agents.register(call.asker, registration))


async def list_agents(call: Call) -> bytes:
    owner = call.query["owner_id"]
    page = await call.services.agents.list(
        call.asker,
        query=call.query["query"],
        owner=parse_owner(owner) if owner is not None else None,
        after=call.page.after,
        limit=call.page.size,
    )
    return call.to_page(map(to_agent, page.items), page.next_cursor)


async def get_agent(call: Call) -> str:
    return to_agent(await call.services.agents.get(call.asker, _agent_of(call)))


async def update_agent(call: Call) -> str:
    body: AgentPatch = call.body
    change = AgentChange({name: getattr(body, name) for name in body.model_fields_set})
    return to_agent(await call.services.agents.update(call.asker, _agent_of(call), change))


async def set_agent_owner(call: Call) -> str:
    body: NewOwner = call.body
    owner = parse_owner(body.owner_id)
    return to_agent(await call.services.agents.hand_over(call.asker, _agent_of(call), owner))


async def delete_agent(call: Call) -> None:
    await call.services.agents.remove(call.asker, _agent_of(call), memories=call.query["memories"])


def _agent_of(call: Call) -> AgentId:
    return AgentId(call.path["agent_id"])


HANDLERS: dict[str, Handler] = {
    "registerAgent": register_agent,
    "listAgents": list_agents,
    "getAgent": get_agent,
    "updateAgent": update_agent,
    "setAgentOwner": set_agent_owner,
    "deleteAgent": delete_agent,
}
