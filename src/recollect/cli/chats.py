"""`recollect chats`: places where people talk, with ids of outside systems, and who takes part."""

from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.cli.connection import Target, connect
from recollect.cli.options import Limit, with_groups
from recollect.cli.output import (
    Output,
    to_json,
    visible,
    write,
    write_fields,
    write_json,
    write_table,
)

if TYPE_CHECKING:
    from recollect_client import models

_LIMIT = 20
_PAGE = 200

ChatId = Annotated[str, typer.Argument(metavar="CHAT", help="The chat.")]
MemberId = Annotated[str, typer.Argument(metavar="MEMBER", help="A user, person or agent.")]
Kind = Annotated[str, typer.Option(help="user, person or agent.")]

app = typer.Typer(no_args_is_help=True, help="List, show and create chats; who takes part.")


@app.command("list")
@with_groups
def list_chats(target: Target, output: Output, limit: Limit = _LIMIT) -> None:
    """List the chats where you take part, conversations among them, the newest first."""
    with connect(target) as session:
        found = session.operations.iterate_list_chats(limit=min(limit, _PAGE))
        output.table(islice(found, limit), _COLUMNS)


_COLUMNS = {
    "id": lambda chat: chat.id,
    "kind": lambda chat: chat.kind,
    "title": lambda chat: chat.title,
    "created": lambda chat: chat.created_at,
}


@app.command("show")
@with_groups
def show_chat(chat: ChatId, target: Target, output: Output) -> None:
    """Show a chat and who takes part in it."""
    with connect(target) as session:
        found = session.operations.get_chat(chat)
        people = list(session.operations.iterate_list_participants(chat))
    if output.as_json:
        write_json(to_json(found) | {"participants": [to_json(one) for one in people]})
        return
    output.item(found, _write_chat)
    if not output.quiet:
        write("")
        write_table(people, _PARTICIPANT_COLUMNS)


def _write_chat(chat: "models.Chat") -> None:
    write_fields(
        {
            "id": chat.id,
            "kind": chat.kind,
            "title": chat.title,
            "provider": chat.provider,
            "conversation": chat.tree,
            "created": chat.created_at,
            "by": chat.created_by,
        }
    )


_PARTICIPANT_COLUMNS = {
    "participant": lambda one: one.user_id or one.agent_id or one.person_id,
    "kind": lambda one: "user" if one.user_id else "agent" if one.agent_id else "person",
    "joined": lambda one: one.joined_at,
    "left": lambda one: one.left_at,
}


@app.command()
@with_groups
def create(
    chat: ChatId,
    target: Target,
    output: Output,
    private: Annotated[
        bool, typer.Option("--private", help="With one human; otherwise it is a group.")
    ] = False,
    title: Annotated[str | None, typer.Option(help="Its title.")] = None,
) -> None:
    """Create a chat, or change its title."""
    sent: Any = {} if title is None else {"title": title}
    kind = "private" if private else "group"
    with connect(target, creates=True) as session:
        made = session.operations.put_chat(chat, kind=kind, **sent)
    output.item(made, lambda _: write(f"Chat {visible(made.id)} is there: {made.kind}"))


@app.command()
@with_groups
def add(
    chat: ChatId, member: MemberId, target: Target, output: Output, kind: Kind = "user"
) -> None:
    """Add somebody to a chat."""
    with connect(target) as session:
        session.operations.put_participant(chat, member, kind=kind)
    output.report_done("Added", member)


@app.command()
@with_groups
def remove(
    chat: ChatId, member: MemberId, target: Target, output: Output, kind: Kind = "user"
) -> None:
    """End somebody's part in a chat."""
    with connect(target) as session:
        session.operations.delete_participant(chat, member, kind=kind)
    output.report_done("Removed", member)
