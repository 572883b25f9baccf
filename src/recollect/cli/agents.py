"""`recollect agents`: the agents that are registered."""

from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.cli.connection import Target, connect
from recollect.cli.options import Limit, with_groups
from recollect.cli.output import Output, visible, write, write_fields

if TYPE_CHECKING:
    from recollect_client import models

_LIMIT = 20
_PAGE = 200

AgentId = Annotated[str, typer.Argument(metavar="ID", help="The agent.")]

app = typer.Typer(no_args_is_help=True, help="List, show, register and remove agents.")


@app.command("list")
@with_groups
def list_agents(
    target: Target,
    output: Output,
    query: Annotated[str | None, typer.Option(help="A part of an id or a name.")] = None,
    owner: Annotated[str | None, typer.Option(help="Only agents of this user.")] = None,
    limit: Limit = _LIMIT,
) -> None:
    """List agents of your orgs and your own, the newest first."""
    given = {"query": query, "owner_id": owner}
    sent: Any = {name: value for name, value in given.items() if value is not None}
    with connect(target) as session:
        found = session.operations.iterate_list_agents(**sent, limit=min(limit, _PAGE))
        output.table(islice(found, limit), _COLUMNS)


_COLUMNS = {
    "id": lambda agent: agent.id,
    "name": lambda agent: agent.name,
    "owner": lambda agent: agent.owner_id,
    "registered": lambda agent: agent.created_at,
}


@app.command("show")
@with_groups
def show_agent(agent: AgentId, target: Target, output: Output) -> None:
    """Show an agent."""
    with connect(target) as session:
        output.item(session.operations.get_agent(agent), _write_agent)


def _write_agent(agent: "models.Agent") -> None:
    write_fields(
        {
            "id": agent.id,
            "name": agent.name,
            "description": agent.description,
            "owner": agent.owner_id,
            "org": agent.org_id,
            "space mode": agent.space_mode,
            "registered": agent.created_at,
            "by": agent.created_by,
            "metadata": agent.metadata,
        }
    )


@app.command()
@with_groups
def register(
    agent: AgentId,
    target: Target,
    output: Output,
    name: Annotated[str | None, typer.Option(help="A name for people.")] = None,
    description: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    owner: Annotated[
        str | None, typer.Option(help="Who owns it; the agent itself if nobody is said.")
    ] = None,
) -> None:
    """Register an agent."""
    given = {"name": name, "description": description, "owner_id": owner}
    sent: Any = {name: value for name, value in given.items() if value is not None}
    with connect(target, creates=True) as session:
        made = session.operations.register_agent(id=agent, **sent)
    output.item(
        made, lambda _: write(f"Registered {visible(made.id)}, owned by {visible(made.owner_id)}")
    )


@app.command()
@with_groups
def remove(
    agent: AgentId,
    target: Target,
    output: Output,
    memories: Annotated[
        str | None, typer.Option(help="What becomes of its memories: archive or delete.")
    ] = None,
) -> None:
    """Remove an agent. If it has memories, say what becomes of them."""
    sent: Any = {} if memories is None else {"memories": memories}
    with connect(target) as session:
        session.operations.delete_agent(agent, **sent)
    output.report_done("Removed", agent)
