"""`recollect memories`: look at memories one by one, and move them."""

from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.cli.connection import Target, connect
from recollect.cli.memory_verbs import SPACE_COLUMN, space_name
from recollect.cli.options import Limit, with_groups
from recollect.cli.output import Output, visible, write, write_fields
from recollect.cli.places import Everywhere, Place, Which

if TYPE_CHECKING:
    from recollect_client import models

_LIMIT = 20
_PAGE = 200

MemoryId = Annotated[str, typer.Argument(metavar="ID", help="The memory.")]
ChatId = Annotated[str | None, typer.Option("--chat", metavar="ID", help="Asked in this chat.")]
Instant = Annotated[str | None, typer.Option("--as-of", help="As it was at this instant.")]

app = typer.Typer(no_args_is_help=True, help="List, show, explain and move memories.")


@app.command("list")
@with_groups
def list_memories(
    target: Target,
    output: Output,
    place: Place,
    which: Which,
    everywhere: Everywhere = False,
    status: Annotated[
        str | None, typer.Option(help="active, superseded, archived or expired.")
    ] = None,
    limit: Limit = _LIMIT,
) -> None:
    """List memories, the newest first."""
    sent = which.filters() | ({} if status is None else {"status": status})
    with connect(target) as session:
        where = place.list_filters(session) | ({"spaces": ["all"]} if everywhere else {})
        found = session.operations.iterate_list_memories(**where, **sent, limit=min(limit, _PAGE))
        columns = _COLUMNS | (SPACE_COLUMN if everywhere or place.chat else {})
        output.table(islice(found, limit), columns)


_COLUMNS = {
    "id": lambda memory: memory.id,
    "memory": lambda memory: memory.content,
    "written": lambda memory: memory.created_at.astimezone().date(),
}


@app.command("show")
@with_groups
def show_memory(
    memory_id: MemoryId,
    target: Target,
    output: Output,
    chat: ChatId = None,
    as_of: Instant = None,
) -> None:
    """Show a memory with all that is known about it."""
    given = {"chat_id": chat, "as_of": as_of}
    sent: Any = {name: value for name, value in given.items() if value is not None}
    with connect(target) as session:
        output.item(session.operations.get_memory(memory_id, **sent), _write_memory)


def _write_memory(memory: "models.Memory") -> None:
    write(visible(memory.content))
    write("")
    write_fields(
        {
            "id": memory.id,
            "space": space_name(memory.space),
            "type": memory.type,
            "status": memory.status,
            "key": memory.key,
            "sensitivity": memory.sensitivity,
            "trust": memory.trust,
            "said by": memory.stated_by,
            "about": memory.subjects,
            "tags": memory.tags,
            "personal data": memory.pii_tags,
            "learned in": memory.learned_in,
            "written": memory.created_at,
            "changed": None if memory.version == 1 else memory.updated_at,
            "version": memory.version,
            "expires": memory.expires_at,
            "valid from": memory.valid_from,
            "valid until": memory.valid_until,
            "replaced by": memory.superseded_by,
            "replaces": memory.supersedes,
            "conflicts with": memory.conflicts_with,
            "sources": [*memory.source_entries, *memory.source_memories],
            "metadata": memory.metadata,
        }
    )


@app.command()
@with_groups
def history(memory_id: MemoryId, target: Target, output: Output) -> None:
    """List all versions of a memory and of those that it replaced, the newest first."""
    with connect(target) as session:
        versions = session.operations.iterate_get_history(memory_id)
        output.table(versions, _HISTORY_COLUMNS, id_name="memory_id")


_HISTORY_COLUMNS = {
    "at": lambda item: item.at,
    "change": lambda item: item.change,
    "version": lambda item: item.version,
    "by": lambda item: item.by,
    "memory": lambda item: item.content,
    "id": lambda item: item.memory_id,
}


@app.command()
@with_groups
def explain(memory_id: MemoryId, target: Target, output: Output, chat: ChatId = None) -> None:
    """Say why you see a memory: the rule, its sources, what it replaced."""
    sent: Any = {} if chat is None else {"chat_id": chat}
    with connect(target) as session:
        found = session.operations.explain_memory(memory_id, **sent)
    output.item(found, _write_explanation, id_name="memory_id")


def _write_explanation(found: "models.Explanation") -> None:
    write_fields(
        {
            "shown": found.allowed,
            "rule": found.rule,
            "asked in": found.context,
            "space": space_name(found.space),
            "you are": found.relations,
            "origin": found.origin,
            "trust": found.trust,
            "portable": found.portable,
            "expires": found.expires_at or "never",
            "because of": found.expiry_rule,
            "sources": [f"{source.kind} {source.id}" for source in found.sources],
            "succession": [f"{link.relation} {link.id}" for link in found.supersession],
        }
    )


@app.command()
@with_groups
def move(memory_id: MemoryId, target: Target, output: Output, place: Place) -> None:
    """Move a memory to your own space, or to that of an agent or a chat. It gets a new id."""
    with connect(target) as session:
        done = session.operations.move_memory(memory_id, space=place.move_target(session))
        title = place.title(session)
    output.item(done, lambda _: write(f"Moved to {visible(title)} as {done.id}"))
